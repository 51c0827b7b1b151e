// Goals as pictures: two string diagrams with ⇌ between them and, below it, the learners that move
// so that they become equal. Several goals stand one below the other, with their signs in a column.
#include "view/sketch.h"

#include <math.h>

enum { GAP = 16, SIGN = 46, TAG = 14, ROW = 10, BRACE = 14 };

typedef struct {
  Layout *left, *right; // right: NULL where something is made large or small
  const char *sign;     // "max", "min"; NULL: ⇌
  const char *moved, *tag, *by;
  double above, below; // of the line in which the signs stand
  const Goal *goal;
  BrokenGoal wrong;    // of a program with errors
  Plates plate;        // its messages
  double wide, plates; // how wide and high they are; the height is a part of below
} Equation;
typedef VEC(Equation) Equations;

typedef struct {
  Infer *in;
  World *w;
  Arena *arena;
  Program *p;
} Goals;

// -- one goal -------------------------------------------------------------------------------------
static const Supply *supplies(Goals *g, const Ids *fields) {
  Supply *s = NEW_ARRAY(g->arena, Supply, fields->n + 1);
  for (uint32_t i = 0; i < fields->n; i++) {
    const Def *d = def_of(g->in, fields->at[i]);
    const Given *given = &g->p->given.at[d->given];
    const char *set = given->path ? given->path : name_text(g->w->names, given->set);
    s[i] = (Supply){.name = given->noise ? "N" : set,
                    .field = name_text(g->w->names, d->name),
                    .number = d->given};
  }
  return s;
}

static const CircuitHow how = {.level = LEVEL_LEARNER};

static Layout *broken_side(Goals *g, const Broken *k, const Ids *fields) {
  return k ? lay_out(g->arena, circuit_broken(g->w, g->arena, k, &how, supplies(g, fields))) : NULL;
}

static Layout *side(Goals *g, const Node *expr) {
  Ids fields = {0};
  Diagram *d = infer_side(g->in, g->p, expr, &fields);
  return d ? lay_out(g->arena, circuit_of(g->w, g->arena, d, &how, supplies(g, &fields))) : NULL;
}

static bool is_of(const char *path, const char *learner) {
  size_t n = strlen(learner);
  return strncmp(path, learner, n) == 0 && (path[n] == '/' || path[n] == 0 || path[n] == '.');
}

static const char *moved_by(Goals *g, const Goal *goal) {
  Buf b = buf_new(g->arena);
  for (uint32_t k = 0; k < g->p->learner.n; k++) {
    const char *name = name_text(g->w->names, g->p->learner.at[k]->name);
    bool moves = false;
    for (uint32_t i = 0; goal->diagram && i < goal->diagram->param.n; i++)
      moves |= goal->trains[i] && is_of(goal->diagram->param.at[i].path, name);
    if (moves) buf_printf(&b, "%s%s", b.n ? ", " : "", name);
  }
  return b.at;
}

// The middle of what comes out, which stands in the line of the signs.
static double out_middle(const Layout *l) {
  const Sketch *s = l->s;
  double low = INFINITY, high = -INFINITY;
  for (uint32_t i = 0; i < s->out.n; i++) {
    const Bundle *b = &s->bundle.at[s->out.at[i]];
    low = fmin(low, l->y[b->first]), high = fmax(high, l->y[b->first + b->n - 1]);
  }
  return s->out.n ? (low + high) / 2 : l->height / 2;
}

static void sides(Goals *g, const Goal *goal, Equation *out) {
  const Node *claim = goal->node->kid[0];
  bool two = claim->kind == N_EQUAL, errors = g->w->diags->errors;
  if (errors) out->wrong = infer_broken_goal(g->in, g->p, goal);
  if (errors && (!goal->diagram || out->wrong.slip.n)) {
    out->left = broken_side(g, out->wrong.left, &out->wrong.fields[0]);
    out->right = broken_side(g, out->wrong.right, &out->wrong.fields[1]);
  } else {
    out->wrong = (BrokenGoal){0};
    out->left = side(g, claim->kid[0]);
    out->right = two ? side(g, claim->kid[1]) : NULL;
  }
}

static void tie(Plate *p, const Equation *e, double sign, double y) {
  p->tied = true;
  p->x = sign, p->y0 = y - 12, p->y1 = y + (*e->moved ? 32 : 12);
}

