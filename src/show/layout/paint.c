// Draws a layout: frames first, then strands, each as one path, then dividers, glyphs and labels.
#include "show/layout/sketch.h"

#include <math.h>

enum { LABEL = 14, NAME = 20 };
#define DOT 3.35

static void curve_to(Canvas *c, double x0, double y0, double x1, double y1) {
  double middle = (x0 + x1) / 2;
  if (fabs(y1 - y0) < 0.01)
    path_line(c, x1, y1);
  else
    path_cubic(c, middle, y0, middle, y1, x1, y1);
}

typedef struct { // the ends of a strand
  const Link *begin, *end;
  const Link *cup; // the cup on which it begins; or NULL
  const Placed *from, *to;
} Ends;

static Ends *find_ends(const Layout *l, Arena *a) {
  const Sketch *s = l->s;
  Ends *e = NEW_ARRAY(a, Ends, s->strand.n);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Link *begin, *cup = stage_cup(&s->stage.at[k], &begin);
    if (cup) e[begin->to].cup = cup;
    for (uint32_t i = 0; i < s->stage.at[k].link.n; i++) {
      const Link *x = &s->stage.at[k].link.at[i];
      if (x->kind != LINK_COPY && x->kind != LINK_BEGIN) e[x->a].end = x;
      if (x->kind == LINK_CUP) e[x->to].end = x;
      if (x->kind != LINK_CUP && x->kind != LINK_END && !(x->kind == LINK_MERGE && e[x->to].begin))
        e[x->to].begin = x;
    }
  }
  for (uint32_t i = 0; i < l->placed.n; i++) {
    const Glyph *g = l->placed.at[i].glyph;
    for (uint32_t k = 0; k < g->in.n; k++) e[g->in.at[k]].to = &l->placed.at[i];
    for (uint32_t k = 0; k < g->out.n; k++) e[g->out.at[k]].from = &l->placed.at[i];
  }
  return e;
}

// The x at which a strand meets its glyph.
static double port_x(const Placed *p, bool in) {
  return p->x + (in ? -1 : 1) * glyph_port(p->glyph);
}

// Draws a branching: a dot where a value is copied, or a plus where changes are added, slightly off
// the copy of the value.
static double draw_branch(Canvas *c, const Layout *l, uint32_t x, double at, double y) {
  if (l->s->strand.at[x].line != LINE_BACK) {
    dot_draw(c, at, y, DOT, INK_LINE);
    return at;
  }
  plus_circle(c, at - 4, y);
  return at - 4;
}

// The horizontal extent of a half circle at this height.
static double cup_reach(const Layout *l, const Link *cup, double y) {
  double a = l->in[cup->a], b = l->in[cup->to], off = y - (a + b) / 2, r = (b - a) / 2;
  return sqrt(fmax(0, r * r - off * off));
}

static double begin_strand(Canvas *c, const Layout *l, const Ends *e, uint32_t x, double *y) {
  uint32_t born = l->born[x];
  *y = l->out[x];
  if (!born) return l->section.at[0].data;
  const Section *s = &l->section.at[born - 1];
  if (e->from) return port_x(e->from, false);
  if (e->begin && e->begin->kind == LINK_COPY) {
    *y = l->y[e->begin->a];
    return draw_branch(c, l, x, s->spread - 4, *y);
  }
  if (!e->begin || e->begin->kind != LINK_BEGIN) return s->glyph;
  double at = e->cup ? s->glyph + cup_reach(l, e->cup, *y) : s->spread - 4;
  dot_draw(c, at, *y, DOT, INK_LINE);
  return at;
}

// Where one of two strokes meets a tandem line: on the nearer stroke.
static double nearer(double at, double from, double by) {
  return by != 0 && fabs(from - at) > 0.01 ? copysign(by, from - at) : by;
}

