// A run folder as one page that a colleague can open: report.html, which needs nothing else.
//
// What comes in is the folder (run.json, metrics.csv, program.limn) and what was shown; out come
// the page and each picture as a file of its own. Results stand first, then pictures, curves,
// goals, the program and the facts. A picture that cannot be made leaves its reason in its place:
// the rest of the page is as good as before. Every file is whole or absent.
#include "view/report.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

enum { TEXT_MOST = 1 << 24, NAME_MOST = 40, FACT_MOST = 2000 };

typedef struct {
  Arena *arena;
  const Report *r;
  const char **error;
  const Json *run;
  Metrics metrics;
  Buf out;
} Page;

static void put(Page *g, const char *html) { buf_text(&g->out, html); }
static void put_text(Page *g, const char *text) { html_text(&g->out, text, strlen(text)); }

static const char *in_dir(Page *g, const char *name) {
  return arena_format(g->arena, "%s/%s", g->r->dir, name);
}

static void put_section(Page *g, const char *title) {
  buf_printf(&g->out, "<section>\n<h2>%s</h2>\n", title);
}

// -- run.json -------------------------------------------------------------------------------------
static const char *fact_text(const Page *g, const char *key) {
  const Json *j = json_get(g->run, key);
  return j && j->kind == JSON_TEXT ? j->text : NULL;
}

static bool fact_number(const Page *g, const char *key, double *out) {
  const Json *j = json_get(g->run, key);
  if (!j || j->kind != JSON_NUMBER) return false;
  *out = j->number;
  return true;
}

static bool read_run(Page *g) {
  const char *path = in_dir(g, "run.json"), *why;
  FileText file = file_read(g->arena, path, TEXT_MOST);
  if (!file.text)
    return file_error(g->arena, g->error, "%s is no run folder: cannot read %s: %s", g->r->dir,
                      path, file.error);
  g->run = json_read(g->arena, file.text, file.n, &why);
  if (!g->run) return file_error(g->arena, g->error, "%s: %s", path, why);
  if (g->run->kind == JSON_OBJECT) return true;
  return file_error(g->arena, g->error, "%s: found no object, wanted one", path);
}

static bool read_metrics(Page *g) {
  const char *path = in_dir(g, "metrics.csv");
  if (!path_exists(path)) return true;
  return metrics_read(g->arena, path, g->run, &g->metrics, g->error);
}

// gan of examples/gan.limn
static const char *program_name(Page *g) {
  const char *path = fact_text(g, "program");
  if (!path || !*path) path = g->r->dir;
  const char *slash = strrchr(path, '/'), *base = slash && slash[1] ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  return dot && dot > base ? arena_text(g->arena, base, (size_t)(dot - base)) : base;
}

// -- head -----------------------------------------------------------------------------------------
static void put_fact(Page *g, const char *class, const char *text) {
  buf_printf(&g->out, "<span%s>", class);
  put_text(g, text);
  put(g, "</span>");
}

static void put_facts(Page *g) {
  const char *state = fact_text(g, "state"), *set = fact_text(g, "set");
  double x;
  put(g, "<p class=\"facts\">");
  if (state)
    put_fact(g, strcmp(state, "finished") == 0 ? " class=\"good\"" : " class=\"bad\"", state);
  if (fact_number(g, "steps", &x))
    put_fact(g, "", arena_format(g->arena, "%.0f step%s", x, x == 1 ? "" : "s"));
  if (fact_number(g, "seconds", &x)) put_fact(g, "", time_text(g->arena, x));
  if (fact_number(g, "seed", &x)) put_fact(g, "", arena_format(g->arena, "seed %.0f", x));
  if (set && *set) put_fact(g, "", set);
  put(g, "</p>\n");
}

static void put_head(Page *g) {
  const char *name = program_name(g);
  put(g, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>");
  put_text(g, name);
  put(g, "</title>\n<style>\n");
  put(g, report_style);
  put(g, "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>");
  put_text(g, name);
  put(g, "</h1>\n");
  put_facts(g);
  put(g, "</header>\n");
}

// -- results --------------------------------------------------------------------------------------
static uint32_t count_curves(const Page *g, bool measures) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->metrics.curves; i++)
    n += g->metrics.curve[i].n && g->metrics.curve[i].measure == measures;
  return n;
}

