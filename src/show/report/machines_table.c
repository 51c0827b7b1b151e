// The numbers of a run as files that other programs read, and back.
//
// FILE.csv has a row for each moment: its time, then every port, state and shown expression, an
// array as x[0], x[1] …, a label by its name. What has too many numbers for a table goes to
// FILE.safetensors, with the moments in front. FILE.happened.csv says what happened when. Numbers
// are written with as many digits as they need, so what is read is what was written, bit for bit.
#include "core/pass/pass.h"
#include "show/report/machines_own.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS_MOST = 64, NUMBERS_MOST = 1 << 22, CELL_BYTES = 64 };

// -- names ----------------------------------------------------------------------------------------
const char *one_line(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (; *text; text++) {
    bool space = *text == ' ' || *text == '\n' || *text == '\r' || *text == '\t';
    if (!space)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != ' ')
      buf_char(&b, ' ');
  }
  return b.n ? b.at : "";
}

const char *cell_name(Arena *a, const SimChannel *c, int64_t cell) {
  Buf b = buf_new(a);
  buf_text(&b, one_line(a, c->name));
  int64_t left = cell, below = c->cells;
  for (uint32_t i = 0; i < c->rank && below > 0; i++) {
    below /= c->shape[i];
    buf_printf(&b, "%s%lld", i ? " " : "[", (long long)(left / below));
    left %= below;
  }
  if (c->rank) buf_char(&b, ']');
  return b.at;
}

const char *label_name(World *w, const SimChannel *c, double value) {
  if (c->base != BASE_LABEL || !c->names || !(value >= 0)) return NULL;
  const Ids *names = &w->label_names.at[c->names];
  return value < names->n ? name_text(w->names, names->at[(uint32_t)value]) : NULL;
}

// -- what goes where ------------------------------------------------------------------------------
static bool has_values(const SimRecord *r, const SimChannel *c) {
  return r->time.n && c->cells > 0 && (int64_t)c->value.n == (int64_t)r->time.n * c->cells;
}

// Of several things with one name the first is kept: a port that shows a state is that state.
static bool is_kept(const SimRecord *r, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (strcmp(r->channel.at[k].name, r->channel.at[i].name) == 0) return false;
  return has_values(r, &r->channel.at[i]);
}

static bool in_table(const SimRecord *r, const SimChannel *c) {
  return c->cells <= CELLS_MOST && (int64_t)r->time.n * c->cells <= NUMBERS_MOST;
}

static const char *file_path(const Results *r, const RanRun *run, const char *end) {
  return arena_format(r->arena, "%s/%s%s", r->dir, run->file, end);
}

// -- writing --------------------------------------------------------------------------------------
static void put_cell(Buf *b, const char *text) {
  if (!strpbrk(text, ",\"")) {
    buf_text(b, text);
    return;
  }
  buf_char(b, '"');
  for (; *text; text++) {
    if (*text == '"') buf_char(b, '"');
    buf_char(b, *text);
  }
  buf_char(b, '"');
}

static void put_header(const Results *r, const SimRecord *record, Buf *b) {
  buf_text(b, record->flows ? "time" : "tick");
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *c = &record->channel.at[i];
    if (!is_kept(record, i) || !in_table(record, c)) continue;
    for (int64_t k = 0; k < c->cells; k++) {
      buf_char(b, ',');
      put_cell(b, cell_name(r->arena, c, k));
    }
  }
  buf_char(b, '\n');
}

static void put_row(const Results *r, const SimRecord *record, const bool *wanted, uint32_t row,
                    Buf *b) {
  buf_number(b, record->time.at[row]);
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *c = &record->channel.at[i];
    for (int64_t k = 0; wanted[i] && k < c->cells; k++) {
      double x = c->value.at[(int64_t)row * c->cells + k];
      const char *label = label_name(r->w, c, x);
      buf_char(b, ',');
      if (label)
        put_cell(b, label);
      else
        buf_number(b, x);
    }
  }
  buf_char(b, '\n');
}

static bool write_file(const Results *r, const char *path, const Buf *b, const char **error) {
  const char *why = file_write(r->arena, path, b->at, b->n);
  return !why || file_error(r->arena, error, "cannot write %s: %s", path, why);
}