static bool is_said(const Plates *p, const Plate *x) {
  for (uint32_t i = 0; i < p->n; i++)
    if (strcmp(p->at[i].text, x->text) == 0 && strcmp(p->at[i].head, x->head) == 0) return true;
  return false;
}

static bool lies_in(Span s, Span whole) {
  return s.file == whole.file && s.at >= whole.at && s.at + s.n <= whole.at + whole.n;
}

// The messages of a goal; where they belong is known when its sides have their places.
static void add_plates(Goals *g, const Goal *goal, Equation *e, double sign, double y) {
  const BrokenGoal *k = &e->wrong;
  const Diags *d = g->w->diags;
  Plates all = {0};
  e->plate.n = 0;
  if (k->left) broken_plates(g->w, g->arena, k->left, e->left, &all);
  if (k->right) broken_plates(g->w, g->arena, k->right, e->right, &all);
  for (uint32_t i = 0; i < k->slip.n; i++) {
    vec_push(g->arena, &all, message_plate(g->w, g->arena, k->slip.at[i].span, k->slip.at[i].text));
    tie(&all.at[all.n - 1], e, sign, y);
  }
  for (uint32_t i = 1; i < d->list.n; i++) {
    if (d->list.at[i].kind != DIAG_WARNING || !lies_in(d->list.at[i].span, goal->span)) continue;
    Plate p = message_plate(g->w, g->arena, d->list.at[i].span, d->list.at[i].text);
    p.mild = true;
    tie(&p, e, sign, y);
    vec_push(g->arena, &all, p);
  }
  for (uint32_t i = 0; i < all.n; i++)
    if (!is_said(&e->plate, &all.at[i])) vec_push(g->arena, &e->plate, all.at[i]);
}

static bool equation_of(Goals *g, const Goal *goal, Equation *out) {
  const Node *claim = goal->node->kid[0];
  *out = (Equation){
      .tag = name_text(g->w->names, goal->name), .moved = moved_by(g, goal), .by = goal->distance};
  if (claim->kind != N_EQUAL) out->sign = claim->kind == N_MINIMISE ? "min" : "max";
  sides(g, goal, out);
  if (!out->left || (!out->sign && !out->right)) return false;
  double l = out_middle(out->left), r = out->right ? out_middle(out->right) : l;
  out->above = fmax(l, out->right ? r : 0);
  out->below = fmax(out->left->height - l, out->right ? out->right->height - r : 0);
  out->below = fmax(out->below, 30);
  out->goal = goal;
  add_plates(g, goal, out, 0, 0);
  plates_size(g->arena, &out->plate, &out->wide, &out->plates);
  out->below += out->plates;
  return true;
}

// -- all ------------------------------------------------------------------------------------------
static void half_arrows(Canvas *c, double x, double y) {
  canvas_open(c, "", "sign", "⇌");
  path_move(c, x - 20, y - 3), path_line(c, x + 20, y - 3), path_line(c, x + 9, y - 9);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  path_move(c, x + 20, y + 3), path_line(c, x - 20, y + 3), path_line(c, x - 9, y + 9);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}

static void brace(Canvas *c, double x, double y0, double y1) {
  double m = (y0 + y1) / 2, r = 8;
  path_move(c, x + r, y0), path_cubic(c, x, y0, x + r, m, x - 2, m);
  path_cubic(c, x + r, m, x, y1, x + r, y1);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.5});
}

static void small(Canvas *c, double x, double y, Anchor anchor, Face face, const char *text) {
  math_text(c, x, y, &(Text){.face = face, .size = 13, .anchor = anchor, .ink = INK_SOFT}, text);
}

static void put_equation(Canvas *c, Arena *a, Equation *e, double left, double sign, double y) {
  layout_shift(e->left, left - e->left->width, y - out_middle(e->left));
  paint(c, a, e->left);
  if (e->right) {
    half_arrows(c, sign, y);
    layout_shift(e->right, sign + SIGN / 2 + GAP, y - out_middle(e->right));
    paint(c, a, e->right);
  } else {
    math_text(c, sign, y + 6,
              &(Text){.face = FACE_ITALIC, .size = 18, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT},
              e->sign);
  }
  if (*e->moved)
    math_text(c, sign, y + 25,
              &(Text){.face = FACE_ITALIC, .size = 13, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT},
              e->moved);
  if (e->by) small(c, sign, y - 15, ANCHOR_MIDDLE, FACE_SANS, e->by);
}

