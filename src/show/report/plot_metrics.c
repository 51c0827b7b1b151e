// The curves of metrics.csv: goals and measures.
//
// A curve consists of the nonempty cells. run.json lists the measures and their direction; without
// it, a column that is mostly empty is a measure. Components of paths, p[0], are not shown.
#include "show/report/plot_own.h"

#include <math.h>

enum { GOALS_LOG = 50 }; // a larger ratio of losses gives a logarithmic scale

static bool is_path(const char *name) {
  size_t n = strlen(name);
  return n && name[n - 1] == ']';
}

static Curve curve_of(Arena *a, const MetricRows *r, uint32_t column) {
  Curve c = {.name = r->name.at[column]};
  for (int64_t i = 0; i < r->rows; i++) c.n += r->known.at[i * r->name.n + column];
  c.step = NEW_ARRAY(a, double, c.n + 1);
  c.value = NEW_ARRAY(a, double, c.n + 1);
  c.n = 0;
  for (int64_t i = 0; i < r->rows; i++) {
    if (!r->known.at[i * r->name.n + column]) continue;
    c.step[c.n] = r->value.at[i * r->name.n];
    c.value[c.n++] = r->value.at[i * r->name.n + column];
  }
  return c;
}

// -- what is a measure ----------------------------------------------------------------------------
static const NoteMeasure *find_measure(const RunNote *run, const char *name) {
  for (uint32_t i = 0; i < run->measure.n; i++)
    if (strcmp(run->measure.at[i].name, name) == 0) return &run->measure.at[i];
  return NULL;
}

static void sort_out(Metrics *m, const RunNote *run) {
  const Json *list = run->json ? json_get(run->json, "measures") : NULL;
  bool told = list && list->kind == JSON_LIST;
  for (uint32_t i = 0; i < m->curves; i++) {
    Curve *c = &m->curve[i];
    const NoteMeasure *said = find_measure(run, c->name);
    c->on = said ? said->on : "";
    c->measure = told ? said != NULL : c->n < (m->rows + 1) / 2;
    c->up = said && said->up;
    c->judged = said && said->known;
  }
}

bool metrics_read(Arena *a, const char *path, const RunNote *run, Metrics *m, const char **error) {
  MetricRows r;
  *m = (Metrics){0};
  if (!rows_read(a, path, &r, error)) return false;
  m->rows = r.rows;
  m->curve = NEW_ARRAY(a, Curve, r.name.n + 1);
  for (uint32_t i = METRICS_FIXED; i < r.name.n; i++)
    if (!is_path(r.name.at[i])) m->curve[m->curves++] = curve_of(a, &r, i);
  sort_out(m, run);
  return true;
}

// -- drawing --------------------------------------------------------------------------------------
static const char *curve_label(Arena *a, const Curve *c) {
  return arena_format(a, "%s %s", c->name, number_text(a, c->value[c->n - 1]));
}

Canvas *plot_metrics(Arena *a, const Metrics *m, bool measures) {
  const char *error, *title = measures ? "Measures" : "Goals";
  Shown none = {.text = title};
  Plot p = {.arena = a, .s = &none, .error = &error};
  VEC(PlotLine) lines = {0};
  int64_t longest = 0;
  Buf about = buf_new(a);
  for (uint32_t i = 0; i < m->curves; i++) {
    const Curve *c = &m->curve[i];
    if (c->measure != measures || !c->n) continue;
    if (c->n > longest) longest = c->n;
    PlotLine line = {.name = c->name, .label = curve_label(a, c), .n = c->n, .stride = 1};
    line.x = c->step, line.y = c->value;
    line.mark_best = c->judged, line.up = c->up, line.smooth = !measures;
    if (c->ink) line.as = c->ink + (c->dashed ? SERIES : 0);
    vec_push(a, &lines, line);
    buf_printf(&about, "%s%s", about.n ? ", " : "", line.label);
  }
  if (longest < 2) return NULL; // a single value is no curve
  LinesWish wish = {.x_title = "step", .whole_x = true, .log_from = measures ? 0 : GOALS_LOG};
  Canvas *c = canvas_new(a, PLOT_WIDTH, PLOT_HEIGHT, title,
                         arena_format(a, "Curves over steps. At the end: %s", about.at));
  double y = lines_draw(&p, c, 0, lines.at, lines.n, &wish);
  return plot_end(&p, c, PLOT_WIDTH, y);
}