// From the horizontal part to the end.
static void end_strand(Canvas *c, const Layout *l, const Ends *e, uint32_t x, double by) {
  uint32_t dies = l->dies[x];
  const Section *s = &l->section.at[dies];
  if (dies + 1 == l->section.n) {
    path_line(c, s->gather, l->y[x] + by);
    return;
  }
  double from = s->glyph - l->bend_in[x].from, to = s->glyph - l->bend_in[x].to;
  path_line(c, from, l->y[x] + by);
  bool merge = e->end && e->end->kind == LINK_MERGE;
  double y = merge ? l->out[e->end->to] : l->in[x];
  y += merge ? nearer(y, l->y[x], by) : by;
  curve_to(c, from, l->y[x] + by, to, y);
  path_line(c, s->glyph, y);
  if (e->to) path_line(c, port_x(e->to, true), y);
}

// The arrowhead of a directed line, in the first section for labels that it crosses.
static void draw_direction(Canvas *c, const Layout *l, uint32_t x) {
  const Strand *strand = &l->s->strand.at[x];
  if (strand->line != LINE_FORTH && strand->line != LINE_BACK) return;
  const Section *s = &l->section.at[l->born[x]];
  double from = l->born[x] ? l->section.at[l->born[x] - 1].spread + l->bend_out[x].to : s->data;
  arrowhead(c, (from + s->gather) / 2, l->y[x], strand->line == LINE_BACK, false,
            strand->ink ? strand->ink : INK_LINE);
}

// Where lines of lenses cross, the lower one has a gap.
static void gap(Canvas *c, const Layout *l, const Ends *e, uint32_t x) {
  if (l->s->strand.at[x].line < LINE_FORTH || !l->born[x] || e->from) return;
  if (!e->begin || e->begin->kind != LINK_PASS || fabs(l->out[x] - l->y[x]) < 0.01) return;
  double x0 = l->section.at[l->born[x] - 1].spread + l->bend_out[x].from,
         dx = l->bend_out[x].to - l->bend_out[x].from;
  canvas_open(c, "", "gap", "");
  path_move(c, x0 + dx * 0.15, l->out[x]);
  path_cubic(c, x0 + dx / 2, l->out[x], x0 + dx / 2, l->y[x], x0 + dx * 0.85, l->y[x]);
  canvas_paint(c, &(Paint){.stroke = INK_PAPER, .width = 6});
  canvas_close(c);
}

// Draws a strand at an offset. A copy begins on the nearer stroke of a tandem line.
static void strand_line(Canvas *c, const Layout *l, const Ends *e, uint32_t x, double by) {
  double y, from = begin_strand(c, l, e, x, &y);
  uint32_t born = l->born[x];
  y += e->begin && e->begin->kind == LINK_COPY ? nearer(y, l->y[x], by) : by;
  path_move(c, from, y);
  if (born) {
    const Section *s = &l->section.at[born - 1];
    double bend = fmax(from, s->spread + l->bend_out[x].from);
    path_line(c, bend, y);
    curve_to(c, bend, y, s->spread + l->bend_out[x].to, l->y[x] + by);
  }
  end_strand(c, l, e, x, by);
  const Strand *s = &l->s->strand.at[x];
  Paint how = {.stroke = s->alarm ? INK_ALARM
                         : s->ink ? s->ink
                                  : INK_LINE,
               .width = (s->line == LINE_THICK ? 2 : 1) + (s->alarm ? 1.5 : 0)};
  if (s->line == LINE_UNKNOWN) how.dash[0] = 5, how.dash[1] = 3;
  canvas_paint(c, &how);
}

static void strand_path(Canvas *c, const Layout *l, const Ends *e, uint32_t x) {
  const Strand *k = &l->s->strand.at[x];
  gap(c, l, e, x);
  canvas_open(c, k->id ? k->id : "", "wire", k->words ? k->words : k->label ? k->label : "");
  canvas_of(c, k->of);
  if (k->line == LINE_TANDEM)
    strand_line(c, l, e, x, -1.5), strand_line(c, l, e, x, 1.5);
  else
    strand_line(c, l, e, x, 0);
  draw_direction(c, l, x);
  canvas_close(c);
}

