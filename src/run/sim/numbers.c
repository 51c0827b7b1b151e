// The values of a run as files, written and read.
//
// FILE.csv has a row for each moment: its time, then every port, state and shown expression; an
// array as x[0], x[1] …, a label by its name. Values with too many cells are in FILE.safetensors,
// with moments as the first axis. FILE.happened.csv is the log of events. Numbers are written with
// as many digits as needed, so reading gives the same bits.
#include "base/files.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"

#include "run/runs/weights.h"
#include "run/sim/simulate.h"

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
  buf_indices(&b, c->rank, c->shape, cell);
  return b.at;
}

// The name of its column: level (m), x[0] (m/s).
static const char *column_name(Arena *a, const SimChannel *c, int64_t cell) {
  const char *name = cell_name(a, c, cell);
  return c->unit ? arena_format(a, "%s (%s)", name, c->unit) : name;
}

static bool record_has_units(const SimRecord *r) {
  bool any = false;
  for (uint32_t i = 0; i < r->channel.n; i++) any |= r->channel.at[i].unit != NULL;
  return any;
}

const char *record_clock(const SimRecord *r) {
  return !r->flows ? "tick" : record_has_units(r) ? "time (s)" : "time";
}

// NULL: labels have no names.
static const char *label_name(World *w, const SimChannel *c, double value) {
  if (c->base != BASE_LABEL || !c->names || !(value >= 0)) return NULL;
  const Ids *names = &w->label_names.at[c->names];
  return value < names->n ? name_text(w->names, names->at[(uint32_t)value]) : NULL;
}

// -- files ----------------------------------------------------------------------------------------
static bool has_values(const SimRecord *r, const SimChannel *c) {
  return r->time.n && c->cells > 0 && (int64_t)c->value.n == (int64_t)r->time.n * c->cells;
}

// Of several observables with one name the first is used: a port that shows a state equals that
// state.
static bool is_kept(const SimRecord *r, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (strcmp(r->channel.at[k].name, r->channel.at[i].name) == 0) return false;
  return has_values(r, &r->channel.at[i]);
}

static bool in_table(const SimRecord *r, const SimChannel *c) {
  return c->cells <= CELLS_MOST && (int64_t)r->time.n * c->cells <= NUMBERS_MOST;
}

static const char *file_path(const Results *r, const SimResult *run, const char *end) {
  return arena_format(r->arena, "%s/%s%s", r->dir, run->file, end);
}

static bool put_file(const Results *r, const SimResult *run, const char *end, const Bytes *bytes,
                     const char **error) {
  const char *name = arena_format(r->arena, "%s%s", run->file, end);
  return file_put_in(r->arena, r->dir, name, bytes, error);
}

static bool put_text(const Results *r, const SimResult *run, const char *end, const Buf *b,
                     const char **error) {
  return put_file(r, run, end, &(Bytes){(uint8_t *)b->at, b->n}, error);
}

// -- writing --------------------------------------------------------------------------------------
static void put_header(const Results *r, const SimRecord *record, const bool *wanted, CsvOut *to) {
  csv_put(to, record_clock(record));
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *c = &record->channel.at[i];
    for (int64_t k = 0; wanted[i] && k < c->cells; k++) csv_put(to, column_name(r->arena, c, k));
  }
  csv_end_row(to);
}

static void put_row(const Results *r, const SimRecord *record, const bool *wanted, uint32_t row,
                    CsvOut *to) {
  csv_put_number(to, record->time.at[row]);
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *c = &record->channel.at[i];
    for (int64_t k = 0; wanted[i] && k < c->cells; k++) {
      double x = c->value.at[(int64_t)row * c->cells + k];
      const char *label = label_name(r->w, c, x);
      if (label)
        csv_put(to, label);
      else
        csv_put_number(to, x);
    }
  }
  csv_end_row(to);
}

static bool write_table(const Results *r, const SimResult *run, const char **error) {
  const SimRecord *record = &run->record;
  Arena *own = arena_child(r->arena);
  Buf b = buf_new(own);
  CsvOut to = csv_out(&b);
  bool *wanted = NEW_ARRAY(own, bool, record->channel.n + 1);
  for (uint32_t i = 0; i < record->channel.n; i++)
    wanted[i] = is_kept(record, i) && in_table(record, &record->channel.at[i]);
  put_header(r, record, wanted, &to);
  for (uint32_t i = 0; i < record->time.n; i++) put_row(r, record, wanted, i, &to);
  bool good = put_text(r, run, ".csv", &b, error);
  arena_free(own);
  return good;
}