static bool write_table(const Results *r, const RanRun *run, const char **error) {
  const SimRecord *record = &run->record;
  Arena *own = arena_child(r->arena);
  Buf b = buf_new(own);
  bool *wanted = NEW_ARRAY(own, bool, record->channel.n + 1);
  for (uint32_t i = 0; i < record->channel.n; i++)
    wanted[i] = is_kept(record, i) && in_table(record, &record->channel.at[i]);
  put_header(r, record, &b);
  for (uint32_t i = 0; i < record->time.n; i++) put_row(r, record, wanted, i, &b);
  bool good = write_file(r, file_path(r, run, ".csv"), &b, error);
  arena_free(own);
  return good;
}

static Array array_of(Arena *a, const SimRecord *r, const SimChannel *c) {
  Array x = {.name = one_line(a, c->name), .rank = c->rank + 1, .data = c->value.at};
  x.shape = NEW_ARRAY(a, int64_t, x.rank);
  x.shape[0] = r->time.n;
  memcpy(x.shape + 1, c->shape, c->rank * sizeof *c->shape);
  x.count = (int64_t)c->value.n;
  return x;
}

static bool write_arrays(const Results *r, const RanRun *run, const char **error) {
  const SimRecord *record = &run->record;
  Arrays all = {0};
  for (uint32_t i = 0; i < record->channel.n; i++)
    if (is_kept(record, i) && !in_table(record, &record->channel.at[i]))
      vec_push(r->arena, &all.array, array_of(r->arena, record, &record->channel.at[i]));
  return !all.array.n ||
         safetensors_write(r->arena, file_path(r, run, ".safetensors"), &all, error);
}

static bool write_happened(const Results *r, const RanRun *run, const char **error) {
  const SimRecord *record = &run->record;
  if (!record->happening.n) return true;
  Buf b = buf_new(r->arena);
  buf_text(&b, "time,part,what\n");
  for (uint32_t i = 0; i < record->happening.n; i++) {
    const Happening *h = &record->happening.at[i];
    buf_number(&b, h->time);
    buf_char(&b, ',');
    put_cell(&b, h->path);
    buf_char(&b, ',');
    put_cell(&b, h->what);
    buf_char(&b, '\n');
  }
  return write_file(r, file_path(r, run, ".happened.csv"), &b, error);
}

bool numbers_write(const Results *r, const RanRun *run, const char **error) {
  return write_table(r, run, error) && write_arrays(r, run, error) && write_happened(r, run, error);
}

// -- reading --------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  const char *path, *at, *end;
  int64_t line;
  Buf cell;
  const char **error;
} TableReading;

// The next cell of the line at hand, without its quotes, into g->cell; *last: the line ends behind
// it.
static bool next_cell(TableReading *g, bool *last) {
  bool quoted = g->at < g->end && *g->at == '"';
  g->cell.n = 0;
  buf_text(&g->cell, "");
  if (quoted) g->at++;
  for (; g->at < g->end; g->at++) {
    bool twice = quoted && *g->at == '"' && g->at + 1 < g->end && g->at[1] == '"';
    if (quoted && *g->at == '"' && !twice) break;
    if (!quoted && (*g->at == ',' || *g->at == '\n')) break;
    if (twice) g->at++;
    buf_char(&g->cell, *g->at);
  }
  if (quoted && g->at < g->end) g->at++;
  if (g->at == g->end || (*g->at != ',' && *g->at != '\n'))
    return file_error(g->arena, g->error, "%s:%lld: the line is incomplete", g->path,
                      (long long)g->line);
  *last = *g->at++ == '\n';
  if (*last) g->line++;
  return true;
}

static bool open_file(TableReading *g, const char *path) {
  View file;
  if (!file_view(g->arena, path, &file, g->error)) return false;
  g->path = path;
  g->at = (const char *)file.at;
  g->end = g->at + file.n;
  g->line = 1;
  g->cell = buf_new(g->arena);
  return true;
}

typedef struct {
  SimChannel *channel; // NULL: a column that is not asked for
  int64_t cell;
} SimColumn;
typedef VEC(SimColumn) SimColumns;

