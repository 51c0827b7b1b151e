// Draws what is above lenses: weights enter their boxes from above and changes go up to the
// optimisers, which are in a row. Boxes that share weights have one optimiser: weights are copied
// along lanes below it, and changes are added. A line that is crossed has a gap.
#include "show/circuit/lens_own.h"

#include <math.h>

enum { EDGE = 12, BOX = 24, WIRE = 26, LANE = 12, APART = 8, SIZE = 13, BELOW = 26, NAME = 20 };

typedef struct {
  Canvas *c;
  const Lens *k;
  double top; // top of the optimisers
} Above;

static const Weighted *first_with(const Lens *k, uint32_t at) {
  for (uint32_t i = 0; i < at; i++)
    for (uint32_t n = 0; n < k->weighted.at[at].weights.n; n++)
      if (ids_find(&k->weighted.at[i].weights, k->weighted.at[at].weights.at[n]) <
          k->weighted.at[i].weights.n)
        return &k->weighted.at[i];
  return NULL;
}

static uint32_t ties(const Lens *k) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->weighted.n; i++) n += first_with(k, i) != NULL;
  return n;
}

double lens_above(const Lens *k) {
  double name = k->goal ? NAME : 0;
  if (!k->weighted.n) return name + (k->label.n ? WIRE : 0);
  return name + BOX + WIRE + 2 * LANE * ties(k);
}

// -- names below ----------------------------------------------------------------------------------
typedef struct {
  double x0, x1;
  uint32_t row;
} Bracket;

// A bracket below the boxes of a learner, in the first row without overlap.
static uint32_t find_brackets(const Lens *k, Bracket *out) {
  uint32_t rows = 0;
  for (uint32_t i = 0; i < k->group.n; i++) {
    Bracket *b = &out[i];
    *b = (Bracket){INFINITY, -INFINITY, 0};
    for (uint32_t j = 0; j < k->l->placed.n; j++) {
      const Placed *p = &k->l->placed.at[j];
      double half = glyph_width(p->glyph) / 2;
      if (!block_is_inside(k->s, k->s->stage.at[p->stage].block, k->group.at[i].block)) continue;
      b->x0 = fmin(b->x0, p->x - half), b->x1 = fmax(b->x1, p->x + half);
    }
    for (uint32_t j = 0; j < i; j++)
      if (out[j].row == b->row && out[j].x0 < b->x1 + 8 && b->x0 < out[j].x1 + 8)
        b->row++, j = UINT32_MAX; // start again
    if (b->row + 1 > rows) rows = b->row + 1;
  }
  return rows;
}

double lens_below(const Lens *k) {
  return BELOW * find_brackets(k, NEW_ARRAY(k->g->arena, Bracket, k->group.n + 1));
}

// The top centre of a box. Settling reorders stages, so boxes are identified by tag.
static Knee top_centre(const Lens *k, uint32_t stage) {
  Knee s = {0};
  for (uint32_t i = 0; i < k->l->placed.n; i++) {
    const Placed *p = &k->l->placed.at[i];
    double bottom;
    if (p->glyph->tag != stage + 1) continue;
    s.x = p->x;
    glyph_extent(k->l, p, &s.y, &bottom);
  }
  return s;
}

// A point at a distance from `at` towards `to`.
static Knee point_towards(Knee at, Knee to, double far) {
  double dx = to.x - at.x, dy = to.y - at.y, n = hypot(dx, dy);
  return n > far ? (Knee){at.x + dx / n * far, at.y + dy / n * far} : at;
}

// Lines that it crosses get a gap, except those that it meets at its ends.
static void draw_line(Canvas *c, const Knee *at, uint32_t n, const GroupOf *of) {
  for (uint32_t wire = 0; wire < 2; wire++) {
    canvas_open(c, "", wire ? "wire" : "gap", "");
    if (wire) canvas_of(c, of);
    for (uint32_t i = 0; i < n; i++) {
      bool end = !i || i + 1 == n;
      Knee s = end && !wire ? point_towards(at[i], at[i ? i - 1 : 1], 3) : at[i];
      (i ? path_line : path_move)(c, s.x, s.y);
    }
    canvas_paint(c, &(Paint){.stroke = wire ? INK_LINE : INK_PAPER, .width = wire ? 1 : 5});
    canvas_close(c);
  }
}

static void optimiser(const Above *a, const Weighted *w, double x) {
  double half = fmax(46, text_width(FACE_SANS, SIZE, w->optimiser) + 14) / 2;
  canvas_open(a->c, "", "glyph", w->words);
  canvas_of(a->c, w->of);
  path_rect(a->c, x - half, a->top, 2 * half, BOX, 5);
  canvas_paint(a->c, &(Paint){.fill = INK_LEARNED, .stroke = INK_LINE, .width = 1});
  canvas_text(a->c, x, a->top + 16.5, &(Text){.size = SIZE, .anchor = ANCHOR_MIDDLE}, w->optimiser);
  canvas_close(a->c);
}

