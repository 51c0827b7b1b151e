// The page of a run of machines: results of checks, the wiring, the pictures of each run, the
// program. Texts come from run.json; numbers are in memory, from the simulation or read from the
// folder.
#include "base/files.h"
#include "base/names.h"
#include "base/number.h"
#include "show/report/report_own.h"

#include <stdlib.h>

enum { HAPPENED_MOST = 100 };

typedef struct {
  HtmlPage page;
  const Results *r;
  uint32_t pictures; // number of files in DIR/shown
  Scrub *scrub;      // of the current run
} PageFolder;

// -- head -----------------------------------------------------------------------------------------
static const char *count_text(Arena *a, double n, const char *one) {
  return arena_format(a, "%s %s%s", number_text(a, n), one, n == 1 ? "" : "s");
}

static const char *claims_text(const Results *r) {
  uint32_t holds = results_count(r, true), fails = results_count(r, false);
  if (!fails)
    return arena_format(r->arena, holds == 1 ? "%u claim holds" : "%u claims hold", holds);
  if (!holds)
    return arena_format(r->arena, fails == 1 ? "%u claim fails" : "%u claims fail", fails);
  return arena_format(r->arena, "%u of %u claims fail", fails, holds + fails);
}

static void put_facts(PageFolder *f) {
  HtmlPage *g = &f->page;
  const Results *r = f->r;
  bool finished = strcmp(r->note.state, "finished") == 0, bad = results_count(r, false) > 0;
  double steps = 0;
  for (uint32_t i = 0; i < r->run.n; i++) steps += (double)r->run.at[i].record.steps;
  page_put(g, "<p class=\"facts\">");
  if (!finished) page_fact(g, " class=\"bad\"", r->note.state);
  if (bad || (finished && results_count(r, true)))
    page_fact(g, bad ? " class=\"bad\"" : " class=\"good\"", claims_text(r));
  else if (finished)
    page_fact(g, " class=\"good\"", "finished");
  if (r->run.n) page_fact(g, "", count_text(g->arena, r->run.n, "run"));
  if (steps > 0) page_fact(g, "", count_text(g->arena, steps, "step"));
  page_fact(g, "", time_text(g->arena, r->note.seconds));
  page_fact(g, "", arena_format(g->arena, "seed %.0f", r->note.seed));
  if (*g->note.set) page_fact(g, "", g->note.set);
  page_put(g, "</p>\n</header>\n");
}

static void put_why(PageFolder *f) {
  if (!f->r->note.message) return;
  page_between(&f->page, "<section>\n<h2>Error</h2>\n<pre class=\"words alarm\">",
               f->r->note.message, "</pre>\n</section>\n");
}

// -- claims ---------------------------------------------------------------------------------------
static void put_check(HtmlPage *g, const RunCheck *c, const char *of) {
  const char *class = !c->done ? "none" : c->holds ? "yes" : "no";
  const char *mark = !c->done ? "–" : c->holds ? "✓" : "✗";
  const char *words = !c->done ? "not looked at" : c->holds ? "holds" : "fails";
  buf_printf(&g->out, "<tr><td class=\"%s\" title=\"%s\">%s</td>", class, words, mark);
  if (of) page_between(g, "<td class=\"of\">", of, "</td>");
  page_between(g, "<td><code>", claim_text(g->arena, c), "</code></td><td class=\"figure\">");
  page_text(g, c->done ? c->figure : words);
  page_put(g, "</td></tr>\n");
}

// The machine is named once for consecutive checks, and not at all if there is only one.
static void put_checks(PageFolder *f) {
  HtmlPage *g = &f->page;
  const Results *r = f->r;
  bool several = false;
  if (!r->note.check.n) return;
  for (uint32_t i = 1; i < r->note.check.n; i++)
    several |= strcmp(r->note.check.at[i].of, r->note.check.at[0].of) != 0;
  page_section(g, "Claims");
  page_put(g, "<div class=\"wide\"><table class=\"claims\">\n<tbody>\n");
  for (uint32_t i = 0; i < r->note.check.n; i++) {
    const char *of = r->note.check.at[i].of;
    bool again = i && strcmp(of, r->note.check.at[i - 1].of) == 0;
    put_check(g, &r->note.check.at[i], !several ? NULL : again ? "" : of);
  }
  page_put(g, "</tbody></table></div>\n</section>\n");
}

// -- the wiring -----------------------------------------------------------------------------------
typedef VEC(const System *) Systems;

static void add_system(const PageFolder *f, const System *s, Systems *to) {
  for (uint32_t i = 0; s && i < to->n; i++)
    if (to->at[i]->name == s->name) return;
  if (s) vec_push(f->r->arena, to, s);
}

