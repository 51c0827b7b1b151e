// The report of a run folder: report.html, a self-contained page.
//
// Input: the folder (run.json, metrics.csv, program.limn) and the shows; output: the page, and each
// picture as a file. Order: results, pictures, curves, goals, the program, facts. If a picture
// fails, its reason is shown instead. Files are written atomically.
#include "base/files.h"
#include "show/report/report_own.h"

static bool read_metrics(HtmlPage *g, Metrics *out) {
  const char *path = page_path(g, "metrics.csv");
  if (!path_exists(path)) return true;
  return metrics_read(g->arena, path, &g->note, out, g->error);
}

// -- head -----------------------------------------------------------------------------------------
static void put_facts(HtmlPage *g) {
  const RunNote *n = &g->note;
  double x;
  page_put(g, "<p class=\"facts\">");
  if (*n->state)
    page_fact(g, strcmp(n->state, "finished") == 0 ? " class=\"good\"" : " class=\"bad\"",
              n->state);
  if (note_number(n, "steps", &x))
    page_fact(g, "", arena_format(g->arena, "%.0f step%s", x, x == 1 ? "" : "s"));
  if (note_number(n, "seconds", &x)) page_fact(g, "", time_text(g->arena, x));
  if (note_number(n, "seed", &x)) page_fact(g, "", arena_format(g->arena, "seed %.0f", x));
  if (n->device_is && n->precision)
    page_fact(g, "", arena_format(g->arena, "on %s, %s", n->device_is, n->precision));
  if (*n->set) page_fact(g, "", n->set);
  for (uint32_t i = 0; i < n->change.n; i++)
    page_fact(g, "", change_text(g->arena, &n->change.at[i]));
  page_put(g, "</p>\n");
}

// -- results --------------------------------------------------------------------------------------
static uint32_t count_curves(const Metrics *m, bool measures) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->curves; i++) n += m->curve[i].n && m->curve[i].measure == measures;
  return n;
}

static void put_number_cell(HtmlPage *g, const char *class, double x) {
  buf_printf(&g->out, "<td class=\"%s\">%s</td>", class, number_text(g->arena, x));
}

static void put_measure(HtmlPage *g, const Curve *c) {
  int64_t best = c->judged ? best_of(c->value, c->n, 1, c->up) : -1;
  page_put(g, "<tr><th scope=\"row\">");
  page_text(g, c->name);
  if (*c->on) page_between(g, " <small>on ", c->on, "</small>");
  page_put(g, "</th>");
  put_number_cell(g, "n", c->value[c->n - 1]);
  if (best < 0) {
    page_put(g, "<td class=\"n none\">none</td><td class=\"n\"></td></tr>\n");
    return;
  }
  put_number_cell(g, "n best", c->value[best]);
  put_number_cell(g, "n", c->step[best]);
  page_put(g, "</tr>\n");
}

static void put_goal(HtmlPage *g, const Curve *c) {
  page_between(g, "<tr><th scope=\"row\">", c->name, "</th>");
  put_number_cell(g, "n", c->value[0]);
  put_number_cell(g, "n best", c->value[c->n - 1]);
  page_put(g, "</tr>\n");
}

// Measures; without any, the final losses.
static void put_results(HtmlPage *g, const Metrics *m) {
  bool measures = count_curves(m, true) > 0;
  if (!measures && !count_curves(m, false)) return;
  page_section(g, "Results");
  page_put(g, "<div class=\"wide\"><table>\n<thead><tr>");
  page_put(g,
           measures
               ? "<th scope=\"col\">measure</th><th class=\"n\" scope=\"col\">last</th>"
                 "<th class=\"n\" scope=\"col\">best</th><th class=\"n\" scope=\"col\">at step</th>"
               : "<th scope=\"col\">goal</th><th class=\"n\" scope=\"col\">first</th>"
                 "<th class=\"n\" scope=\"col\">last</th>");
  page_put(g, "</tr></thead>\n<tbody>\n");
  for (uint32_t i = 0; i < m->curves; i++) {
    const Curve *c = &m->curve[i];
    if (!c->n || c->measure != measures) continue;
    if (measures)
      put_measure(g, c);
    else
      put_goal(g, c);
  }
  page_put(g, "</tbody></table></div>\n</section>\n");
}

// -- pictures -------------------------------------------------------------------------------------
static bool put_all_shown(HtmlPage *g, const Shows *shown) {
  if (!shown || !shown->n) return true;
  page_section(g, "Shown");
  for (uint32_t i = 0; i < shown->n; i++)
    if (!page_shown(g, i + 1, &shown->at[i], NULL, NULL)) return false;
  page_put(g, "</section>\n");
  return true;
}

static void put_curves(HtmlPage *g, const Metrics *m) {
  for (int measures = 0; measures < 2; measures++) {
    Canvas *c = plot_metrics(g->arena, m, measures);
    if (!c) continue;
    page_section(g, measures ? "Measures while training" : "Goals while training");
    page_put(g, "<figure>\n");
    if (measures) page_put(g, "<figcaption>A ring marks the best.</figcaption>\n");
    page_picture(g, c, measures ? "Measures while training" : "Goals while training");
    page_put(g, "</figure>\n</section>\n");
  }
}

static void put_goals(HtmlPage *g, const Report *r) {
  if (!r->goals && !r->who) return;
  page_section(g, "Goals");
  if (r->goals) page_figure(g, r->goals, "Goals");
  if (r->who) html_who(&g->out, r->who);
  page_put(g, "</section>\n");
}

bool report_write(Arena *a, const Report *r, const char **error) {
  HtmlPage g = {.arena = a, .dir = r->dir, .error = error, .out = buf_new(a)};
  Metrics metrics = {0};
  if (!page_open(&g) || !read_metrics(&g, &metrics)) return false;
  page_head(&g);
  put_facts(&g);
  page_put(&g, "</header>\n");
  put_results(&g, &metrics);
  if (!put_all_shown(&g, r->shown)) return false;
  put_curves(&g, &metrics);
  put_goals(&g, r);
  page_program(&g);
  page_facts(&g);
  return page_write(&g);
}