static void put_number_cell(Page *g, const char *class, double x) {
  buf_printf(&g->out, "<td class=\"%s\">%s</td>", class, number_text(g->arena, x));
}

static void put_measure(Page *g, const Curve *c) {
  int64_t best = curve_best(c);
  put(g, "<tr><th scope=\"row\">");
  put_text(g, c->name);
  if (*c->on) {
    put(g, " <small>on ");
    put_text(g, c->on);
    put(g, "</small>");
  }
  put(g, "</th>");
  put_number_cell(g, "n", c->value[c->n - 1]);
  if (best < 0) {
    put(g, "<td class=\"n none\">none</td><td class=\"n\"></td></tr>\n");
    return;
  }
  put_number_cell(g, "n best", c->value[best]);
  put_number_cell(g, "n", c->step[best]);
  put(g, "</tr>\n");
}

static void put_goal(Page *g, const Curve *c) {
  put(g, "<tr><th scope=\"row\">");
  put_text(g, c->name);
  put(g, "</th>");
  put_number_cell(g, "n", c->value[0]);
  put_number_cell(g, "n best", c->value[c->n - 1]);
  put(g, "</tr>\n");
}

// Measures, or where a program has none, what its goals came to.
static void put_results(Page *g) {
  bool measures = count_curves(g, true) > 0;
  if (!measures && !count_curves(g, false)) return;
  put_section(g, "Results");
  put(g, "<div class=\"wide\"><table>\n<thead><tr>");
  put(g, measures
             ? "<th scope=\"col\">measure</th><th class=\"n\" scope=\"col\">last</th>"
               "<th class=\"n\" scope=\"col\">best</th><th class=\"n\" scope=\"col\">at step</th>"
             : "<th scope=\"col\">goal</th><th class=\"n\" scope=\"col\">first</th>"
               "<th class=\"n\" scope=\"col\">last</th>");
  put(g, "</tr></thead>\n<tbody>\n");
  for (uint32_t i = 0; i < g->metrics.curves; i++) {
    const Curve *c = &g->metrics.curve[i];
    if (!c->n || c->measure != measures) continue;
    if (measures)
      put_measure(g, c);
    else
      put_goal(g, c);
  }
  put(g, "</tbody></table></div>\n</section>\n");
}

// -- pictures -------------------------------------------------------------------------------------
// On a small screen a picture shrinks until its texts are as small as they may be, then it scrolls.
static void put_picture(Page *g, Canvas *c, const char *label) {
  Buf svg = buf_new(g->arena);
  canvas_svg(c, &(Look){0}, &svg);
  double w = canvas_width(c);
  put(g, "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"");
  put_text(g, label);
  put(g, "\">\n<svg style=\"");
  buf_printf(&g->out, "width:100%%;max-width:%.0fpx;min-width:%.0fpx\"", ceil(w),
             floor(w <= 520 ? fmin(w, 340) : 0.75 * w));
  put(g, svg.at + strlen("<svg"));
  put(g, "</div>\n");
}

static const char *slug(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (; *text && b.n < NAME_MOST; text++) {
    bool word = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                (*text >= '0' && *text <= '9') || *text == '_';
    if (word)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != '-')
      buf_char(&b, '-');
  }
  while (b.n && b.at[b.n - 1] == '-') b.at[--b.n] = 0;
  return b.n ? b.at : "picture";
}

static bool write_picture(Page *g, Canvas *c, uint32_t number, const char *text) {
  const char *base =
      arena_format(g->arena, "%s/shown/%02u-%s", g->r->dir, number, slug(g->arena, text));
  return canvas_write(c, arena_format(g->arena, "%s.svg", base), &(Look){0}, g->error) &&
         canvas_write(c, arena_format(g->arena, "%s.png", base), &(Look){0}, g->error);
}

static void put_caption(Page *g, const Shown *s) {
  put(g, "<figcaption><code>");
  put_text(g, s->text);
  put(g, "</code>");
  if (s->view) {
    put(g, " as ");
    put_text(g, s->view);
  }
  put(g, "</figcaption>\n");
}