static void put_system(PageFolder *f, const System *s) {
  Canvas *c = wiring_draw(f->r->w, f->page.arena, s, &(WiringOptions){0});
  if (c) page_figure(&f->page, c, name_text(f->r->w->names, s->name));
}

// Every system that is run, with its source; without runs, the systems of checks.
static void put_systems(PageFolder *f) {
  const Machines *ran = f->r->p->ran;
  Systems all = {0};
  for (uint32_t i = 0; i < f->r->run.n; i++) {
    const System *s = f->r->run.at[i].system, *on = f->r->run.at[i].on;
    const System *both = on ? system_driven(f->r->w, f->r->arena, s, on) : NULL;
    add_system(f, both, &all);
    if (!both || !s->wiring) add_system(f, s, &all);
    if (!both || !(on && on->wiring)) add_system(f, on, &all);
  }
  for (uint32_t i = 0; !f->r->run.n && i < ran->check.n; i++)
    add_system(f, ran->check.at[i].system, &all);
  if (!all.n) return;
  page_section(&f->page, all.n > 1 ? "Machines" : all.at[0]->wiring ? "Wiring" : "Machine");
  for (uint32_t i = 0; i < all.n; i++) put_system(f, all.at[i]);
  page_put(&f->page, "</section>\n");
}

// -- a run ----------------------------------------------------------------------------------------
static void put_link(HtmlPage *g, const char *file) {
  if (!path_exists(page_path(g, file))) return;
  page_between(g, "<span><a href=\"", file, "\">");
  page_text(g, file);
  page_put(g, "</a></span>");
}

static void put_run_facts(HtmlPage *g, const SimResult *run) {
  const SimRecord *record = &run->record;
  const char *end = "";
  if (record->time.n) end = number_text(g->arena, record->time.at[record->time.n - 1]);
  page_put(g, "<p class=\"facts\">");
  if (!run->done && !run->failed) page_fact(g, " class=\"bad\"", "not begun");
  if (run->failed)
    page_fact(
        g, " class=\"bad\"",
        *end ? arena_format(g->arena, "failed after %s %s", record->flows ? "time" : "tick", end)
             : "failed");
  if (run->stopped) {
    if (record->reached > 0) end = number_text(g->arena, record->reached);
    page_fact(g, " class=\"bad\"",
              arena_format(g->arena, "stopped at %s %s", record->flows ? "time" : "tick", end));
  }
  if (run->done) {
    if (record->steps)
      page_fact(g, "",
                count_text(g->arena, (double)record->steps, record->flows ? "step" : "tick"));
    if (run->seconds >= 0.1) page_fact(g, "", time_text(g->arena, run->seconds));
    if (record->flows || record->time.n < record->steps)
      page_fact(g, "", count_text(g->arena, record->time.n, "moment"));
    put_link(g, arena_format(g->arena, "%s.csv", run->file));
    put_link(g, arena_format(g->arena, "%s.safetensors", run->file));
  }
  page_put(g, "</p>\n");
}

// The width of a finished SVG.
static double svg_width(const Buf *svg) {
  const char *at = strstr(svg->at, " width=\"");
  double width = at ? number_read(at + strlen(" width=\""), NULL) : 0;
  return width > 0 ? width : 320;
}

// Warns if a picture has far fewer moments than there were steps.
static void put_hint(HtmlPage *g, const SimResult *run) {
  const SimRecord *r = &run->record;
  if (!r->flows || r->time.n < 2 || r->steps < 10 * (uint64_t)r->time.n) return;
  double apart = (r->time.at[r->time.n - 1] - r->time.at[0]) / (r->time.n - 1);
  buf_printf(&g->out,
             "<p class=\"hint\">Moments are %s apart; <code>every %s</code> at the end of "
             "<code>run</code> keeps ten times as many.</p>\n",
             number_text(g->arena, apart), number_text(g->arena, apart / 10));
}

static bool put_wiring(PageFolder *f, const RanShown *s) {
  HtmlPage *g = &f->page;
  Buf moving = buf_new(g->arena);
  Canvas *strip = wiring_strip_draw(g->arena, s->strip);
  wiring_animated(g->arena, s->moving, &(Look){0}, &moving);
  const char *moves = arena_format(g->arena, "%s over time", s->shown.text);
  page_put(g, "<figure>\n");
  page_caption(g, s->shown.text, s->shown.view);
  page_picture(g, strip, s->shown.text);
  page_put(g, "</figure>\n<figure");
  page_put(g, scrub_wiring(f->scrub, s));
  page_put(g, ">\n");
  page_caption(g, moves, NULL);
  page_svg(g, &moving, svg_width(&moving), moves);
  page_put(g, "</figure>\n");
  return page_save(g, strip, ++f->pictures, s->shown.text) &&
         page_save_svg(g, &moving, ++f->pictures, moves);
}

