// The complete picture of a difference: key, schemes of learners and goals, then statements,
// weights and curves.
#include "base/table.h"
#include "show/diff/picture_own.h"
#include "show/report/plot.h"
#include "show/report/report.h"

#include <math.h>

enum {
  EDGE = 16,
  LINE_WIDTH = 940,
  LINE = 17,
  TITLE = 14,
  WORDS = 12,
  BAR = 220,
  INSIDE_MOST = 16
};

typedef struct {
  Arena *arena;
  Canvas *c;
  const DiffAnswer *d;
  double y, width;
  Table *shown;     // bodies drawn so far
  uint32_t insides; // their number
  bool large;       // there are more than can be drawn
} Drawing;

static void widen_to(Drawing *g, double width) { g->width = fmax(g->width, width); }

static double put_words(Drawing *g, double x, const Text *how, const char *words) {
  words_draw(g->c, "label", x, g->y, how, words);
  double w = text_width(how->face, how->size, words);
  widen_to(g, x + w);
  return x + w;
}

static void title(Drawing *g, const char *words) {
  g->y += 26;
  put_words(g, EDGE, &(Text){.face = FACE_SANS_BOLD, .size = TITLE, .ink = INK_TEXT}, words);
  g->y += 12;
}

// -- the key --------------------------------------------------------------------------------------
static double key_box(Drawing *g, double x, uint8_t sides, bool changed, const char *words) {
  Unit u = unit_card(g->arena, &(DiffUnit){.sides = sides, .changed = changed, .words = words});
  u.width = 30, u.height = 18;
  card_paint(g->c, &u, x, g->y - 13);
  Text how = {.size = WORDS, .ink = sides == SIDE_BOTH ? INK_TEXT : side_ink(sides)};
  return put_words(g, x + 38, &how, words) + 26;
}

static void key(Drawing *g) {
  double x = EDGE;
  g->y = EDGE + 14;
  x = key_box(g, x, SIDE_FIRST, false, arena_format(g->arena, "− only %s", g->d->a));
  x = key_box(g, x, SIDE_SECOND, false, arena_format(g->arena, "+ only %s", g->d->b));
  x = key_box(g, x, SIDE_BOTH, true, "old → new");
  key_box(g, x, SIDE_BOTH, false, "the same");
  g->y += 10;
}

// -- bodies ---------------------------------------------------------------------------------------
typedef struct {
  const DiffAnswer *d;
  const char *learner;
} FarOf;

// The relative difference of all weights of a box.
static double far_of(const void *context, const char *box) {
  const FarOf *f = context;
  double far = 0, length = 0;
  size_t n = strlen(f->learner), k = strlen(box);
  for (uint32_t i = 0; i < f->d->weight.n; i++) {
    const DiffWeight *w = &f->d->weight.at[i];
    const char *name = w->name[0];
    if (!name || !w->name[1] || strncmp(name, f->learner, n) != 0 || name[n] != '/') continue;
    if (strncmp(name + n + 1, box, k) != 0 || (name[n + 1 + k] && name[n + 1 + k] != '/')) continue;
    if (w->mark != DIFF_CHANGED || w->array[0]->count != w->array[1]->count) continue;
    for (int64_t j = 0; j < w->array[0]->count; j++) {
      double x = w->array[0]->data[j], off = x - w->array[1]->data[j];
      far += off * off, length += x * x;
    }
  }
  return far > 0 && length > 0 ? sqrt(far / length) : far > 0 ? INFINITY : -1;
}

static void body_draw(Drawing *g, const DiffBody *body, const char *name, const DiffDistances *far);

// Draws the bodies of changed boxes; equally changed ones once.
static void draw_insides(Drawing *g, const DiffBody *body, const char *name) {
  for (uint32_t i = 0; i < body->box.n; i++) {
    const DiffBox *box = &body->box.at[i];
    if (!box->inside) continue;
    uint64_t pair[2] = {box->a->hash, box->b->hash};
    if (table_get(g->shown, pair, sizeof pair) || g->insides >= INSIDE_MOST) continue;
    table_put(g->shown, pair, sizeof pair, 1);
    g->insides++;
    const char *inside = arena_format(g->arena, "%s / %s", name, box->a->name);
    title(g, inside);
    body_draw(g, box->inside, inside, NULL);
  }
}

// A learner without boxes is a single weight.
static void weight_draw(Drawing *g, const DiffBody *body) {
  const OutlineWeight *x = body->a->weight.n ? &body->a->weight.at[0] : NULL;
  const OutlineWeight *y = body->b->weight.n ? &body->b->weight.at[0] : NULL;
  if (!x && !y) return;
  DiffUnit u = {.sides = (uint8_t)((x ? SIDE_FIRST : 0) | (y ? SIDE_SECOND : 0)),
                .changed = body->otherwise != NULL};
  u.line[0] = "weight";
  u.line[1] = diff_change(g->arena, x ? x->type : NULL, y ? y->type : NULL, "→");
  u.words = arena_format(g->arena, "weight, %s", u.line[1]);
  Unit card = unit_card(g->arena, &u);
  card_paint(g->c, &card, EDGE, g->y);
  g->y += card.height;
  widen_to(g, EDGE + card.width);
}

