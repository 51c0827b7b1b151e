// A time slider for each run that controls all of its pictures.
//
// The page contains the numbers of some moments as JSON, and a script that draws a line, a dot or a
// table into the pictures; without scripts the slider is hidden. The number of moments is limited
// by the amount of data.
#include "base/json_write.h"
#include "show/report/report_own.h"

#include "run/sim/simulate.h"

#include <math.h>

enum {
  STOPS_MOST = 200,
  STOPS_LEAST = 20,
  NUMBERS_WISHED = 40000, // numbers per run
  CELLS_MOST = 1024,      // elements of a matrix
  LINES_MOST = 24,        // lines of a picture with displayed values
};

// -- moments --------------------------------------------------------------------------------------
static uint32_t numbers_at_once(const RanShows *shows) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < shows->n; i++) {
    const RanShown *s = &shows->at[i];
    n += s->live && s->live->cells <= CELLS_MOST ? (uint64_t)s->live->cells : LINES_MOST / 4;
  }
  return n < NUMBERS_WISHED ? (uint32_t)n : NUMBERS_WISHED;
}

static void find_stops(Scrub *s, uint32_t numbers) {
  uint32_t all = s->record->time.n, most = NUMBERS_WISHED / numbers;
  if (most > STOPS_MOST) most = STOPS_MOST;
  if (most < STOPS_LEAST) most = STOPS_LEAST;
  uint32_t n = all < most ? all : most;
  for (uint32_t i = 0; i < n; i++)
    vec_push(s->g->arena, &s->moment,
             n > 1 ? (uint32_t)((uint64_t)i * (all - 1) / (n - 1)) : all - 1);
}

static double stop_time(const Scrub *s, uint32_t i) { return s->record->time.at[s->moment.at[i]]; }

// The last time that is at most t.
static uint32_t last_before(const double *time, uint32_t n, double t) {
  uint32_t low = 0, high = n;
  while (low + 1 < high) {
    uint32_t middle = low + (high - low) / 2;
    if (time[middle] <= t + 1e-12 * fabs(t))
      low = middle;
    else
      high = middle;
  }
  return low;
}