// A half circle; with two strokes for tandem lines.
static void cup(Canvas *c, const Layout *l, const Link *k, const Section *s) {
  double a = l->in[k->a], b = l->in[k->to], x = s->glyph, middle = (a + b) / 2;
  bool two = l->s->strand.at[k->a].line == LINE_TANDEM;
  canvas_open(c, "", "cup", "");
  for (int side = two ? -1 : 0; side < 2; side += 2) {
    double r = fabs(b - a) / 2 + 1.5 * side, h = 0.5523 * r;
    path_move(c, x, middle - r), path_cubic(c, x + h, middle - r, x + r, middle - h, x + r, middle);
    path_cubic(c, x + r, middle + h, x + h, middle + r, x, middle + r);
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  }
  canvas_close(c);
}

static void stage_marks(Canvas *c, const Layout *l, uint32_t k) {
  const Stage *t = &l->s->stage.at[k];
  const Section *s = &l->section.at[l->at[k]];
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *x = &t->link.at[i];
    if (x->kind == LINK_CUP) cup(c, l, x, s);
    if (x->kind == LINK_MERGE) dot_draw(c, s->glyph, l->out[x->to], DOT, INK_LINE);
    if (x->kind == LINK_END) dot_draw(c, s->glyph, l->in[x->a], DOT, INK_LINE);
  }
}

// Repeats are enclosed by tall parentheses with the first iteration at the bottom and the last at
// the top, the left one in the row where the block begins, the right one where it ends.
static void parentheses(Canvas *c, const Layout *l, uint32_t b) {
  const Block *k = &l->s->block.at[b];
  double top = l->top[b] + 12, bottom = l->bottom[b] - (k->from ? 15 : 0);
  double x[2] = {l->left[b], l->right[b]}, fourth = (bottom - top) / 4;
  const char *words =
      arena_format(l->s->arena, "repeated, %s to %s", k->from ? k->from : "1", k->times);
  for (int i = 0; i < 2; i++) {
    double in = i ? -7 : 7;
    if (i ? k->after : k->before) continue;
    canvas_open(c, "", "parenthesis", i ? "" : words);
    path_move(c, x[i] + in, top);
    path_cubic(c, x[i] - in / 2, top + fourth, x[i] - in / 2, bottom - fourth, x[i] + in, bottom);
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 2});
    canvas_close(c);
  }
}

// Iteration numbers are next to the ends of the parenthesis, unless a line is in the way.
static void turn_text(Canvas *c, const Layout *l, uint32_t b, const char *text, double y) {
  static const double by[] = {0, 12, -10, 22, -20};
  double width = math_width(FACE_ITALIC, LABEL, text), left = l->left[b];
  bool down = y < l->top[b] + 20;
  double low = strpbrk(text, "()gjpqyQ,") ? 4 : 1; // descenders
  double at[] = {left + 7 - width / 2, left - width - 2, left + 14, left + 18 + width};
  double x = at[0], to = y;
  for (uint32_t k = COUNT(by) * COUNT(at); k-- > 0;) {
    double x0 = at[k % COUNT(at)], y0 = y + (down ? 1 : -1) * by[k / COUNT(at)];
    if (canvas_room(c, &(Area){x0, y0 - 10, x0 + width, y0 + low}, "frame") >= 1) x = x0, to = y0;
  }
  label_draw(c, x, to, &(Text){.face = FACE_ITALIC, .size = LABEL, .ink = INK_TEXT}, text);
}

static void turn_texts(Canvas *c, const Layout *l) {
  for (uint32_t b = 1; b < l->s->block.n; b++) {
    const Block *k = &l->s->block.at[b];
    if (l->left[b] > l->right[b] || k->before) continue;
    if (k->times) turn_text(c, l, b, k->times, l->top[b] + 9);
    if (k->from) turn_text(c, l, b, k->from, l->bottom[b] - 3);
  }
}

static void draw_frame(Canvas *c, const Layout *l, uint32_t b) {
  const Block *k = &l->s->block.at[b];
  if (l->left[b] > l->right[b]) return; // nothing of it is in this row
  if (k->times) {
    parentheses(c, l, b);
    return;
  }
  if (!k->ink && !k->title) return; // an invisible block
  canvas_open(c, k->id ? k->id : "", "frame", k->title ? k->title : "");
  canvas_of(c, k->of);
  path_rect(c, l->left[b], l->top[b], l->right[b] - l->left[b], l->bottom[b] - l->top[b], 0);
  canvas_paint(c, &(Paint){.fill = k->ink, .stroke = INK_SOFT, .width = 0.4});
  canvas_close(c);
  canvas_open(c, "", "title", "");
  Text how = {.face = FACE_SANS, .size = 13, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT};
  double middle = (l->left[b] + l->right[b]) / 2;
  if (k->title) // with an index, or a plain name
    (strstr(k->title, "_{") ? math_text : canvas_text)(c, middle, l->top[b] + 15, &how, k->title);
  canvas_close(c);
}