// -- as JSON --------------------------------------------------------------------------------------
enum { ROWS_AS_JSON = 2000, COLUMNS_AS_JSON = 200 };

static void json_row(const SimRecord *record, const bool *wanted, uint32_t row, JsonOut *j) {
  json_list(j, NULL);
  json_number(j, NULL, record->time.at[row]);
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *c = &record->channel.at[i];
    for (int64_t k = 0; wanted[i] && k < c->cells; k++)
      json_number(j, NULL, c->value.at[(int64_t)row * c->cells + k]);
  }
  json_end(j);
}

// Marks columns that are piecewise constant.
static void json_held(const Results *r, uint32_t run, const bool *wanted, JsonOut *j) {
  const SimRecord *record = &r->run.at[run].record;
  const bool *held = channels_held(r, run);
  json_list(j, "held");
  json_bool(j, NULL, false);
  for (uint32_t i = 0; i < record->channel.n; i++)
    for (int64_t k = 0; wanted[i] && k < record->channel.at[i].cells; k++)
      json_bool(j, NULL, held[i]);
  json_end(j);
}

static void json_series(const Results *r, uint32_t which, Arena *a, JsonOut *j) {
  const SimResult *run = &r->run.at[which];
  const SimRecord *record = &run->record;
  bool *wanted = NEW_ARRAY(a, bool, record->channel.n + 1);
  int64_t columns = 1;
  uint32_t each = record->time.n / ROWS_AS_JSON + 1;
  json_object(j, NULL);
  json_text(j, "name", run->name);
  json_list(j, "names");
  json_text(j, NULL, record->flows ? "time" : "tick");
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *c = &record->channel.at[i];
    wanted[i] = is_kept(record, i) && columns + c->cells <= COLUMNS_AS_JSON;
    columns += wanted[i] ? c->cells : 0;
    for (int64_t k = 0; wanted[i] && k < c->cells; k++) json_text(j, NULL, cell_name(a, c, k));
  }
  json_end(j);
  json_held(r, which, wanted, j);
  json_list(j, "rows");
  for (uint32_t i = 0; i < record->time.n; i += each) json_row(record, wanted, i, j);
  json_end(j);
  json_end(j);
}

void numbers_json(const Results *r, Buf *b) {
  JsonOut j = json_out(b);
  Arena *a = arena_child(r->arena);
  json_list(&j, NULL);
  for (uint32_t i = 0; i < r->run.n; i++)
    if (r->run.at[i].done) json_series(r, i, a, &j);
  json_end(&j);
  arena_free(a);
}

static Array array_of(Arena *a, const SimRecord *r, const SimChannel *c) {
  Array x = {.name = one_line(a, c->name), .rank = c->rank + 1, .data = c->value.at};
  x.shape = NEW_ARRAY(a, int64_t, x.rank);
  x.shape[0] = r->time.n;
  memcpy(x.shape + 1, c->shape, c->rank * sizeof *c->shape);
  x.count = (int64_t)c->value.n;
  return x;
}

static bool write_arrays(const Results *r, const SimResult *run, const char **error) {
  const SimRecord *record = &run->record;
  Arrays all = {0};
  for (uint32_t i = 0; i < record->channel.n; i++)
    if (is_kept(record, i) && !in_table(record, &record->channel.at[i]))
      vec_push(r->arena, &all.array, array_of(r->arena, record, &record->channel.at[i]));
  Bytes bytes;
  return !all.array.n || (safetensors_bytes(r->arena, &all, &bytes, error) &&
                          put_file(r, run, ".safetensors", &bytes, error));
}

static bool write_happened(const Results *r, const SimResult *run, const char **error) {
  const SimRecord *record = &run->record;
  if (!record->events_logged.n) return true;
  Buf b = buf_new(r->arena);
  CsvOut to = csv_out(&b);
  buf_text(&b, "time,part,what\n");
  for (uint32_t i = 0; i < record->events_logged.n; i++) {
    const LoggedEvent *h = &record->events_logged.at[i];
    csv_put_number(&to, h->time);
    csv_put(&to, h->path);
    csv_put(&to, h->what);
    csv_end_row(&to);
  }
  return put_text(r, run, ".happened.csv", &b, error);
}