static bool put_shown(Page *g, uint32_t i) {
  const Shown *s = &g->r->shown->at[i];
  const char *why;
  Canvas *c = plot_shown(g->arena, s, &why);
  put(g, "<figure>\n");
  put_caption(g, s);
  if (c && !write_picture(g, c, i + 1, s->text)) return false;
  const char *words = c ? plot_words(g->arena, s) : NULL;
  if (words) {
    put(g, "<pre class=\"words\">");
    put_text(g, words);
    put(g, "</pre>\n");
  } else if (c) {
    put_picture(g, c, s->text);
  } else {
    put(g, "<p class=\"alarm\">");
    put_text(g, why);
    put(g, "</p>\n");
  }
  put(g, "</figure>\n");
  return true;
}

static bool put_all_shown(Page *g) {
  if (!g->r->shown || !g->r->shown->n) return true;
  const char *dir = in_dir(g, "shown");
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return file_error(g->arena, g->error, "cannot make the folder %s: %s", dir, strerror(errno));
  put_section(g, "Shown");
  for (uint32_t i = 0; i < g->r->shown->n; i++)
    if (!put_shown(g, i)) return false;
  put(g, "</section>\n");
  return true;
}

static void put_curves(Page *g) {
  for (int measures = 0; measures < 2; measures++) {
    Canvas *c = plot_metrics(g->arena, &g->metrics, measures);
    if (!c) continue;
    put_section(g, measures ? "Measures while training" : "Goals while training");
    put(g, "<figure>\n");
    if (measures) put(g, "<figcaption>A ring marks the best.</figcaption>\n");
    put_picture(g, c, measures ? "Measures while training" : "Goals while training");
    put(g, "</figure>\n</section>\n");
  }
}

static void put_goals(Page *g) {
  if (!g->r->goals && !g->r->who) return;
  put_section(g, "Goals");
  if (g->r->goals) {
    put(g, "<figure>\n");
    put_picture(g, g->r->goals, "Goals");
    put(g, "</figure>\n");
  }
  if (g->r->who) html_who(&g->out, g->r->who);
  put(g, "</section>\n");
}

// -- program and facts ----------------------------------------------------------------------------
static void put_program(Page *g) {
  FileText file = file_read(g->arena, in_dir(g, "program.limn"), TEXT_MOST);
  if (!file.text) return;
  put_section(g, "Program");
  put(g, "<pre tabindex=\"0\"><code>");
  html_program(&g->out, file.text, file.n);
  put(g, "</code></pre>\n</section>\n");
}

static void put_value(Page *g, const Json *j) {
  switch (j->kind) {
  case JSON_TEXT: html_text(&g->out, j->text, j->n < FACT_MOST ? j->n : FACT_MOST); break;
  case JSON_NUMBER: buf_number(&g->out, j->number); break;
  case JSON_TRUE: put(g, "yes"); break;
  case JSON_FALSE: put(g, "no"); break;
  default: break;
  }
}

// Lists and empty texts say nothing here.
static void put_run(Page *g) {
  const Json *key = json_first(g->run);
  put_section(g, "Run");
  put(g, "<dl>\n");
  for (uint32_t i = 0; i < g->run->n; i++, key = json_next(key + 1)) {
    const Json *value = key + 1;
    bool nothing = value->kind == JSON_NULL || value->kind >= JSON_LIST ||
                   (value->kind == JSON_TEXT && !value->n);
    if (nothing) continue;
    put(g, "<dt>");
    html_text(&g->out, key->text, key->n);
    put(g, "</dt><dd>");
    put_value(g, value);
    put(g, "</dd>\n");
  }
  put(g, "</dl>\n</section>\n");
}

bool report_write(Arena *a, const Report *r, const char **error) {
  Page g = {.arena = a, .r = r, .error = error, .out = buf_new(a)};
  if (!read_run(&g) || !read_metrics(&g)) return false;
  put_head(&g);
  put_results(&g);
  if (!put_all_shown(&g)) return false;
  put_curves(&g);
  put_goals(&g);
  put_program(&g);
  put_run(&g);
  put(&g, "<footer>Made by limn.</footer>\n</main>\n</body>\n</html>\n");
  const char *path = in_dir(&g, "report.html"), *why = file_write(a, path, g.out.at, g.out.n);
  return !why || file_error(a, error, "cannot write %s: %s", path, why);
}