static bool put_one(PageFolder *f, const RanShown *s) {
  HtmlPage *g = &f->page;
  if (s->strip) return put_wiring(f, s);
  if (!s->why && s->live) {
    f->scrub->live = s->live;
    bool put = page_shown(g, ++f->pictures, &s->shown, scrub_about, f->scrub);
    f->scrub->live = NULL;
    return put;
  }
  if (!s->why) return page_shown(g, ++f->pictures, &s->shown, scrub_about, f->scrub);
  page_put(g, "<figure>\n");
  page_caption(g, s->shown.text, s->shown.view);
  page_alarm(g, s->why);
  page_put(g, "</figure>\n");
  return true;
}

static void put_happened(HtmlPage *g, const SimResult *run) {
  const SimRecord *record = &run->record;
  uint32_t n = record->events_logged.n, most = n > HAPPENED_MOST ? HAPPENED_MOST : n;
  int digits = 8;
  if (!n) return;
  for (double t = record->events_logged.at[most - 1].time; t >= 10 && digits > 0; t /= 10) digits--;
  buf_printf(&g->out, "<details>\n<summary>%u %s happened</summary>\n", n,
             n == 1 ? "thing" : "things");
  page_put(g, "<div class=\"wide\"><table>\n<thead><tr><th class=\"n\" scope=\"col\">time</th>"
              "<th scope=\"col\">part</th><th scope=\"col\">what</th></tr></thead>\n<tbody>\n");
  for (uint32_t i = 0; i < most; i++) {
    const LoggedEvent *h = &record->events_logged.at[i];
    buf_printf(&g->out, "<tr><td class=\"n time\">%.*f</td><td>", digits, h->time);
    page_text(g, *h->path ? h->path : run->name);
    page_between(g, "</td><td>", h->what, "</td></tr>\n");
  }
  page_put(g, "</tbody></table></div>\n");
  if (n > most) {
    buf_printf(&g->out, "<p class=\"facts\">and %u more, in ", n - most);
    put_link(g, arena_format(g->arena, "%s.happened.csv", run->file));
    page_put(g, "</p>\n");
  }
  page_put(g, "</details>\n");
}

static bool put_run(PageFolder *f, uint32_t i) {
  HtmlPage *g = &f->page;
  const SimResult *run = &f->r->run.at[i];
  RanShows shows = {0};
  page_between(g, "<section>\n<h2>", run->name, " <small>");
  page_text(g, run->words);
  page_put(g, "</small></h2>\n");
  put_run_facts(g, run);
  put_hint(g, run);
  ran_shows(f->r, i, &shows);
  Scrub scrub;
  scrub_begin(&scrub, g, f->r, i, &shows);
  f->scrub = &scrub;
  for (uint32_t k = 0; k < shows.n; k++)
    if (!put_one(f, &shows.at[k])) return false;
  scrub_end(&scrub);
  put_happened(g, run);
  page_put(g, "</section>\n");
  return true;
}

// -- runs of a loop -------------------------------------------------------------------------------
// The runs of one `run` statement, in order.
static Ids family_of(const PageFolder *f, uint32_t i) {
  Ids out = {0};
  for (uint32_t k = 0; k < f->r->run.n; k++)
    if (f->r->run.at[k].family == f->r->run.at[i].family) vec_push(f->r->arena, &out, k);
  return out;
}

static const char *label_of(const PageFolder *f, uint32_t run) { return f->r->run.at[run].turn; }

static void put_family_facts(PageFolder *f, const Ids *family) {
  HtmlPage *g = &f->page;
  page_put(g, "<details>\n<summary>");
  buf_printf(&g->out, "%u runs</summary>\n", family->n);
  for (uint32_t i = 0; i < family->n; i++) {
    page_between(g, "<p class=\"facts\"><span>", label_of(f, family->at[i]), "</span></p>\n");
    put_run_facts(g, &f->r->run.at[family->at[i]]);
  }
  page_put(g, "</details>\n");
}

// The same quantity of every run, one array of it (-1: all), for runs that have it.
static ShownFamily gather_family(PageFolder *f, const Ids *family, const RanShows *shows,
                                 const Shown *like, int array) {
  Arena *a = f->r->arena;
  Shown *run = NEW_ARRAY(a, Shown, family->n + 1);
  const char **label = NEW_ARRAY(a, const char *, family->n + 1);
  ShownFamily out = {.run = run, .label = label};
  for (uint32_t i = 0; i < family->n; i++)
    for (uint32_t k = 0; k < shows[i].n; k++) {
      const Shown *s = &shows[i].at[k].shown;
      bool same = !shows[i].at[k].why && s->view && !strcmp(s->view, like->view) &&
                  !strcmp(s->text, like->text) && s->value.array.n == like->value.array.n;
      if (!same) continue;
      run[out.n] = *s;
      if (array >= 0) {
        run[out.n].value.array.at = &s->value.array.at[array], run[out.n].value.array.n = 1;
        run[out.n].text = s->value.array.at[array].name;
        run[out.n].held = s->held ? s->held + array : NULL;
      }
      label[out.n++] = label_of(f, family->at[i]);
      break;
    }
  return out;
}