bool numbers_write(const Results *r, const SimResult *run, const char **error) {
  return write_table(r, run, error) && write_arrays(r, run, error) && write_happened(r, run, error);
}

// -- reading --------------------------------------------------------------------------------------
typedef struct {
  CsvCursor csv;
  const char *path;
  CsvCell cell;
  const char **error;
} TableReading;

__attribute__((format(printf, 3, 4))) static bool wrong_at(TableReading *g, int64_t line,
                                                           const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *why = arena_vformat(g->csv.arena, format, args);
  va_end(args);
  return file_error(g->csv.arena, g->error, "%s:%lld: %s", g->path, (long long)line, why);
}

static bool next_cell(TableReading *g) {
  return csv_cell(&g->csv, &g->cell) ||
         file_error(g->csv.arena, g->error, "%s: %s", g->path, *g->error);
}

static const char *cell_text(TableReading *g) {
  size_t n;
  return csv_text(g->csv.arena, &g->cell, &n);
}

static bool open_file(TableReading *g, Arena *a, const char *path, const char **error) {
  View file;
  const char *wrong = file_check(a, path);
  if (wrong) return file_error(a, error, "cannot read %s: %s", path, wrong);
  if (!file_view(a, path, &file, error)) return false;
  *g = (TableReading){.csv = csv_begin(a, &file, error), .path = path, .error = error};
  if (!file.n || file.at[file.n - 1] == '\n') return true;
  return file_error(a, error, "%s: its last line is incomplete", path);
}

typedef struct {
  SimChannel *channel; // NULL: a column that is not needed
  int64_t cell;
} SimColumn;
typedef VEC(SimColumn) SimColumns;

// The names of all columns of a run.
static void all_columns(const Results *r, Arena *a, SimRecord *record, Table *names,
                        SimColumns *out) {
  vec_push(r->arena, out, (SimColumn){0});
  for (uint32_t i = 0; i < record->channel.n; i++) {
    SimChannel *c = &record->channel.at[i];
    for (int64_t k = 0; c->cells <= CELLS_MOST && k < c->cells; k++) {
      const char *name = column_name(a, c, k);
      if (table_get(names, name, strlen(name))) continue;
      table_put(names, name, strlen(name), out->n);
      vec_push(r->arena, out, (SimColumn){c, k});
    }
  }
}

static bool read_header(const Results *r, TableReading *g, SimRecord *record, SimColumns *out) {
  Arena *a = g->csv.arena;
  Table *names = table_new(a);
  SimColumns all = {0};
  int64_t *next = NEW_ARRAY(a, int64_t, record->channel.n + 1); // cell, by channel
  all_columns(r, a, record, names, &all);
  if (!csv_row(&g->csv)) return wrong_at(g, 1, "the table is empty");
  do {
    if (!next_cell(g)) return false;
    const char *name = cell_text(g);
    SimColumn c = all.at[table_get(names, name, strlen(name))];
    if (c.channel && next[c.channel - record->channel.at]++ != c.cell) c = (SimColumn){0};
    vec_push(r->arena, out, c);
  } while (csv_more(&g->csv));
  return true;
}

static bool label_value(const Results *r, const SimChannel *c, const char *text, double *out) {
  const Ids *names = c->base == BASE_LABEL && c->names ? &r->w->label_names.at[c->names] : NULL;
  for (uint32_t i = 0; names && i < names->n; i++)
    if (strcmp(name_text(r->w->names, names->at[i]), text) == 0) return *out = i, true;
  return false;
}

// The value of the present cell; a column that is not needed may hold anything.
static bool cell_value(const Results *r, TableReading *g, const SimColumn *c, bool time,
                       int64_t line, double *out) {
  if (csv_number(&g->cell, out) || (!time && !c->channel)) return true;
  if (c->channel && label_value(r, c->channel, cell_text(g), out)) return true;
  return wrong_at(g, line, "found `%s`, wanted a number",
                  text_shown(g->csv.arena, g->cell.at, g->cell.n));
}

