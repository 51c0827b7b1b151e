// Inputs from a table: each input is a column of its name, each tick a row. An input with several
// elements has one column for each: x0, x1 and so on, or x[0], x[1]. A data set is a table, too:
// its fields are columns.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "io/bytes/bytes.h"
#include "run/sim/sim_own.h"

#include <math.h>

static bool read_table(Sim *m, Csv *out) {
  const char *error = NULL;
  View view;
  const char *no = rights_refuse(m->arena, m->w->sources->rights, m->run->path);
  if (no) return diag_refuse(m->w->diags, m->run->span, "cannot read %s: %s", m->run->path, no);
  if (file_view(m->arena, m->run->path, &view, &error) &&
      csv_read_bytes(m->arena, (const char *)view.at, view.n, out, &error))
    return true;
  bool named = strstr(error, m->run->path) != NULL;
  return diag_refuse(m->w->diags, m->run->span, "%s%s%s", named ? "" : m->run->path,
                     named ? "" : ": ", error);
}

// The unit after the name of a column, as in `x (m)` or `x(m)`; NULL: none.
static const char *unit_behind(const char *column) {
  const char *unit = strchr(column, '(');
  return unit && unit > column ? unit : NULL;
}

static size_t name_length(const char *column) {
  const char *unit = unit_behind(column);
  size_t n = unit ? (size_t)(unit - column) : strlen(column);
  while (unit && n && column[n - 1] == ' ') n--;
  return n;
}

static bool is_called(const char *column, const char *name) {
  size_t n = strlen(name);
  return name_length(column) == n && !strncmp(column, name, n);
}

static const CsvColumn *column_named(const Csv *t, const char *name) {
  for (uint32_t i = 0; i < t->columns; i++)
    if (is_called(t->column[i].name, name) && t->column[i].number) return &t->column[i];
  return NULL;
}

// Is there only one column of this name, with or without a unit?
static bool is_alone(Sim *m, const Csv *t, const CsvColumn *c) {
  const char *name = arena_text(m->arena, c->name, name_length(c->name));
  for (uint32_t i = 0; i < t->columns; i++)
    if (&t->column[i] == c ? c->twice : is_called(t->column[i].name, name))
      return diag_refuse(m->w->diags, m->run->span, "%s has two columns `%s`", m->run->path, name);
  return true;
}

// Reports that a column is missing, and lists those that exist.
static bool refuse_missing(Sim *m, const Csv *t, const char *name) {
  enum { NAMES_TOLD = 8 };
  Buf names = buf_new(m->arena);
  for (uint32_t i = 0; i < t->columns && i < NAMES_TOLD; i++) {
    const CsvColumn *c = &t->column[i];
    buf_printf(&names, "%s`%s`%s", i ? ", " : "", c->name, c->number ? "" : " of words");
  }
  Id e =
      diag_error(m->w->diags, m->run->span, "%s has no column of numbers `%s`", m->run->path, name);
  return diag_help(m->w->diags, e,
                   t->header ? "its columns are %s%s" : "it has no row of names: %s%s", names.at,
                   t->columns > NAMES_TOLD ? ", …" : "");
}

static bool refuse_twice(Sim *m, const char *table, const char *what, const char *name) {
  Id e = diag_error(m->w->diags, m->run->span, "`%s` is given by the run, and %s has a %s `%s` too",
                    name, table, what, name);
  return diag_help(m->w->diags, e, "remove or rename one of them");
}

// Units must be equal: nothing is converted.
static bool has_unit(Sim *m, const CsvColumn *c, const char *what, const char *unit) {
  const char *said = unit_behind(c->name);
  Buf b = buf_new(m->arena);
  for (const char *k = said; k && *k; k++)
    if (*k != ' ') buf_char(&b, *k);
  if (!said || !unit || !strcmp(b.at, arena_format(m->arena, "(%s)", unit))) return true;
  return diag_refuse(m->w->diags, m->run->span, "%s: column `%s`, but `%s` is in %s", m->run->path,
                     c->name, what, unit);
}

static const CsvColumn *column_of(const Sim *m, const Csv *t, uint32_t port, int64_t cell,
                                  int64_t cells) {
  const char *name = name_text(m->w->names, m->s->in.at[port].name);
  const CsvColumn *c = cells == 1 ? column_named(t, name) : NULL;
  if (!c) c = column_named(t, arena_format(m->arena, "%s%lld", name, (long long)cell));
  return c ? c : column_named(t, arena_format(m->arena, "%s[%lld]", name, (long long)cell));
}

static bool is_started(const Sim *m, uint32_t port) {
  return run_start(m->run, SEES_IN, port) != NULL;
}

// Is the number a valid label or bit of the port?
static bool number_fits(Sim *m, uint32_t port, int64_t row, double x) {
  const Type *t = &m->s->d->wire.at[m->s->d->in.at[port]].type;
  int64_t count = 2;
  if (t->base == BASE_R) return true;
  if (t->base == BASE_LABEL && !size_value(m->w, t->count, &count)) count = INT32_MAX;
  if (x >= 0 && x < (double)count && x == floor(x)) return true;
  return diag_refuse(m->w->diags, m->run->span, "%s: `%s` is %g in row %lld, but the port is %s",
                     m->run->path, name_text(m->w->names, m->s->in.at[port].name), x,
                     (long long)row + 1, type_text(m->w, t));
}