static bool put_family_picture(PageFolder *f, const ShownFamily *y) {
  HtmlPage *g = &f->page;
  const char *why = "", *text = y->run[0].text;
  PlotCursor cursor = {0};
  Canvas *c = plot_family(g->arena, y, &cursor, &why);
  page_put(g, "<figure");
  if (c) page_put(g, scrub_family(f->scrub, y, &cursor));
  page_put(g, ">\n");
  page_caption(g, text, y->run[0].view);
  if (c && !page_save(g, c, ++f->pictures, text)) return false;
  if (c)
    page_picture(g, c, text);
  else
    page_alarm(g, why);
  page_put(g, "</figure>\n");
  return true;
}

// Views of a single run: one picture per run, if there are few.
static bool put_each(PageFolder *f, const Ids *family, const RanShows *shows) {
  enum { EACH_MOST = 12 };
  HtmlPage *g = &f->page;
  uint32_t put = 0, left = 0;
  for (uint32_t i = 0; i < family->n; i++)
    for (uint32_t k = 0; k < shows[i].n; k++) {
      RanShown one = shows[i].at[k];
      if (is_drawn_together(&one)) continue;
      if (put == EACH_MOST) {
        left++;
        continue;
      }
      put++;
      one.shown.text = arena_format(g->arena, "%s, %s", one.shown.text, label_of(f, family->at[i]));
      if (!put_one(f, &one)) return false;
    }
  if (left)
    buf_printf(&g->out, "<p class=\"hint\">%u more pictures of single runs are left out.</p>\n",
               left);
  return true;
}

static bool put_family(PageFolder *f, const Ids *family) {
  HtmlPage *g = &f->page;
  RanShows *shows = NEW_ARRAY(f->r->arena, RanShows, family->n + 1);
  page_between(g, "<section>\n<h2>", f->r->run.at[family->at[0]].base, " <small>");
  page_text(g, label_of(f, family->at[0]));
  page_put(g, " … ");
  page_text(g, label_of(f, family->at[family->n - 1]));
  page_put(g, "</small></h2>\n");
  put_family_facts(f, family);
  for (uint32_t i = 0; i < family->n; i++) ran_shows(f->r, family->at[i], &shows[i]);
  Scrub scrub;
  scrub_begin(&scrub, g, f->r, family->at[0], &shows[0]);
  f->scrub = &scrub;
  for (uint32_t k = 0; k < shows[0].n; k++) {
    const RanShown *s = &shows[0].at[k];
    if (!is_drawn_together(s)) continue;
    bool phase = strcmp(s->shown.view, "phase") == 0;
    for (uint32_t j = 0; j < (phase ? 1 : s->shown.value.array.n); j++) {
      ShownFamily y = gather_family(f, family, shows, &s->shown, phase ? -1 : (int)j);
      if (!put_family_picture(f, &y)) return false;
    }
  }
  bool each = put_each(f, family, shows);
  scrub_end(&scrub);
  page_put(g, "</section>\n");
  return each;
}

static bool put_runs(PageFolder *f) {
  for (uint32_t i = 0; i < f->r->run.n; i++) {
    Ids family = family_of(f, i);
    if (family.at[0] != i) continue;
    if (family.n > 1 ? !put_family(f, &family) : !put_run(f, i)) return false;
  }
  return true;
}

bool machines_page(Results *r, const char **error) {
  PageFolder f = {.r = r};
  f.page = (HtmlPage){.arena = r->arena, .dir = r->dir, .error = error, .out = buf_new(r->arena)};
  if (!page_open(&f.page)) return false;
  page_head(&f.page);
  put_facts(&f);
  put_why(&f);
  put_checks(&f);
  put_systems(&f);
  if (!put_runs(&f)) return false;
  page_program(&f.page);
  page_facts(&f.page);
  page_put(&f.page, "<script>\n");
  page_put(&f.page, report_script);
  page_put(&f.page, "</script>\n");
  for (uint32_t i = 0; i < f.page.alarm.n; i++) vec_push(r->arena, &r->unshown, f.page.alarm.at[i]);
  return page_write(&f.page);
}