static void name(Canvas *c, const Layout *l, const Bundle *b, double x, Anchor anchor,
                 const char *text) {
  double y = (l->y[b->first] + l->y[b->first + b->n - 1]) / 2;
  label_draw(c, x, y + NAME * 0.33,
             &(Text){.face = FACE_ITALIC, .size = NAME, .anchor = anchor, .ink = INK_TEXT}, text);
}

static void draw_names(Canvas *c, const Layout *l) {
  const Sketch *s = l->s;
  for (uint32_t i = 0; i < s->in.n; i++) {
    const Bundle *b = &s->bundle.at[s->in.at[i]];
    if (b->name && b->n) name(c, l, b, l->section.at[0].data - 6, ANCHOR_END, b->name);
  }
  for (uint32_t i = 0; i < s->out.n && i < s->ends.n; i++)
    name(c, l, &s->bundle.at[s->out.at[i]], l->section.at[l->section.n - 1].gather + 6,
         ANCHOR_START, s->ends.at[i]);
}

// Labels with descenders, and tandem lines, need more space.
static double label_lift(const Strand *k, const char *label) {
  bool low = strpbrk(label, "gjpqyQ") != NULL;
  if (k->line >= LINE_FORTH) return 9; // above its arrowhead
  return 5 + (low ? 1.5 : 0) + (k->line == LINE_TANDEM ? 1.5 : 0);
}

static void labels(Canvas *c, const Layout *l) {
  for (uint32_t x = 1; x < l->s->strand.n; x++) {
    if (!l->label[x]) continue;
    const Strand *k = &l->s->strand.at[x];
    label_draw(c, l->section.at[l->label[x] - 1].data + 6, l->y[x] - label_lift(k, k->label),
               &(Text){.face = FACE_ITALIC, .size = LABEL, .ink = INK_TEXT}, k->label);
  }
}

static void operands(Canvas *c, const Layout *l) {
  for (uint32_t b = 1; b < l->s->bundle.n; b++) {
    const Bundle *k = &l->s->bundle.at[b];
    if (!l->there[b] || !k->as || !k->n || l->dies[k->first] + 1 >= l->section.n) continue;
    const Strand *first = &l->s->strand.at[k->first];
    double x = l->section.at[l->dies[k->first]].data + 6;
    if (l->label[k->first] == l->dies[k->first] + 1) x += label_width(first->label) + 8;
    label_draw(c, x, l->y[k->first] - label_lift(first, k->as),
               &(Text){.face = FACE_ITALIC, .size = OPERAND, .ink = INK_SOFT}, k->as);
  }
}

// Draws the bend of a strand at the start of a row (from the upper left) or at its end (down).
static void draw_bend(Canvas *c, double x, double y, bool out) {
  double x0 = out ? x : x - ROW_BEND, y0 = out ? y : y - ROW_DROP, x1 = x0 + ROW_BEND,
         y1 = y0 + ROW_DROP, neck = x1 - 7;
  canvas_open(c, "", "bend", "");
  path_move(c, x0, y0), path_cubic(c, x0 + 12, y0, neck - 10, y1, neck, y1);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  tip_draw(c, x1, y1);
  canvas_close(c);
}

static void bends(Canvas *c, const Layout *l, const Ids *bundles, double x, bool out) {
  for (uint32_t i = 0; i < bundles->n; i++) {
    const Bundle *b = &l->s->bundle.at[bundles->at[i]];
    for (uint32_t k = 0; k < b->n; k++) draw_bend(c, x, l->y[b->first + k], out);
  }
}