// What the columns of a run are called.
static void all_columns(const Results *r, Arena *a, SimRecord *record, Table *names,
                        SimColumns *out) {
  vec_push(r->arena, out, (SimColumn){0});
  for (uint32_t i = 0; i < record->channel.n; i++) {
    SimChannel *c = &record->channel.at[i];
    for (int64_t k = 0; c->cells <= CELLS_MOST && k < c->cells; k++) {
      const char *name = cell_name(a, c, k);
      if (table_get(names, name, strlen(name))) continue;
      table_put(names, name, strlen(name), out->n);
      vec_push(r->arena, out, (SimColumn){c, k});
    }
  }
}

static bool read_header(const Results *r, TableReading *g, SimRecord *record, SimColumns *out) {
  Table *names = table_new(g->arena);
  SimColumns all = {0};
  int64_t *next = NEW_ARRAY(g->arena, int64_t, record->channel.n + 1); // cell, by channel
  bool last = false;
  all_columns(r, g->arena, record, names, &all);
  while (!last) {
    if (!next_cell(g, &last)) return false;
    SimColumn c = all.at[table_get(names, g->cell.at, g->cell.n)];
    if (c.channel && next[c.channel - record->channel.at]++ != c.cell) c = (SimColumn){0};
    vec_push(r->arena, out, c);
  }
  return true;
}

static bool label_value(const Results *r, const SimChannel *c, const char *text, double *out) {
  const Ids *names = c->base == BASE_LABEL && c->names ? &r->w->label_names.at[c->names] : NULL;
  for (uint32_t i = 0; names && i < names->n; i++)
    if (strcmp(name_text(r->w->names, names->at[i]), text) == 0) return *out = i, true;
  return false;
}

// The cell at hand; what is not asked for may be anything.
static bool cell_value(const Results *r, TableReading *g, const SimColumn *c, bool time,
                       int64_t line, double *out) {
  const char *text = g->cell.at;
  const char *end;
  *out = number_read(text, &end);
  if ((*text && !*end) || (!time && !c->channel)) return true;
  if (c->channel && label_value(r, c->channel, text, out)) return true;
  return file_error(g->arena, g->error, "%s:%lld: found `%s`, wanted a number", g->path,
                    (long long)line, text_shown(g->arena, text, strlen(text)));
}

static bool read_row(const Results *r, TableReading *g, SimRecord *record,
                     const SimColumns *column) {
  bool last = false;
  int64_t line = g->line;
  double x;
  for (uint32_t i = 0; i < column->n; i++) {
    const SimColumn *c = &column->at[i];
    if (last)
      return file_error(g->arena, g->error, "%s:%lld: found %u cells, wanted %u", g->path,
                        (long long)line, i, column->n);
    if (!next_cell(g, &last) || !cell_value(r, g, c, i == 0, line, &x)) return false;
    if (i == 0)
      vec_push(r->arena, &record->time, x);
    else if (c->channel)
      vec_push(r->arena, &c->channel->value, x);
  }
  return last ||
         file_error(g->arena, g->error, "%s:%lld: more cells than names", g->path, (long long)line);
}

// A channel with cells that are missing or out of order is not this run's.
static void drop_broken(SimRecord *record) {
  for (uint32_t i = 0; i < record->channel.n; i++)
    if (!has_values(record, &record->channel.at[i])) record->channel.at[i].value.n = 0;
}

static bool read_table(Results *r, RanRun *run, const char **error) {
  Arena *own = arena_child(r->arena);
  TableReading g = {.arena = own, .error = error};
  SimColumns column = {0};
  bool good = open_file(&g, arena_format(r->arena, "%s/%s.csv", r->dir, run->file)) &&
              read_header(r, &g, &run->record, &column);
  while (good && g.at < g.end) good = read_row(r, &g, &run->record, &column);
  if (!good) *error = arena_format(r->arena, "%s", *error);
  arena_free(own);
  drop_broken(&run->record);
  return good;
}

static bool read_arrays(Results *r, RanRun *run, const char **error) {
  const char *path = file_path(r, run, ".safetensors");
  Arrays all = {0};
  if (!path_exists(path)) return true;
  if (!safetensors_read(r->arena, path, &all, error)) return false;
  for (uint32_t i = 0; i < run->record.channel.n; i++) {
    SimChannel *c = &run->record.channel.at[i];
    const Array *x = arrays_find(&all, one_line(r->arena, c->name));
    if (!x || x->count != (int64_t)run->record.time.n * c->cells) continue;
    for (int64_t k = 0; k < x->count; k++) vec_push(r->arena, &c->value, x->data[k]);
  }
  return true;
}

