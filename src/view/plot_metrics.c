// The curves of a run: metrics.csv as goals and measures.
//
// The file has a header, step, epoch and time, then a column for each goal and each measure. A cell
// is empty where nothing was measured: a curve holds only what is there, and its line goes on to
// the next one. run.json says which columns are measures, and which of those should rise; without
// it, a column that is empty more often than not is a measure. A last line that is not whole is
// left out: the run may have been killed while it wrote. The file is read twice: cells are counted,
// then kept.
#include "view/plot.h"

#include <math.h>
#include <stdlib.h>

enum { FIXED = 3, COLUMNS_LIMIT = 4096, CELL_LIMIT = 64, GOALS_LOG = 50 };

typedef struct {
  const char *at, *end;
} Piece;

// -- reading --------------------------------------------------------------------------------------
// The next cell of a line; what stands behind it is left in `line`.
static bool next_cell(Piece *line, Piece *cell) {
  if (!line->at) return false;
  const char *comma = memchr(line->at, ',', (size_t)(line->end - line->at));
  *cell = (Piece){line->at, comma ? comma : line->end};
  line->at = comma ? comma + 1 : NULL;
  return true;
}

static bool next_line(Piece *text, Piece *line) {
  const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
  if (!end) return false;
  *line = (Piece){text->at, end > text->at && end[-1] == '\r' ? end - 1 : end};
  text->at = end + 1;
  return true;
}

static bool cell_value(Piece cell, double *out) {
  char text[CELL_LIMIT + 1], *end;
  size_t n = (size_t)(cell.end - cell.at);
  if (!n || n > CELL_LIMIT) return false;
  memcpy(text, cell.at, n);
  text[n] = 0;
  *out = strtod(text, &end);
  return *end == 0;
}

static bool is_cell(Piece cell, const char *text) {
  size_t n = (size_t)(cell.end - cell.at);
  return n == strlen(text) && memcmp(cell.at, text, n) == 0;
}

static bool read_header(Arena *a, const char *path, Piece line, Metrics *m, const char **error) {
  static const char *const fixed[FIXED] = {"step", "epoch", "time"};
  VEC(Curve) curves = {0};
  Piece cell;
  for (int i = 0; next_cell(&line, &cell); i++) {
    if (i < FIXED && !is_cell(cell, fixed[i]))
      return file_error(a, error, "%s: found %s in the header, wanted %s", path,
                        text_shown(a, cell.at, (size_t)(cell.end - cell.at)), fixed[i]);
    Curve c = {.name = arena_text(a, cell.at, (size_t)(cell.end - cell.at))};
    if (!text_is_utf8(c.name, strlen(c.name))) c.name = "?";
    if (i >= FIXED && curves.n < COLUMNS_LIMIT) vec_push(a, &curves, c);
  }
  m->curve = curves.at;
  m->curves = curves.n;
  return true;
}

static bool read_row(Arena *a, const char *path, int64_t number, Piece line, Metrics *m,
                     const char **error) {
  double step = 0, value;
  Piece cell;
  for (int64_t i = 0; next_cell(&line, &cell); i++) {
    bool known = cell_value(cell, &value);
    if (!known && (cell.end > cell.at || i == 0))
      return file_error(a, error, "%s:%lld: found %s, wanted a number", path, (long long)number,
                        text_shown(a, cell.at, (size_t)(cell.end - cell.at)));
    if (i == 0) step = value;
    if (i < FIXED || i - FIXED >= m->curves || !known) continue;
    Curve *c = &m->curve[i - FIXED];
    if (c->step) c->step[c->n] = step, c->value[c->n] = value;
    c->n++;
  }
  m->rows++;
  return true;
}

static bool read_rows(Arena *a, const char *path, Piece text, Metrics *m, const char **error) {
  Piece line;
  m->rows = 0;
  for (int64_t i = 2; next_line(&text, &line); i++)
    if (!read_row(a, path, i, line, m, error)) return false;
  return true;
}