// Weights that are not trained: their change ends.
static void draw_weight_pair(const Above *a, const Weighted *w) {
  Knee s = top_centre(a->k, w->stage);
  double from = w->optimiser ? a->top + BOX : s.y - 26, up = w->optimiser ? from : s.y - 20;
  draw_line(a->c, (Knee[]){{s.x - APART, from}, {s.x - APART, s.y}}, 2, w->wire);
  draw_line(a->c, (Knee[]){{s.x + APART, s.y}, {s.x + APART, up}}, 2, w->wire);
  arrowhead(a->c, s.x - APART, s.y - 11, false, true, INK_LINE);
  arrowhead(a->c, s.x + APART, s.y - 11, true, true, INK_LINE);
  if (w->optimiser)
    optimiser(a, w, s.x);
  else
    dot_draw(a->c, s.x + APART, up, 3.35, INK_LINE);
}

// A box that shares the weights of another one.
static void draw_shared_weights(const Above *a, const Weighted *w, const Weighted *first,
                                uint32_t lane) {
  double down = a->top + BOX + LANE + 2 * LANE * lane, up = down + LANE;
  Knee s = top_centre(a->k, w->stage), from = top_centre(a->k, first->stage);
  double in = s.x - APART, out = s.x + APART;
  draw_line(a->c, (Knee[]){{from.x - APART, down}, {in, down}, {in, s.y}}, 3, w->wire);
  dot_draw(a->c, from.x - APART, down, 3.35, INK_LINE);
  if (first->optimiser) {
    draw_line(a->c, (Knee[]){{out, s.y}, {out, up}, {from.x + APART, up}}, 3, w->wire);
    plus_circle(a->c, from.x + APART, up);
  } else {
    draw_line(a->c, (Knee[]){{out, s.y}, {out, s.y - 20}}, 2, w->wire);
    dot_draw(a->c, out, s.y - 20, 3.35, INK_LINE);
  }
  arrowhead(a->c, in, s.y - 11, false, true, INK_LINE);
  arrowhead(a->c, out, s.y - 11, true, true, INK_LINE);
}

// The targets of the loss enter from above. Two names are side by side, more are in one row.
// row.
static void label_wires(const Above *a) {
  const Lens *k = a->k;
  uint32_t n = k->label.n;
  if (!n) return;
  Knee s = top_centre(k, k->loss - 1);
  const GroupOf *said = group_at(k->g->arena, k->goal->node->span, NULL);
  Buf row = buf_new(k->g->arena);
  for (uint32_t i = 0; i < n; i++) {
    double x = s.x + (i - (n - 1) / 2.0) * 18;
    draw_line(a->c, (Knee[]){{x, s.y - 24}, {x, s.y}}, 2, said);
    arrowhead(a->c, x, s.y - 11, false, true, INK_LINE);
    buf_printf(&row, "%s%s", i ? ", " : "", k->label.at[i]);
  }
  bool pair = n == 2;
  for (uint32_t i = 0; i < (pair ? 2 : 1); i++) {
    Anchor anchor = !pair ? ANCHOR_MIDDLE : i ? ANCHOR_START : ANCHOR_END;
    Text text = {.face = FACE_ITALIC, .size = 14, .anchor = anchor, .ink = INK_TEXT};
    double by = !pair ? 0 : i ? 4 : -4;
    label_draw(a->c, s.x + by, s.y - 28, &text, pair ? k->label.at[i] : row.at);
  }
}

// Writes the name of a learner below its boxes.
static void draw_groups(const Above *a) {
  const Lens *k = a->k;
  Bracket *all = NEW_ARRAY(k->g->arena, Bracket, k->group.n + 1);
  find_brackets(k, all);
  for (uint32_t i = 0; i < k->group.n; i++) {
    double x0 = all[i].x0, x1 = all[i].x1, y = k->l->bottom[0] + 8 + BELOW * all[i].row;
    if (!(x0 < x1)) continue;
    path_move(a->c, x0, y - 5), path_line(a->c, x0, y), path_line(a->c, x1, y);
    path_line(a->c, x1, y - 5);
    canvas_paint(a->c, &(Paint){.stroke = INK_SOFT, .width = 1});
    label_draw(a->c, (x0 + x1) / 2, y + 16,
               &(Text){.face = FACE_ITALIC, .size = 15, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT},
               k->group.at[i].name);
  }
}

void lens_marks(Canvas *c, const Lens *k, double top) {
  Above a = {.c = c, .k = k, .top = top + EDGE + (k->goal ? NAME : 0)};
  uint32_t lane = 0;
  if (k->goal)
    words_draw(c, "label", EDGE, top + EDGE + 12, &(Text){.size = SIZE, .ink = INK_SOFT},
               arena_format(k->g->arena, "(%s)", k->name));
  for (uint32_t i = 0; i < k->weighted.n; i++)
    if (!first_with(k, i)) draw_weight_pair(&a, &k->weighted.at[i]);
  for (uint32_t i = 0; i < k->weighted.n; i++) {
    const Weighted *first = first_with(k, i);
    if (first) draw_shared_weights(&a, &k->weighted.at[i], first, lane++);
  }
  label_wires(&a);
  draw_groups(&a);
}