static bool read_happened(Results *r, RanRun *run, const char **error) {
  TableReading g = {.arena = r->arena, .error = error};
  const char *path = file_path(r, run, ".happened.csv");
  char *cell[3] = {0};
  bool last = false;
  if (!path_exists(path)) return true;
  if (!open_file(&g, path)) return false;
  for (bool header = true; g.at < g.end; header = false) {
    for (uint32_t i = 0; i < 3; i++) {
      if (!next_cell(&g, &last)) return false;
      cell[i] = arena_text(r->arena, g.cell.at, g.cell.n);
      if (last != (i == 2))
        return file_error(r->arena, error, "%s:%lld: wanted three cells", path, (long long)g.line);
    }
    if (header) continue;
    vec_push(r->arena, &run->record.happening,
             (Happening){number_read(cell[0], NULL), cell[1], cell[2]});
  }
  return true;
}

// -- what is shown anew ---------------------------------------------------------------------------
// An expression that the run did not keep, from what it did keep. With weights in it, that cannot
// be: they are not in the folder.
static void fill_seen(const Results *r, SimRecord *record, const Seen *seen, SimChannel *to) {
  const Diagram *d = seen->diagram;
  for (uint32_t i = 0; i < seen->sight.n; i++)
    if (!has_values(record, &record->channel.at[seen->sight.at[i]])) return;
  if (d->param.n) return;
  d = diagram_inline_all(r->w, d);
  for (uint32_t t = 0; t < record->time.n; t++) {
    Arena *own = arena_child(r->arena);
    Tensor result = {0}, *in = NEW_ARRAY(own, Tensor, seen->sight.n + 1);
    for (uint32_t i = 0; i < seen->sight.n; i++) {
      const SimChannel *c = &record->channel.at[seen->sight.at[i]];
      in[i] = (Tensor){.rank = c->rank, .shape = c->shape, .count = c->cells};
      in[i].data = c->value.at + (int64_t)t * c->cells;
    }
    Eval e = {.arena = own, .in = in, .out = &result};
    bool good = diagram_eval(r->w, d, &e) && result.count == to->cells;
    for (int64_t k = 0; good && k < to->cells; k++) vec_push(r->arena, &to->value, result.data[k]);
    arena_free(own);
    if (!good) break;
  }
}

// A shown expression that is the name of something seen has its numbers.
static bool borrow(SimRecord *record, SimChannel *to) {
  for (uint32_t i = 0; i < record->sights; i++) {
    const SimChannel *c = &record->channel.at[i];
    if (c->cells != to->cells || strcmp(c->name, to->name) != 0 || !has_values(record, c)) continue;
    to->value.at = c->value.at, to->value.n = to->value.cap = c->value.n;
    return true;
  }
  return false;
}

static void fill_shown(const Results *r, uint32_t number, SimRecord *record) {
  uint32_t at = record->sights;
  for (uint32_t i = 0; i < r->p->ran->show.n; i++) {
    const RunShow *show = &r->p->ran->show.at[i];
    for (uint32_t k = 0; show->run == number && k < show->seen.n; k++, at++) {
      SimChannel *c = &record->channel.at[at];
      if (!has_values(record, c) && !borrow(record, c)) fill_seen(r, record, &show->seen.at[k], c);
    }
  }
  drop_broken(record);
}

// States that a port shows have the port's numbers.
static void fill_twins(SimRecord *record) {
  for (uint32_t i = 0; i < record->sights; i++)
    if (!has_values(record, &record->channel.at[i])) borrow(record, &record->channel.at[i]);
}

bool numbers_read(Results *r, uint32_t number, const char **error) {
  RanRun *run = &r->run.at[number];
  uint64_t steps = run->record.steps;
  record_channels(r->w, r->p, number, &run->record);
  run->record.steps = steps;
  if (!run->done) return true;
  if (!read_table(r, run, error) || !read_arrays(r, run, error) || !read_happened(r, run, error))
    return false;
  fill_twins(&run->record);
  fill_shown(r, number, &run->record);
  return true;
}