// A curve gets memory for the cells that are filled, so a file of n bytes costs a multiple of n.
static void make_room(Arena *a, Curve *c) {
  c->step = NEW_ARRAY(a, double, c->n + 1);
  c->value = NEW_ARRAY(a, double, c->n + 1);
  c->n = 0;
}

// -- what is a measure ----------------------------------------------------------------------------
static const Json *find_measure(const Json *list, const char *name) {
  const Json *item = json_first(list);
  for (uint32_t i = 0; i < list->n; i++, item = json_next(item)) {
    const Json *said = item->kind == JSON_OBJECT ? json_get(item, "name") : NULL;
    if (said && said->kind == JSON_TEXT && strcmp(said->text, name) == 0) return item;
  }
  return NULL;
}

static void sort_out(Metrics *m, const Json *run) {
  const Json *list = run && run->kind == JSON_OBJECT ? json_get(run, "measures") : NULL;
  bool told = list && list->kind == JSON_LIST;
  for (uint32_t i = 0; i < m->curves; i++) {
    Curve *c = &m->curve[i];
    const Json *item = told ? find_measure(list, c->name) : NULL;
    const Json *up = item ? json_get(item, "up") : NULL, *on = item ? json_get(item, "on") : NULL;
    c->on = on && on->kind == JSON_TEXT ? on->text : "";
    c->measure = told ? item != NULL : c->n < (m->rows + 1) / 2;
    c->up = up ? up->kind == JSON_TRUE : strstr(c->name, "hits") || strstr(c->name, "accuracy");
  }
}

bool metrics_read(Arena *a, const char *path, const Json *run, Metrics *m, const char **error) {
  *m = (Metrics){0};
  View file;
  if (!file_view(a, path, &file, error)) return false;
  Piece text = {(const char *)file.at, (const char *)file.at + file.n}, line;
  if (!next_line(&text, &line)) return true; // a run that has not begun
  if (!read_header(a, path, line, m, error)) return false;
  if (!read_rows(a, path, text, m, error)) return false;
  for (uint32_t i = 0; i < m->curves; i++) make_room(a, &m->curve[i]);
  if (!read_rows(a, path, text, m, error)) return false;
  sort_out(m, run);
  return true;
}

int64_t curve_best(const Curve *c) {
  int64_t best = -1;
  for (int64_t i = 0; i < c->n; i++)
    if (is_seen(c->value[i]) &&
        (best < 0 || (c->up ? c->value[i] > c->value[best] : c->value[i] < c->value[best])))
      best = i;
  return best;
}

// -- drawing --------------------------------------------------------------------------------------
static const char *curve_label(Arena *a, const Curve *c) {
  return arena_format(a, "%s %s", c->name, number_text(a, c->value[c->n - 1]));
}

Canvas *plot_metrics(Arena *a, const Metrics *m, bool measures) {
  const char *error, *title = measures ? "Measures" : "Goals";
  Shown none = {.text = title};
  Plot p = {.arena = a, .s = &none, .error = &error};
  VEC(Line) lines = {0};
  int64_t longest = 0;
  Buf about = buf_new(a);
  for (uint32_t i = 0; i < m->curves; i++) {
    const Curve *c = &m->curve[i];
    if (c->measure != measures || !c->n) continue;
    if (c->n > longest) longest = c->n;
    Line line = {c->name, curve_label(a, c), c->step, c->value, c->n,
                 1,       measures,          c->up,   !measures};
    vec_push(a, &lines, line);
    buf_printf(&about, "%s%s", about.n ? ", " : "", line.label);
  }
  if (longest < 2) return NULL; // a single value is no curve
  LinesWish wish = {.x_title = "step", .whole_x = true, .log_from = measures ? 0 : GOALS_LOG};
  Canvas *c = canvas_new(a, PLOT_WIDTH, PLOT_HEIGHT, title,
                         arena_format(a, "Curves over steps. At the end: %s", about.at));
  double y = lines_draw(&p, c, 0, lines.at, lines.n, &wish);
  canvas_resize(c, PLOT_WIDTH, plot_caption(&p, c, y));
  return c;
}