static const char *port_text(const Sim *m, uint32_t port) {
  return name_text(m->w->names, m->s->in.at[port].name);
}

// The column of times; NULL: none, or it is the column of a port.
static const CsvColumn *time_column(const Sim *m, const Csv *t) {
  for (uint32_t i = 0; i < m->s->in.n; i++)
    if (!strcmp(port_text(m, i), "time")) return NULL;
  return t->rows ? column_named(t, "time") : NULL;
}

static bool set_has(Set *set, const char *name) {
  uint32_t k = set_find(set, name);
  return k != FIELD_NONE && k != FIELD_INDEX;
}

// Inputs that the run gives as functions of time are no longer ports of the system. Is one of them
// in the table or the set, too?
static bool moved_twice(const Sim *m, const Csv *t, Set *set, const char **name) {
  const System *own = m->run->own;
  for (uint32_t i = 0; i < own->in.n; i++) {
    *name = name_text(m->w->names, own->in.at[i].name);
    if (port_named(m->s->in.at, m->s->in.n, own->in.at[i].name) >= 0) continue;
    if (t ? column_named(t, *name) != NULL : set_has(set, *name)) return true;
  }
  return false;
}

// Each input must have exactly one source.
static bool ports_have_columns(Sim *m, const Csv *t, bool *rows) {
  const char *moved;
  if (moved_twice(m, t, NULL, &moved)) return refuse_twice(m, m->run->path, "column", moved);
  for (uint32_t i = 0; i < m->s->in.n; i++) {
    rows[i] = column_of(m, t, i, 0, sim_in_cells(m, i)) != NULL;
    if (rows[i] && is_started(m, i))
      return refuse_twice(m, m->run->path, "column", port_text(m, i));
    if (!rows[i] && !is_started(m, i)) return refuse_missing(m, t, port_text(m, i));
  }
  return true;
}

// In discrete time a row is a tick; a column `time` must agree.
static bool rows_are_ticks(Sim *m, const Csv *t, int64_t ticks) {
  const CsvColumn *c = m->s->flows ? NULL : time_column(m, t);
  if (c && !is_alone(m, t, c)) return false;
  for (int64_t i = 0; c && i < ticks; i++) {
    if (c->value[i] == (double)i) continue;
    Id e = diag_error(
        m->w->diags, m->run->span,
        "%s: `time` is %g in row %lld, but `%s` goes by ticks, and that row is tick %lld",
        m->run->path, c->value[i], (long long)i + 1, name_text(m->w->names, m->s->name),
        (long long)i);
    return diag_help(m->w->diags, e,
                     "without that column, or with another name for it, each row is a tick");
  }
  return true;
}

int64_t sim_rows(const Run *r) { return r->end > 0 ? (int64_t)ceil(r->end) : 1; }

static bool rows_suffice(Sim *m, const Csv *t, int64_t ticks) {
  if (ticks <= t->rows) return rows_are_ticks(m, t, ticks);
  if (!m->s->flows)
    return diag_refuse(m->w->diags, m->run->span, "%s has %lld rows, too few for %lld ticks",
                       m->run->path, (long long)t->rows, (long long)ticks);
  return diag_refuse(m->w->diags, m->run->span,
                     "%s has %lld rows, each for one unit of time: too few for a run to %.10g",
                     m->run->path, (long long)t->rows, m->run->end);
}

static bool copy_columns(Sim *m, const Csv *t, uint32_t port, int64_t ticks, double *out) {
  const char *name = port_text(m, port);
  int64_t cells = sim_in_cells(m, port);
  for (int64_t k = 0; k < cells; k++) {
    const CsvColumn *c = column_of(m, t, port, k, cells);
    if (!c)
      return diag_refuse(m->w->diags, m->run->span, "%s has no column for place %lld of `%s`",
                         m->run->path, (long long)k, name);
    if (!has_unit(m, c, name, sight_unit(m->w, m->s, name)) || !is_alone(m, t, c)) return false;
    for (int64_t r = 0; r < ticks; r++) {
      if (!number_fits(m, port, r, c->value[r])) return false;
      out[r * cells + k] = c->value[r];
    }
  }
  return true;
}

bool table_inputs(Sim *m, int64_t ticks, bool *rows, double **out) {
  Csv t;
  if (!read_table(m, &t) || !ports_have_columns(m, &t, rows) || !rows_suffice(m, &t, ticks))
    return false;
  for (uint32_t i = 0; i < m->s->in.n; i++) {
    if (!rows[i]) continue;
    out[i] = NEW_ARRAY(m->arena, double, ticks *sim_in_cells(m, i) + 1);
    if (!copy_columns(m, &t, i, ticks, out[i])) return false;
  }
  return true;
}