static void boxes_draw(Drawing *g, const DiffBody *body, const char *name,
                       const DiffDistances *far) {
  DiffScheme s = scheme_of(g->arena, body, far);
  uint32_t units = 0;
  for (uint32_t i = 0; i < s.unit.n; i++) units += !s.unit.at[i].stands;
  if (units > DIFF_UNITS_MOST) {
    g->large = true;
    return;
  }
  Panel p = scheme_panel(&s);
  canvas_open(g->c, name, "", arena_format(g->arena, "what has become of %s", name));
  panel_paint(g->c, &p, EDGE, g->y, "");
  canvas_close(g->c);
  g->y += p.height;
  widen_to(g, EDGE + p.width);
}

static void body_draw(Drawing *g, const DiffBody *body, const char *name,
                      const DiffDistances *far) {
  if (body->box.n)
    boxes_draw(g, body, name, far);
  else
    weight_draw(g, body);
  if (body->otherwise && body->box.n) {
    g->y += 18;
    put_words(g, EDGE, &(Text){.size = WORDS}, body->otherwise);
  }
  draw_insides(g, body, name);
}

static bool has_picture(const DiffAnswer *d, const DiffThing *t) {
  bool learners = false;
  for (uint32_t i = 0; i < d->thing.n; i++) learners |= d->thing.at[i].kind == N_LEARNER;
  if (!t->body) return false;
  bool words = t->kind == N_MACHINE || t->kind == N_DIAGRAM;
  if (t->kind == N_GOAL || words) return t->mark != DIFF_SAME;
  return t->kind == N_LEARNER || (t->kind == N_BOX && !learners);
}

static void bodies(Drawing *g) {
  static const char *const begin[] = {"", "", "+ ", "− ", ""};
  for (uint32_t i = 0; i < g->d->thing.n; i++) {
    const DiffThing *t = &g->d->thing.at[i];
    if (!has_picture(g->d, t)) continue;
    const char *name = diff_change(g->arena, t->name[0], t->name[1], "→");
    FarOf far = {g->d, t->name[0] ? t->name[0] : ""};
    title(g, arena_format(g->arena, "%s%s %s", begin[t->mark], t->word, name));
    body_draw(g, t->body, name, &(DiffDistances){far_of, &far});
  }
}

// -- statements -----------------------------------------------------------------------------------
static const Text *mark_text(DiffMark mark) {
  static const Text how[] = {[DIFF_SAME] = {.size = WORDS, .ink = INK_SOFT},
                             [DIFF_CHANGED] = {.size = WORDS, .ink = INK_TEXT},
                             [DIFF_ADDED] = {.size = WORDS, .ink = INK_SERIES1},
                             [DIFF_GONE] = {.size = WORDS, .ink = INK_SERIES2},
                             [DIFF_MOVED] = {.size = WORDS, .ink = INK_TEXT}};
  return &how[mark];
}

static void draw_wrapped(Drawing *g, double x, DiffMark mark, const char *text) {
  for (bool first = true; *text; first = false) {
    size_t n = text_line(g->arena, FACE_SANS, WORDS, text, LINE_WIDTH - x);
    g->y += LINE;
    if (first) put_words(g, x, mark_text(mark), (const char[]){diff_sign(mark), 0});
    put_words(g, x + 16, mark_text(mark), arena_text(g->arena, text, n));
    text += n;
    while (*text == ' ') text++;
  }
}

static void statements(Drawing *g) {
  bool any = false;
  for (uint32_t i = 0; i < g->d->thing.n; i++) {
    const DiffThing *t = &g->d->thing.at[i];
    bool told = t->mark != DIFF_SAME && (!has_picture(g->d, t) || t->beside);
    for (uint32_t k = 0; told && k < t->line.n; k++) {
      if (!any) title(g, "the program"), g->y -= 6, any = true;
      draw_wrapped(g, EDGE + 18.0 * t->line.at[k].level, t->line.at[k].mark, t->line.at[k].text);
    }
  }
  for (uint32_t i = 0; i < g->d->run.n; i++) {
    if (!any) title(g, "the runs"), g->y -= 6, any = true;
    draw_wrapped(g, EDGE, DIFF_CHANGED, g->d->run.at[i].text);
  }
}