// Glyphs added by limn, such as a residual, refer to the source of their wire.
static const GroupOf *glyph_group(const Sketch *s, const Placed *p) {
  const Glyph *g = p->glyph;
  const GroupOf *of = g->of ? g->of : s->stage.at[p->stage].of;
  const Ids *ends = g->out.n ? &g->out : &g->in;
  return of || !ends->n ? of : s->strand.at[ends->at[0]].of;
}

static void inset(Canvas *c, Arena *a, const Layout *l, const Placed *p) {
  const Layout *in = p->glyph->inset;
  double x = p->x - inset_width(in) / 2 - in->section.at[0].data, y = inset_shift(l, p);
  canvas_open(c, "", "inset", p->glyph->text ? p->glyph->text : "");
  canvas_of(c, glyph_group(l->s, p));
  canvas_shift(c, x, y);
  paint(c, a, in);
  canvas_shift(c, -x, -y);
  canvas_close(c);
}

static const char *divider_words(const Layout *l, uint32_t i) {
  while (i + 1 < l->divider.n && l->divider.at[i + 1].follows) i++;
  return l->divider.at[i].product ? "outer product" : "";
}

static void dividers(Canvas *c, const Layout *l) {
  for (uint32_t i = 0; i < l->divider.n; i++) {
    const Divider *d = &l->divider.at[i];
    bool last = i + 1 == l->divider.n || !l->divider.at[i + 1].follows;
    if (!d->follows) canvas_open(c, "", "divider", divider_words(l, i));
    (d->follows ? path_line : path_move)(c, d->x0, d->y);
    path_line(c, d->x1, d->y);
    if (!last) continue;
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.5, .dash = {7.5, 6}});
    canvas_close(c);
  }
}

static void open_blocks(Canvas *c, const Sketch *s, uint32_t from, uint32_t to) {
  if (to == from) return;
  const Block *b = &s->block.at[to];
  open_blocks(c, s, from, b->parent);
  canvas_open(c, b->id ? b->id : "", "block", b->title ? b->title : "");
  canvas_of(c, b->of);
}

// From left to right, in groups by block.
static void glyphs(Canvas *c, Arena *a, const Layout *l) {
  const Sketch *s = l->s;
  uint32_t open = 0;
  for (uint32_t i = 0; i < l->placed.n; i++) {
    const Glyph *g = l->placed.at[i].glyph;
    const Stage *t = &s->stage.at[l->placed.at[i].stage];
    for (; !block_is_inside(s, t->block, open); open = s->block.at[open].parent) canvas_close(c);
    open_blocks(c, s, open, t->block);
    open = t->block;
    if (g->kind == GLYPH_INSET) {
      inset(c, a, l, &l->placed.at[i]);
      continue;
    }
    canvas_open(c, g->id ? g->id : "", "glyph", g->words ? g->words : t->words);
    canvas_of(c, glyph_group(s, &l->placed.at[i]));
    glyph_paint(c, l, &l->placed.at[i]);
    canvas_close(c);
    if (!g->touch.n) continue;
    canvas_open(c, "", "touch", "");
    glyph_touch(c, l, &l->placed.at[i]);
    canvas_close(c);
  }
  for (; open; open = s->block.at[open].parent) canvas_close(c);
}

void paint(Canvas *c, Arena *a, const Layout *l) {
  const Ends *ends = find_ends(l, a);
  for (uint32_t b = 1; b < l->s->block.n; b++) draw_frame(c, l, b);
  for (uint32_t b = 1; b < l->s->bundle.n; b++) {
    const Bundle *k = &l->s->bundle.at[b];
    for (uint32_t i = 0; l->there[b] && i < k->n; i++)
      strand_path(c, l, &ends[k->first + i], k->first + i);
  }
  dividers(c, l);
  for (uint32_t k = 0; k < l->s->stage.n; k++) stage_marks(c, l, k);
  glyphs(c, a, l);
  if (l->s->before) bends(c, l, &l->s->in, l->section.at[0].data, false);
  if (l->s->after) bends(c, l, &l->s->out, l->section.at[l->section.n - 1].gather, true);
  labels(c, l);
  operands(c, l);
  if (!l->s->inset) draw_names(c, l);
  turn_texts(c, l);
}