bool table_times(Sim *m, const double **time, int64_t *n) {
  Csv t;
  *time = NULL, *n = 0;
  if (!m->run->path) return true;
  if (!read_table(m, &t)) return false;
  const CsvColumn *c = time_column(m, &t);
  if (!c) return true;
  if (!has_unit(m, c, "time", "s") || !is_alone(m, &t, c)) return false;
  for (int64_t i = 1; i < t.rows; i++) { // two rows at one time are a discontinuity
    double now = c->value[i], last = c->value[i - 1];
    if (now > last || (now == last && (i < 2 || last > c->value[i - 2]))) continue;
    Id e = diag_error(m->w->diags, m->run->span,
                      "%s: `time` has to grow, but row %lld has %g after %g", m->run->path,
                      (long long)i + 1, now, last);
    if (now == last)
      diag_help(m->w->diags, e, "two rows at one time are a jump; three are not allowed");
    return false;
  }
  if (c->value[0] > 0 || c->value[t.rows - 1] < m->run->end)
    return diag_refuse(m->w->diags, m->run->span,
                       "%s has `time` from %g to %g, but the run goes from 0 to %g", m->run->path,
                       c->value[0], c->value[t.rows - 1], m->run->end);
  *time = c->value, *n = t.rows;
  return true;
}

static bool field_fits(const Sim *m, const Field *f, const Type *t) {
  int64_t labels = 0;
  if (t->base == BASE_LABEL)
    return f->labels && size_value(m->w, t->count, &labels) && f->labels <= labels &&
           field_count(f) == sim_cells(m, t);
  return f->kind != FIELD_LABEL && (t->base == BASE_R || f->kind == FIELD_BIT) &&
         field_count(f) == sim_cells(m, t);
}

static bool field_input(Sim *m, Set *set, uint32_t port, const int64_t *row, int64_t ticks,
                        bool *found, double **out) {
  const char *name = name_text(m->w->names, m->s->in.at[port].name), *why = NULL;
  const Type *type = &m->s->d->wire.at[m->s->d->in.at[port]].type;
  uint32_t k = set_find(set, name);
  *found = set_has(set, name);
  if (*found && is_started(m, port)) return refuse_twice(m, m->run->set, "field", name);
  if (!*found && is_started(m, port)) return true;
  const Field *f = *found ? set_field(set, k) : NULL;
  if (!f) return diag_refuse(m->w->diags, m->run->span, "%s has no field `%s`", m->run->set, name);
  if (!field_fits(m, f, type))
    return diag_refuse(m->w->diags, m->run->span, "%s has `%s` as %s, but the port is %s",
                       m->run->set, name, field_type(m->arena, f), type_text(m->w, type));
  *out = NEW_ARRAY(m->arena, double, ticks *sim_cells(m, type) + 1);
  if (set_read(set, (SetRows){SPLIT_TRAIN, k, row, ticks}, NUMBER_F64, *out, &why)) return true;
  return diag_refuse(m->w->diags, m->run->span, "%s: %s", m->run->set, why);
}

bool set_inputs(Sim *m, int64_t ticks, bool *rows, double **out) {
  const char *why = NULL;
  Set *set = set_open(m->arena, m->run->set,
                      &(SetOptions){.seed = m->how->seed, .rights = m->w->sources->rights}, &why);
  if (!set) return diag_refuse(m->w->diags, m->run->span, "%s: %s", m->run->set, why);
  int64_t n = set_rows(set, SPLIT_TRAIN), *row = NEW_ARRAY(m->arena, int64_t, ticks + 1);
  bool good = ticks <= n;
  if (!good)
    diag_error(m->w->diags, m->run->span, "%s has %lld rows, too few for %lld ticks", m->run->set,
               (long long)n, (long long)ticks);
  const char *moved;
  if (good && moved_twice(m, NULL, set, &moved))
    good = refuse_twice(m, m->run->set, "field", moved);
  for (int64_t i = 0; i < ticks; i++) row[i] = i;
  for (uint32_t i = 0; good && i < m->s->in.n; i++)
    good = field_input(m, set, i, row, ticks, &rows[i], &out[i]);
  set_close(set);
  return good;
}

bool run_has_table(Elab *in, Program *p, uint32_t number) {
  const Run *run = &p->ran->run.at[number];
  World *w = elab_world(in);
  SimOptions none = {0};
  if (!run->path || !run->system) return true;
  Sim m = {.in = in, .p = p, .w = w, .s = run->system, .run = run, .how = &none};
  m.arena = arena_child(w->arena);
  bool *rows = NEW_ARRAY(m.arena, bool, m.s->in.n + 1);
  double **out = NEW_ARRAY(m.arena, double *, m.s->in.n + 1);
  const double *time = NULL;
  int64_t n = sim_rows(run);
  bool good = !m.s->flows || table_times(&m, &time, &n);
  if (!time) n = sim_rows(run);
  good = good && table_inputs(&m, n, rows, out);
  arena_free(m.arena);
  return good;
}