// -- weights --------------------------------------------------------------------------------------
static void draw_bar(Drawing *g, double x, double share) {
  double w = isfinite(share) ? fmin(share, 1) * BAR : BAR;
  canvas_open(g->c, "", "glyph", "how far they are apart");
  path_rect(g->c, x, g->y - 9, fmax(w, 1), 9, 0);
  canvas_paint(g->c, &(Paint){.fill = INK_SERIES1});
  canvas_close(g->c);
}

static double names_width(const Drawing *g) {
  double w = 0;
  for (uint32_t i = 0; i < g->d->weight.n; i++) {
    const DiffWeight *k = &g->d->weight.at[i];
    if (k->mark != DIFF_SAME)
      w = fmax(w, text_width(FACE_SANS, WORDS, diff_change(g->arena, k->name[0], k->name[1], "→")));
  }
  return w;
}

// The bar of a weight is the norm of the difference, relative to the norm of the first side.
static void draw_weights(Drawing *g) {
  uint32_t others = 0;
  double x = EDGE + 16 + names_width(g) + 16;
  for (uint32_t i = 0; i < g->d->weight.n; i++) others += g->d->weight.at[i].mark != DIFF_SAME;
  if (!g->d->weights[0] || !g->d->weights[1]) return;
  title(g, arena_format(g->arena, "weights: %u the same, %u not", g->d->weight.n - others, others));
  for (uint32_t i = 0; i < g->d->weight.n; i++) {
    const DiffWeight *w = &g->d->weight.at[i];
    if (w->mark == DIFF_SAME) continue;
    g->y += LINE;
    put_words(g, EDGE, mark_text(w->mark), (const char[]){diff_sign(w->mark), 0});
    put_words(g, EDGE + 16, mark_text(w->mark), diff_change(g->arena, w->name[0], w->name[1], "→"));
    if (w->mark != DIFF_CHANGED || !(w->largest > 0 || isnan(w->largest))) continue;
    draw_bar(g, x, w->relative);
    put_words(g, x + BAR + 12, &(Text){.size = WORDS, .ink = INK_SOFT},
              arena_format(g->arena, "%.3g, largest %.3g", w->relative, w->largest));
  }
}

// -- curves ---------------------------------------------------------------------------------------
static void curves(Drawing *g, const DiffRuns *runs) {
  Metrics one[2], both = {0};
  const char *error;
  if (!runs->dir[0] || !runs->dir[1]) return;
  for (int i = 0; i < 2; i++) {
    RunNote note = {0};
    note_read(g->arena, runs->dir[i], &note, &error);
    const char *path = arena_format(g->arena, "%s/metrics.csv", runs->dir[i]);
    if (!metrics_read(g->arena, path, &note, &one[i], &error)) return;
  }
  both.curve = NEW_ARRAY(g->arena, Curve, one[0].curves + one[1].curves + 1);
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < one[i].curves; k++) {
      Curve c = one[i].curve[k];
      c.name = arena_format(g->arena, "%s %s", i ? "+" : "−", c.name);
      c.ink = k % 8 + 1, c.dashed = !i;
      both.curve[both.curves++] = c;
    }
  for (int measures = 0; measures < 2; measures++) {
    Canvas *c = plot_metrics(g->arena, &both, measures);
    if (!c) continue;
    title(g, measures ? "measures" : "goals");
    canvas_append(g->c, c, EDGE, g->y);
    g->y += canvas_height(c);
    widen_to(g, EDGE + canvas_width(c));
  }
}

// -- all of it ------------------------------------------------------------------------------------
Canvas *diff_draw(Arena *arena, const DiffAnswer *d, const DiffRuns *runs) {
  Buf about = buf_new(arena);
  diff_text(arena, d, &about);
  Drawing g = {.arena = arena, .d = d, .shown = table_new(arena)};
  g.c = canvas_new(arena, 100, 100, arena_format(arena, "%s and %s", d->a, d->b), about.at);
  key(&g);
  if (diff_is_same(d)) {
    g.y += 20;
    put_words(&g, EDGE, &(Text){.size = WORDS}, "They are equal.");
  }
  bodies(&g);
  statements(&g);
  draw_weights(&g);
  curves(&g, runs);
  canvas_resize(g.c, ceil(g.width + EDGE), ceil(g.y + EDGE));
  return g.large ? NULL : g.c;
}

// -- as a page ------------------------------------------------------------------------------------
void diff_page(Arena *arena, const DiffAnswer *d, Canvas *c, Buf *out) {
  Buf text = buf_new(arena), svg = buf_new(arena);
  diff_text(arena, d, &text);
  canvas_svg(c, &(Look){0}, &svg);
  html_head(out, arena_format(arena, "%s and %s", d->a, d->b),
            "body{font-family:sans-serif;margin:1em}svg{max-width:100%;"
            "height:auto}pre{overflow:auto}");
  buf_text(out, svg.at);
  buf_text(out, "<pre>");
  html_text(out, text.at, text.n);
  buf_text(out, "</pre>\n</body>\n</html>\n");
}