static bool read_row(const Results *r, TableReading *g, SimRecord *record,
                     const SimColumns *column) {
  bool more = true;
  int64_t line = g->csv.line;
  double x;
  for (uint32_t i = 0; i < column->n; i++) {
    const SimColumn *c = &column->at[i];
    if (!more) return wrong_at(g, line, "found %u cells, wanted %u", i, column->n);
    if (!next_cell(g) || !cell_value(r, g, c, i == 0, line, &x)) return false;
    more = csv_more(&g->csv);
    if (i == 0)
      vec_push(r->arena, &record->time, x);
    else if (c->channel)
      vec_push(r->arena, &c->channel->value, x);
  }
  return !more || wrong_at(g, line, "more cells than names");
}

// Drops a channel whose cells are missing or out of order: it belongs to another run.
static void drop_broken(SimRecord *record) {
  for (uint32_t i = 0; i < record->channel.n; i++)
    if (!has_values(record, &record->channel.at[i])) record->channel.at[i].value.n = 0;
}

static bool read_table(Results *r, SimResult *run, const char **error) {
  Arena *own = arena_child(r->arena);
  TableReading g;
  SimColumns column = {0};
  bool good = open_file(&g, own, file_path(r, run, ".csv"), error) &&
              read_header(r, &g, &run->record, &column);
  while (good && csv_row(&g.csv)) good = read_row(r, &g, &run->record, &column);
  if (!good) *error = arena_format(r->arena, "%s", *error);
  arena_free(own);
  drop_broken(&run->record);
  return good;
}

static bool read_arrays(Results *r, SimResult *run, const char **error) {
  const char *path = file_path(r, run, ".safetensors");
  Arrays all = {0};
  if (!path_exists(path)) return true;
  if (!folder_read(r->arena, path, &all, error)) return false;
  for (uint32_t i = 0; i < run->record.channel.n; i++) {
    SimChannel *c = &run->record.channel.at[i];
    const Array *x = arrays_find(&all, one_line(r->arena, c->name));
    if (!x || x->count != (int64_t)run->record.time.n * c->cells) continue;
    for (int64_t k = 0; k < x->count; k++) vec_push(r->arena, &c->value, x->data[k]);
  }
  return true;
}

static bool read_happened(Results *r, SimResult *run, const char **error) {
  TableReading g;
  const char *path = file_path(r, run, ".happened.csv"), *cell[3] = {0};
  if (!path_exists(path)) return true;
  if (!open_file(&g, r->arena, path, error)) return false;
  for (bool header = true; csv_row(&g.csv); header = false) {
    double time = 0;
    for (uint32_t i = 0; i < 3; i++) {
      int64_t line = g.csv.line;
      if (!next_cell(&g)) return false;
      if (i == 0) csv_number(&g.cell, &time);
      cell[i] = cell_text(&g);
      if (csv_more(&g.csv) != (i < 2)) return wrong_at(&g, line, "wanted three cells");
    }
    if (!header)
      vec_push(r->arena, &run->record.events_logged,
               (LoggedEvent){.time = time, .path = cell[1], .what = cell[2]});
  }
  return true;
}

// -- shown expressions that were not recorded -----------------------------------------------------
// Evaluates an expression that the run did not record, from recorded values. Impossible if it uses
// weights, which are not in the folder.
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

// A shown expression that is the name of an observable has its values.
static bool share_values(SimRecord *record, SimChannel *to) {
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
      if (!has_values(record, c) && !share_values(record, c))
        fill_seen(r, record, &show->seen.at[k], c);
    }
  }
  drop_broken(record);
}

// States that a port shows have the values of the port.
static void copy_port_values(SimRecord *record) {
  for (uint32_t i = 0; i < record->sights; i++)
    if (!has_values(record, &record->channel.at[i])) share_values(record, &record->channel.at[i]);
}

bool numbers_read(Results *r, uint32_t number, const char **error) {
  SimResult *run = &r->run.at[number];
  uint64_t steps = run->record.steps;
  record_channels(r->w, r->p, number, &run->record);
  run->record.steps = steps;
  if (!run->done) return true;
  if (!read_table(r, run, error) || !read_arrays(r, run, error) || !read_happened(r, run, error))
    return false;
  copy_port_values(&run->record);
  fill_shown(r, number, &run->record);
  return true;
}