static void put_plates(Canvas *c, Goals *g, Equation *e, double sign, double y) {
  double bottom = y + e->below - e->plates;
  Plates numbered = e->plate;
  e->plate = (Plates){0};
  add_plates(g, e->goal, e, sign, y);
  for (uint32_t i = 0; i < numbered.n; i++) e->plate.at[i].number = numbered.at[i].number;
  Plating plan = plates_plan(g->arena, c, &e->plate, bottom, true);
  plates_paint(c, &plan, bottom);
}

// Messages that belong to no goal.
static Plates other_plates(Goals *g, const Equations *all) {
  const Diags *d = g->w->diags;
  Plates out = {0};
  for (uint32_t i = 1; i < d->list.n; i++) {
    Plate p = message_plate(g->w, g->arena, d->list.at[i].span, d->list.at[i].text);
    bool said = false;
    p.mild = d->list.at[i].kind == DIAG_WARNING;
    for (uint32_t k = 0; k < all->n; k++) said |= is_said(&all->at[k].plate, &p);
    if (!said) vec_push(g->arena, &out, p);
  }
  return out;
}

// All messages in their order, numbered if there are several.
static const char *number_plates(Goals *g, Equations *all, Plates *others) {
  Plates said = {0};
  uint32_t n = 0;
  for (uint32_t k = 0; k <= all->n; k++) {
    Plates *p = k < all->n ? &all->at[k].plate : others;
    for (uint32_t i = 0; i < p->n; i++) {
      p->at[i].number = ++n;
      vec_push(g->arena, &said, p->at[i]);
    }
  }
  for (uint32_t k = 0; n == 1 && k < all->n; k++)
    if (all->at[k].plate.n) all->at[k].plate.at[0].number = 0;
  if (n == 1 && others->n) others->at[0].number = 0;
  return n ? plates_about(g->arena, &said) : "Pictures that training makes equal";
}

static double sign_width(const Equation *e) {
  double moved = math_width(FACE_ITALIC, 13, e->moved),
         by = e->by ? math_width(FACE_SANS, 13, e->by) : 0;
  return fmax(SIGN, fmax(moved, by));
}

Canvas *goals_draw(Infer *in, Arena *a, Program *p) {
  Goals g = {in, infer_world(in), a, p};
  Equations all = {0};
  double left = 0, right = 0, height = 0, tag = 0, wide = SIGN, plates = 0;
  for (uint32_t i = 0; i < p->goal.n; i++) {
    Equation e;
    if (!equation_of(&g, &p->goal.at[i], &e)) continue;
    left = fmax(left, e.left->width), right = fmax(right, e.right ? e.right->width : 0);
    tag = fmax(tag, text_width(FACE_SANS, TAG, e.tag) + 16);
    wide = fmax(wide, sign_width(&e));
    plates = fmax(plates, e.wide);
    height += e.above + e.below + ROW;
    vec_push(a, &all, e);
  }
  if (!all.n) return NULL;
  double first = all.n > 1 ? BRACE + 8 : 0, sign = first + left + GAP + wide / 2;
  double width = sign + wide / 2 + GAP + right + tag, more, low;
  Plates others = other_plates(&g, &all);
  const char *about = number_plates(&g, &all, &others);
  plates_size(a, &others, &more, &low);
  Canvas *c = canvas_new(a, fmax(width, fmax(plates, more)), height + ROW + low, "Goals", about);
  double y = ROW;
  for (uint32_t i = 0; i < all.n; i++) {
    Equation *e = &all.at[i];
    put_equation(c, a, e, first + left, sign, y + e->above);
    if (*e->tag)
      small(c, width - 8, y + e->above + 5, ANCHOR_END, FACE_SANS, arena_format(a, "(%s)", e->tag));
    if (e->plate.n) put_plates(c, &g, e, sign, y + e->above);
    y += e->above + e->below + ROW;
  }
  Plating plan = plates_plan(a, c, &others, height + ROW, true);
  plates_paint(c, &plan, height + ROW);
  if (all.n > 1) brace(c, 10, ROW + 4, height - 4);
  return c;
}
