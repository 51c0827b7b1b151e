// A run that stands on a table: each input of the system has a column of its name, each tick a row.
// An input with several places has as many columns, x0, x1 and so on, or x[0], x[1].
#include "bytes/bytes.h"
#include "time/sim.h"

static bool read_table(Sim *m, Csv *out) {
  const char *error = NULL;
  View view;
  if (file_view(m->arena, m->run->path, &view, &error) &&
      csv_read_bytes(m->arena, (const char *)view.at, view.n, out, &error))
    return true;
  diag_error(m->w->diags, m->run->span, "%s: %s", m->run->path, error);
  return false;
}

static const CsvColumn *column_named(const Csv *t, const char *name) {
  for (uint32_t i = 0; i < t->columns; i++)
    if (!strcmp(t->column[i].name, name) && t->column[i].number) return &t->column[i];
  return NULL;
}

static const CsvColumn *column_of(const Sim *m, const Csv *t, uint32_t port, int64_t cell, int64_t cells) {
  const char *name = name_text(m->w->names, m->s->in.at[port].name);
  const CsvColumn *c = cells == 1 ? column_named(t, name) : NULL;
  if (!c) c = column_named(t, arena_format(m->arena, "%s%lld", name, (long long)cell));
  return c ? c : column_named(t, arena_format(m->arena, "%s[%lld]", name, (long long)cell));
}

static bool is_started(const Sim *m, uint32_t port) {
  for (uint32_t i = 0; i < m->run->start.n; i++)
    if (m->run->start.at[i].kind == SEES_IN && m->run->start.at[i].at == port) return true;
  return false;
}

bool table_rows(Sim *m, bool *rows, int64_t *ticks) {
  Csv t;
  if (!read_table(m, &t)) return false;
  for (uint32_t i = 0; i < m->s->in.n; i++) {
    const Type *type = &m->s->d->wire.at[m->s->d->in.at[i]].type;
    rows[i] = column_of(m, &t, i, 0, sim_cells(m, type)) != NULL;
    if (rows[i] || is_started(m, i)) continue;
    diag_error(m->w->diags, m->run->span, "%s has no column of numbers `%s`", m->run->path,
               name_text(m->w->names, m->s->in.at[i].name));
    return false;
  }
  if (*ticks > t.rows) {
    diag_error(m->w->diags, m->run->span, "%s has %lld rows, too few for %lld ticks", m->run->path,
               (long long)t.rows, (long long)*ticks);
    return false;
  }
  return true;
}

bool table_inputs(Sim *m, const bool *rows, int64_t ticks, double **out) {
  Csv t;
  if (!read_table(m, &t)) return false;
  for (uint32_t i = 0; i < m->s->in.n; i++) {
    if (!rows[i]) continue;
    int64_t cells = sim_cells(m, &m->s->d->wire.at[m->s->d->in.at[i]].type);
    out[i] = NEW_ARRAY(m->arena, double, ticks * cells + 1);
    for (int64_t k = 0; k < cells; k++) {
      const CsvColumn *c = column_of(m, &t, i, k, cells);
      if (!c) {
        diag_error(m->w->diags, m->run->span, "%s has no column for place %lld of `%s`", m->run->path,
                   (long long)k, name_text(m->w->names, m->s->in.at[i].name));
        return false;
      }
      for (int64_t r = 0; r < ticks; r++) out[i][r * cells + k] = c->value[r];
    }
  }
  return true;
}