// -- JSON -----------------------------------------------------------------------------------------
static void put_value(JsonOut *j, double x) {
  if (isfinite(x))
    json_print(j, NULL, "%.5g", x);
  else
    json_text(j, NULL, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

typedef struct {
  const char *name;
  const double *value; // [moments] strided
  int64_t stride;
  const double *time;
  uint32_t moments;
  const char *const *label; // names of labels; or NULL
} ScrubLine;

static void put_line(Scrub *s, const ScrubLine *l) {
  json_list(&s->json, NULL);
  json_text(&s->json, NULL, l->name);
  for (uint32_t i = 0; i < s->moment.n; i++) {
    double x = l->value[last_before(l->time, l->moments, stop_time(s, i)) * l->stride];
    if (l->label && x >= 0 && x == floor(x) && x < 1e6)
      json_text(&s->json, NULL, l->label[(uint32_t)x]);
    else
      put_value(&s->json, x);
  }
  json_end(&s->json);
}

static uint32_t put_array(Scrub *s, const Shown *shown, uint32_t k, const char *suffix,
                          uint32_t lines) {
  const Array *x = &shown->value.array.at[k];
  int64_t cells = x->rank == 2 ? x->shape[1] : 1;
  bool bands = shown->view && strcmp(shown->view, "bands") == 0;
  const char *const *names = shown->name ? shown->name[k] : NULL;
  for (int64_t j = 0; j < cells && lines < LINES_MOST; j++, lines++) {
    const char *name = *x->name ? x->name : shown->text;
    if (cells > 1) name = arena_format(s->g->arena, "%s[%lld]", name, (long long)j);
    if (cells > 1 && names && !bands) name = names[j];
    if (suffix) name = suffix;
    put_line(s, &(ScrubLine){.name = name,
                             .value = x->data + j,
                             .stride = cells,
                             .time = shown->moment,
                             .moments = shown->moments,
                             .label = bands ? names : NULL});
  }
  return lines;
}

// Begins the data of a figure, and returns its number for the figure's tag.
static const char *begin_figure(Scrub *s, const char *kind) {
  json_object(&s->json, NULL);
  json_text(&s->json, "kind", kind);
  return arena_format(s->g->arena, " data-scrub=\"%u\"", s->figures++);
}

static const char *end_figure(Scrub *s, const char *tag) {
  json_end(&s->json), json_end(&s->json);
  return tag;
}

static void put_frame(JsonOut *j, const PlotCursor *at) {
  json_print(j, "frame", "[%.6g,%.6g,%.6g,%.6g]", at->x, at->y, at->w, at->h);
  json_print(j, "from", "%.17g", at->from);
  json_print(j, "to", "%.17g", at->to);
  json_bool(j, "down", at->down);
}

// -- figures --------------------------------------------------------------------------------------
static const char *matrix_figure(Scrub *s, const SimChannel *c) {
  double most = 0;
  if (c->rank != 2 || c->cells > CELLS_MOST) return "";
  const char *tag = begin_figure(s, "table");
  JsonOut *j = &s->json;
  for (uint32_t i = 0; i < c->value.n; i++)
    if (isfinite(c->value.at[i])) most = fmax(most, fabs(c->value.at[i]));
  json_print(j, "rows", "%lld", (long long)c->shape[0]);
  json_print(j, "columns", "%lld", (long long)c->shape[1]);
  json_print(j, "most", "%.5g", most);
  json_list(j, "cells");
  for (uint32_t i = 0; i < s->moment.n; i++) {
    json_list(j, NULL);
    for (int64_t k = 0; k < c->cells; k++)
      put_value(j, c->value.at[(int64_t)s->moment.at[i] * c->cells + k]);
    json_end(j);
  }
  return end_figure(s, tag);
}

const char *scrub_about(void *context, const Shown *shown, const PlotCursor *at) {
  Scrub *s = context;
  if (s->moment.n < 2) return "";
  if (s->live) return matrix_figure(s, s->live);
  bool along = at->w > 0 && at->h > 0, path = at->point && at->points == shown->moments;
  if (!along && !path) return "";
  const char *tag = begin_figure(s, path ? "path" : "time");
  if (along) put_frame(&s->json, at);
  if (path) json_list(&s->json, "points");
  for (uint32_t i = 0; i < s->moment.n && path; i++) {
    const double *x = at->point[last_before(shown->moment, shown->moments, stop_time(s, i))];
    if (isfinite(x[0]) && isfinite(x[1]))
      json_print(&s->json, NULL, "[%.5g,%.5g]", x[0], x[1]);
    else
      json_text_or_null(&s->json, NULL, NULL);
  }
  if (path) json_end(&s->json);
  json_list(&s->json, "lines");
  uint32_t lines = 0;
  for (uint32_t k = 0; !at->down && k < shown->value.array.n; k++)
    lines = put_array(s, shown, k, NULL, lines);
  return end_figure(s, tag);
}

const char *scrub_family(Scrub *s, const ShownFamily *y, const PlotCursor *at) {
  if (s->moment.n < 2 || !(at->w > 0)) return "";
  const char *tag = begin_figure(s, "time");
  put_frame(&s->json, at);
  json_list(&s->json, "lines");
  uint32_t lines = 0;
  for (uint32_t i = 0; i < y->n; i++)
    if (y->run[i].value.array.at[0].rank == 1)
      lines = put_array(s, &y->run[i], 0, y->label[i], lines);
  return end_figure(s, tag);
}

const char *scrub_wiring(Scrub *s, const RanShown *shown) {
  uint32_t n = shown->moving->moments;
  if (s->moment.n < 2 || n < 2) return "";
  const char *tag = begin_figure(s, "moving");
  json_number(&s->json, "of", n);
  json_list(&s->json, "at");
  for (uint32_t i = 0; i < s->moment.n; i++)
    json_number(&s->json, NULL, last_before(shown->moving_time, n, stop_time(s, i)));
  return end_figure(s, tag);
}

// -- the slider -----------------------------------------------------------------------------------
void scrub_begin(Scrub *s, HtmlPage *g, const Results *r, uint32_t run, const RanShows *shows) {
  *s = (Scrub){.g = g, .w = r->w, .record = &r->run.at[run].record, .data = buf_new(g->arena)};
  s->json = json_out(&s->data);
  s->json.tight = true;
  json_object(&s->json, NULL);
  json_list_lines(&s->json, "figures");
  if (s->record->time.n < 2 || !shows->n) return;
  find_stops(s, numbers_at_once(shows));
  const char *word = s->record->flows ? "time" : "tick";
  buf_printf(&g->out,
             "<p class=\"scrub\" hidden><label>%s <input type=\"range\" min=\"0\" max=\"%u\" "
             "value=\"%u\" step=\"1\"></label> <output></output></p>\n",
             word, s->moment.n - 1, s->moment.n - 1);
  if (s->moment.n < s->record->time.n)
    buf_printf(&g->out,
               "<p class=\"hint scrub\" hidden>The slider stops at %u of %u moments.</p>\n",
               s->moment.n, s->record->time.n);
}

// The data cannot close its element: signs of markup, which are in texts only, are escaped.
void scrub_end(Scrub *s) {
  if (!s->figures) return;
  json_end(&s->json);
  json_list(&s->json, "time");
  for (uint32_t i = 0; i < s->moment.n; i++) json_print(&s->json, NULL, "%.8g", stop_time(s, i));
  json_end(&s->json), json_end(&s->json);
  page_put(s->g, "<script type=\"application/json\">");
  for (const char *at = s->data.at; *at; at++)
    if (strchr("<>&", *at))
      buf_printf(&s->g->out, "\\u%04x", (unsigned)*at);
    else
      buf_char(&s->g->out, *at);
  page_put(s->g, "</script>\n");
}
