// Draws goals: two string diagrams with ⇌ between them, and below it the learners that are trained
// to make them equal. Several goals are stacked, with their signs in a column; a maximised or
// minimised number ends in a triangle there. Below are refined learners: box ↦ body. Checks that
// boxes are equal look the same, with =.
//
// Both sides have the same sources: unused ones end visibly. Wires of one type have one colour,
// assigned in order of appearance, and the name of a type is written once, so that colours are not
// needed.
#include "base/diag.h"
#include "base/names.h"
#include "show/circuit/goals_own.h"

#include <math.h>
#include <stdlib.h>

enum { GAP = 16, SIGN = 46, TAG = 14, ROW = 4, BRACE = 14, STUB = 14, EDGE = 12 };
enum { LEAST_HEIGHT = 24 + ROW }; // of an equation

typedef struct {
  Layout *left, *right; // right = NULL: maximised or minimised
  const char *sign;     // "max", "min", "↦"; NULL: ⇌
  const char *moved, *tag, *by;
  bool framed;         // the right side is the body of the left
  bool claimed;        // a check
  double above, below; // extent above and below the signs
  Said said;           // messages, whose height is included in below
  const GroupOf *of;   // the statement
} Equation;
typedef VEC(Equation) Equations;

// -- inks of types --------------------------------------------------------------------------------
static const Ink type_inks[] = {INK_LINE,    INK_SERIES1, INK_SERIES2, INK_SERIES3,
                                INK_SERIES4, INK_SERIES5, INK_SERIES7};

static uint32_t type_number(Goals *g, const char *type, bool *first) {
  uint32_t i = 0;
  while (i < g->type.n && strcmp(g->type.at[i], type) != 0) i++;
  *first = i == g->type.n;
  if (*first) vec_push(g->arena, &g->type, type);
  return i;
}

void goals_tint(Goals *g, Sketch *s) {
  for (uint32_t x = 1; x < s->strand.n; x++) {
    Strand *strand = &s->strand.at[x];
    bool first;
    if (!strand->type) continue;
    strand->ink = type_inks[type_number(g, strand->type, &first) % COUNT(type_inks)];
    if (first && !strand->label) strand->label = strand->type;
  }
}

// -- one side -------------------------------------------------------------------------------------
static bool is_uniform(const Diagram *noise) {
  for (Id i = 1; i < noise->box.n; i++)
    if (noise->box.at[i].op == OP_random) return *noise_letter(&noise->box.at[i]) == 'U';
  return false;
}

// The data set with its options: "glyphs.test (way: 5, shot: 2, query: 5)"; "train" is left out.
static const char *source_name(Goals *g, const Given *given) {
  const Episodes *e = &given->episodes;
  Buf b = buf_new(g->arena);
  if (given->noise) return is_uniform(given->noise) ? "𝒰" : "𝒩";
  buf_text(&b, given->path ? given->path : name_text(g->w->names, given->set));
  const char *split = name_text(g->w->names, given->split);
  if (*split && strcmp(split, "train") != 0) buf_printf(&b, ".%s", split);
  if (e->way)
    buf_printf(&b, " (way: %lld, shot: %lld, query: %lld)", (long long)e->way, (long long)e->shot,
               (long long)e->ask);
  return b.at;
}

static const Supply *supplies(Goals *g, const Ids *fields) {
  Supply *s = NEW_ARRAY(g->arena, Supply, fields->n + 1);
  for (uint32_t i = 0; i < fields->n; i++) {
    const Def *d = def_of(g->in, fields->at[i]);
    const Given *given = &g->p->given.at[d->given];
    s[i] = (Supply){.name = source_name(g, given),
                    .field = name_text(g->w->names, d->name),
                    .number = d->given,
                    .said = d->span};
  }
  return s;
}

// The fields that either side uses, in the order of the text.
static Ids all_fields(Goals *g, const Ids *a, const Ids *b) {
  Ids all = {0};
  for (uint32_t k = 0; k < g->p->given.n; k++)
    for (uint32_t i = 0; i < g->p->given.at[k].field.n; i++) {
      Id field = g->p->given.at[k].field.at[i]->id;
      if (ids_find(a, field) < a->n || ids_find(b, field) < b->n) vec_push(g->arena, &all, field);
    }
  return all;
}

// Extends the diagram to an input per field, in this order.
static void complete(Goals *g, Diagram *d, const Ids *has, const Ids *fields) {
  Ids in = {0};
  for (uint32_t i = 0; i < fields->n; i++) {
    uint32_t at = ids_find(has, fields->at[i]);
    const Def *def = def_of(g->in, fields->at[i]);
    const Type *type = &g->p->given.at[def->given].type.at[def->field];
    Id wire = at < has->n ? d->in.at[at]
                          : diagram_wire(g->w, d, *type, def->name,
                                         origin_new(g->w, def->span, 0, WHY_SOURCE));
    vec_push(g->w->arena, &in, wire);
  }
  d->in = in;
}

static bool is_frozen(const Goals *g, const char *name) {
  for (uint32_t i = 0; i < g->p->learner.n; i++) {
    const Def *d = g->p->learner.at[i];
    if (title_names(name, name_text(g->w->names, d->name)))
      return d->frozen || d->kind == DEF_STALE;
  }
  return false;
}

void goals_freeze(const Goals *g, Sketch *s) {
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].glyph.n; i++) {
      Glyph *glyph = &s->stage.at[k].glyph.at[i];
      glyph->faint = glyph->bold && glyph->text && is_frozen(g, glyph->text);
    }
}

// A constant used several times is drawn several times.
static void split_constants(Goals *g, Sketch *s) {
  Ids seen = {0};
  for (uint32_t i = 0; i < s->out.n; i++) {
    Bundle *out = &s->bundle.at[s->out.at[i]];
    for (uint32_t k = 0; k < s->stage.n; k++) {
      if (s->stage.at[k].in.n || s->stage.at[k].out.n != 1 || s->stage.at[k].out.at[0] != out->of)
        continue;
      if (ids_find(&seen, k) == seen.n) {
        vec_push(g->arena, &seen, k);
        break;
      }
      Glyph glyph = s->stage.at[k].glyph.at[0];
      uint32_t stage = sketch_stage(s, 0, s->stage.at[k].words),
               made = sketch_make(s, stage, NULL, 1);
      *strand_of(s, made, 0) = (Strand){.bundle = made, .type = strand_of(s, out->of, 0)->type};
      strand_of(s, made, 0)->of = strand_of(s, out->of, 0)->of;
      glyph.out = (Ids){0};
      vec_push(g->arena, &glyph.out, strand_at(s, made, 0));
      vec_push(g->arena, &s->stage.at[stage].glyph, glyph);
      s->bundle.at[s->out.at[i]].of = made;
      break;
    }
  }
}

static Sketch *strings_of(Goals *g, const Diagram *d, const Supply *supply) {
  Sketch *s = circuit_of(g->w, g->arena, d, &g->strings, supply);
  goals_freeze(g, s);
  split_constants(g, s);
  goals_tint(g, s);
  return s;
}

// The centre of the results, aligned with the signs.
static double out_middle(const Layout *l) {
  const Sketch *s = l->s;
  double low = INFINITY, high = -INFINITY;
  for (uint32_t i = 0; i < s->out.n; i++) {
    const Bundle *b = &s->bundle.at[s->out.at[i]];
    low = fmin(low, l->y[b->first]), high = fmax(high, l->y[b->first + b->n - 1]);
  }
  return s->out.n ? (low + high) / 2 : l->height / 2;
}

// -- one goal -------------------------------------------------------------------------------------
// The position of the box or weight with this name, counted from the left; NONE: not in the
// picture.
#define NONE UINT32_MAX

static uint32_t seen_at(const Layout *l, const char *name, uint32_t from) {
  for (uint32_t i = 0; l && i < l->placed.n; i++) {
    const Glyph *glyph = l->placed.at[i].glyph;
    if (glyph->bold && glyph->text && title_names(glyph->text, name)) return from + i;
  }
  return NONE;
}

typedef struct {
  Def *def;
  const char *name;
  uint32_t at;
} Mover;

static int by_sight(const void *a, const void *b) {
  const Mover *x = a, *y = b;
  return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->name, y->name);
}

static bool moves(Goals *g, const Goal *goal, const Ids *parts) {
  for (uint32_t i = 0; goal->diagram && i < goal->diagram->param.n; i++)
    for (uint32_t k = 0; goal->trains[i] && k < parts->n; k++)
      if (def_owns(g->w, &goal->diagram->param.at[i], def_of(g->in, parts->at[k]), NULL))
        return true;
  return false;
}

// The learners in order of appearance, then by name.
static Mover *movers(Goals *g, const Equation *e) {
  uint32_t n = g->p->learner.n;
  Mover *all = NEW_ARRAY(g->arena, Mover, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    Def *d = g->p->learner.at[k];
    const char *name = name_text(g->w->names, d->name);
    uint32_t at = seen_at(e->left, name, 0);
    if (at == NONE) at = seen_at(e->right, name, e->left->placed.n);
    all[k] = (Mover){d, name, at};
  }
  if (n) qsort(all, n, sizeof *all, by_sight);
  return all;
}

// Of a family, the trained members: "gate[0], gate[2]".
static const char *mover_name(Goals *g, const Goal *goal, const Mover *m) {
  Buf b = buf_new(g->arena);
  const Diagram *d = goal->diagram;
  size_t n = strlen(m->name);
  if (!learner_family(m->def->node)) return m->name;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const char *path = d->param.at[i].path;
    if (!goal->trains[i] || !def_owns(g->w, &d->param.at[i], m->def, NULL) || path[n] != '.')
      continue;
    size_t digits = strspn(path + n + 1, "0123456789");
    const char *one = arena_format(g->arena, "%s[%.*s]", m->name, (int)digits, path + n + 1);
    if (!b.n || !strstr(b.at, one)) buf_printf(&b, "%s%s", b.n ? ", " : "", one);
  }
  return b.n ? b.at : m->name;
}

// The trained learners as drawn: a learner stands for the learners inside, and one that is not
// drawn is named unless an earlier one contains it.
static const char *moved_by(Goals *g, const Goal *goal, const Equation *e) {
  Buf b = buf_new(g->arena);
  Ids inside = {0};
  const Mover *all = movers(g, e);
  for (uint32_t k = 0; k < g->p->learner.n; k++) {
    const Mover *m = &all[k];
    Ids parts = {0};
    def_closure(g->in, m->def, &parts);
    if (!moves(g, goal, &parts)) continue;
    if (m->at == NONE && ids_find(&inside, m->def->id) < inside.n) continue;
    for (uint32_t i = 0; i < parts.n; i++) vec_push(g->arena, &inside, parts.at[i]);
    buf_printf(&b, "%s%s", b.n ? ", " : "", mover_name(g, goal, m));
  }
  return b.at;
}

// The distance with its options, as in the goal.
const char *goals_distance(const Goals *g, const Goal *goal) {
  const Diagram *d = goal->diagram;
  for (Id i = d ? d->box.n : 0; goal->distance && i-- > 1;) {
    const Box *box = &d->box.at[i];
    if (box->op == OP_call && !strcmp(name_text(g->w->names, box->callee->name), goal->distance))
      return box_title(g->w, g->arena, box->callee);
  }
  return goal->distance;
}

// The distance and the factor.
static const char *measured_by(Goals *g, const Goal *goal) {
  Buf b = buf_new(g->arena);
  const char *distance = goals_distance(g, goal);
  if (distance) buf_text(&b, distance);
  if (goal->weight != 1) {
    buf_text(&b, b.n ? " ×" : "×");
    buf_number(&b, goal->weight);
  }
  return b.n ? b.at : NULL;
}

static void find_extent(Equation *e) {
  double l = out_middle(e->left), r = e->right ? out_middle(e->right) : l;
  e->above = fmax(fmax(l, r), e->by ? 34 : 0);
  e->below = fmax(e->left->height - l, e->right ? e->right->height - r : 0);
  e->below = fmax(e->below, *e->moved ? 38 : 0);
}

static Layout *broken_side(Goals *g, const PartialDiagram *k, const Ids *fields) {
  Sketch *s = circuit_broken(g->w, g->arena, k, &g->strings, supplies(g, fields));
  goals_freeze(g, s);
  goals_tint(g, s);
  return lay_out(g->arena, s);
}

static bool find_sides(Goals *g, const Goal *goal, Equation *out) {
  const Syntax *claim = goal_claim(goal->node);
  Diagram *side[2];
  Ids has[2] = {{0}};
  if (claim->kind != N_EQUAL) out->sign = claim->kind == N_MINIMISE ? "min" : "max";
  if (said_wrong(g, goal, &out->said)) {
    const BrokenGoal *k = &out->said.wrong;
    out->left = broken_side(g, k->left, &k->fields[0]);
    if (k->right) out->right = broken_side(g, k->right, &k->fields[1]);
  } else if (elab_sides(g->in, g->p, goal, side, has)) {
    Ids fields = all_fields(g, &has[0], &has[1]);
    for (int i = 0; i < 2 && side[i]; i++) {
      complete(g, side[i], &has[i], &fields);
      *(i ? &out->right : &out->left) =
          lay_out(g->arena, strings_of(g, side[i], supplies(g, &fields)));
    }
  }
  return out->left && (out->right || out->sign);
}

static bool equation_of(Goals *g, const Goal *goal, Equation *out) {
  *out = (Equation){.tag = name_text(g->w->names, goal->node->name ? goal->name : 0),
                    .of = group_at(g->arena, goal->node->span, NULL),
                    .by = measured_by(g, goal)};
  if (!find_sides(g, goal, out)) return false;
  out->moved = goal->diagram ? moved_by(g, goal, out) : "";
  find_extent(out);
  said_measure(g, &out->said, out->left, out->right);
  out->below += out->said.high;
  return true;
}

// -- one refinement -------------------------------------------------------------------------------
static Sketch *closed_box(Goals *g, const Diagram *d, const char *name) {
  Sketch *s = sketch_new(g->arena, name);
  s->strings = true;
  uint32_t *in = NEW_ARRAY(g->arena, uint32_t, d->in.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) {
    const char *wire = name_text(g->w->names, d->wire.at[d->in.at[i]].name);
    in[i] = sketch_input(s, *wire ? wire : NULL, 1);
  }
  uint32_t stage = sketch_stage(s, 0, name);
  Glyph *glyph = stage_glyph(s, stage, GLYPH_BOX, name);
  glyph->bold = true;
  glyph->of = group_at(g->arena, origin_span(g->w, d->origin), name);
  for (uint32_t i = 0; i < d->in.n; i++)
    vec_push(g->arena, &glyph->in, strand_at(s, sketch_use(s, stage, in[i]), 0));
  for (uint32_t i = 0; i < d->out.n; i++) {
    uint32_t made = sketch_make(s, stage, NULL, 1);
    vec_push(g->arena, &glyph->out, strand_at(s, made, 0));
    sketch_output(s, made);
  }
  return s;
}

// Names the wires of the box like those of the body.
static void match_border(Sketch *box, Sketch *body) {
  for (uint32_t i = 0; i < body->in.n; i++) {
    body->bundle.at[body->in.at[i]].name = NULL;
    for (uint32_t b = 1; b < box->bundle.n; b++)
      if (b == box->in.at[i] || box->bundle.at[b].of == box->in.at[i])
        strand_of(box, b, 0)->type = strand_of(body, body->in.at[i], 0)->type;
  }
  for (uint32_t i = 0; i < body->out.n; i++) {
    const char *type = strand_of(body, body->out.at[i], 0)->type;
    strand_of(box, box->out.at[i], 0)->type = type;
    strand_of(box, box->bundle.at[box->out.at[i]].of, 0)->type = type;
  }
}

static bool refinement_of(Goals *g, const Def *d, Equation *out) {
  const char *name = name_text(g->w->names, d->name);
  g->w->diags->muted++;
  Diagram *body = elab_diagram(g->in, g->p, name, NULL);
  g->w->diags->muted--;
  if (!body || !body->out.n) return false;
  Sketch *inner = strings_of(g, body, NULL), *box = closed_box(g, body, name);
  if (box->in.n != inner->in.n || box->out.n != inner->out.n) return false;
  match_border(box, inner);
  goals_tint(g, box);
  *out = (Equation){.sign = "↦", .moved = "", .tag = "", .framed = true};
  out->of = group_at(g->arena, d->span, NULL);
  out->left = lay_out(g->arena, box);
  out->right = lay_out(g->arena, inner);
  if (!out->left || !out->right) return false;
  find_extent(out);
  return true;
}

// -- one claim ------------------------------------------------------------------------------------
static bool claim_of(Goals *g, const Check *check, Equation *out) {
  Diagram *side[2];
  if (!check_sides(g->in, g->p, check, side)) return false;
  *out = (Equation){.moved = "", .tag = "", .claimed = true};
  out->of = group_at(g->arena, check->node->span, NULL);
  if (check_within(check->node)) out->by = arena_format(g->arena, "within %g", check->within);
  out->left = lay_out(g->arena, strings_of(g, side[0], NULL));
  out->right = lay_out(g->arena, strings_of(g, side[1], NULL));
  if (!out->left || !out->right) return false;
  find_extent(out);
  return true;
}

// -- marks ----------------------------------------------------------------------------------------
static void half_arrows(Canvas *c, const Equation *e, double x, double y) {
  canvas_open(c, "", "sign", "⇌");
  canvas_of(c, e->of);
  path_move(c, x - 20, y - 3), path_line(c, x + 20, y - 3), path_line(c, x + 9, y - 9);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  path_move(c, x + 20, y + 3), path_line(c, x - 20, y + 3), path_line(c, x - 9, y + 9);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}

static void equals(Canvas *c, const Equation *e, double x, double y) {
  canvas_open(c, "", "sign", "=");
  canvas_of(c, e->of);
  path_move(c, x - 11, y - 4), path_line(c, x + 11, y - 4);
  path_move(c, x - 11, y + 4), path_line(c, x + 11, y + 4);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.5});
  canvas_close(c);
}

static void maps_to(Canvas *c, const Equation *e, double x, double y) {
  canvas_open(c, "", "sign", "↦");
  canvas_of(c, e->of);
  path_move(c, x - 20, y - 6), path_line(c, x - 20, y + 6);
  path_move(c, x - 20, y), path_line(c, x + 19, y);
  path_move(c, x + 11, y - 6), path_line(c, x + 20, y), path_line(c, x + 11, y + 6);
  canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 1.5});
  canvas_close(c);
}

static void brace(Canvas *c, double x, double y0, double y1) {
  double m = (y0 + y1) / 2, r = 8;
  path_move(c, x + r, y0), path_cubic(c, x, y0, x + r, m, x - 2, m);
  path_cubic(c, x + r, m, x, y1, x + r, y1);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.5});
}

// A horizontal wire from one x to another.
static void wire_line(Canvas *c, const Layout *l, uint32_t bundle, double from, double to) {
  uint32_t x = l->s->bundle.at[bundle].first;
  const Strand *k = &l->s->strand.at[x];
  Ink ink = k->alarm ? INK_ALARM : k->ink ? k->ink : INK_LINE;
  line_draw(c, from, l->y[x], to, l->y[x], ink, 1);
}

// A triangle in which the results of the left side end.
static void draw_effect(Canvas *c, const Equation *e, double left, double x, double y) {
  double back = x - 17, tip = x + 23;
  for (uint32_t i = 0; i < e->left->s->out.n; i++)
    wire_line(c, e->left, e->left->s->out.at[i], left - EDGE, back);
  canvas_open(c, "", "glyph", e->sign);
  canvas_of(c, e->of);
  shape_draw(c, (Knee[]){{back, y - 21}, {tip, y}, {back, y + 21}}, 3,
             &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
  math_text(c, x - 15, y + 5, &(Text){.face = FACE_ITALIC, .size = 14, .ink = INK_TEXT}, e->sign);
  canvas_close(c);
}

// A dashed frame around the body, crossed by its outer wires.
static void draw_frame(Canvas *c, const Layout *l) {
  double x0 = l->section.at[0].data, x1 = l->section.at[l->section.n - 1].gather;
  for (uint32_t i = 0; i < l->s->in.n; i++) wire_line(c, l, l->s->in.at[i], x0 - STUB, x0);
  for (uint32_t i = 0; i < l->s->out.n; i++) wire_line(c, l, l->s->out.at[i], x1, x1 + STUB);
  canvas_open(c, "", "frame", "body");
  path_rect(c, x0, l->top[0] - 14, x1 - x0, l->bottom[0] - l->top[0] + 22, 0);
  canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 1, .dash = {5, 4}});
  canvas_close(c);
}

static double right_width(const Equation *e) {
  return e->right ? e->right->width + (e->framed ? 2 * STUB - EDGE : 0) : 0;
}

static double sign_width(const Equation *e) {
  double moved = math_width(FACE_ITALIC, 13, e->moved),
         by = e->by ? math_width(FACE_SANS, 13, e->by) : 0;
  return fmax(SIGN, fmax(moved, by));
}

static void put_equation(Canvas *c, Arena *a, Equation *e, double left, double sign, double y) {
  static const Text below = {
      .face = FACE_ITALIC, .size = 13, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT};
  static const Text above = {
      .face = FACE_SANS, .size = 13, .anchor = ANCHOR_MIDDLE, .ink = INK_SOFT};
  layout_shift(e->left, left - e->left->width, y - out_middle(e->left));
  paint(c, a, e->left);
  if (e->right) {
    layout_shift(e->right, sign + sign_width(e) / 2 + GAP + (e->framed ? STUB - EDGE : 0),
                 y - out_middle(e->right));
    paint(c, a, e->right);
    (e->framed ? maps_to : e->claimed ? equals : half_arrows)(c, e, sign, y);
    if (e->framed) draw_frame(c, e->right);
  } else {
    draw_effect(c, e, left, sign, y);
  }
  bool triangle = !e->right;
  if (*e->moved) label_draw(c, sign, y + (triangle ? 35 : 25), &below, e->moved);
  if (e->by) label_draw(c, sign, y - (triangle ? 26 : 15), &above, e->by);
}

// -- all ------------------------------------------------------------------------------------------
static Equations all_equations(Goals *g, uint32_t *goals) {
  Equations all = {0};
  Equation e;
  for (uint32_t i = 0; i < g->p->goal.n; i++)
    if (equation_of(g, &g->p->goal.at[i], &e)) vec_push(g->arena, &all, e);
  *goals = all.n;
  for (uint32_t i = 0; g->p->ran && i < g->p->ran->check.n; i++)
    if (claim_of(g, &g->p->ran->check.at[i], &e)) vec_push(g->arena, &all, e);
  for (uint32_t i = 0; *goals && i < g->p->learner.n; i++) {
    const Def *d = g->p->learner.at[i];
    if (d->kind == DEF_LEARNER && d->refined && refinement_of(g, d, &e))
      vec_push(g->arena, &all, e);
  }
  return all;
}

// The position for messages about a goal as a whole.
static GoalPlace sign_place(const Equation *e, double x, double y) {
  bool triangle = !e->right;
  return (GoalPlace){x, y - 12, y + (*e->moved ? (triangle ? 42 : 32) : triangle ? 21 : 12)};
}

Canvas *goals_draw(Elab *in, Arena *a, Program *p, bool places) {
  Goals g = {.in = in, .w = elab_world(in), .arena = a, .p = p};
  g.strings = (CircuitOptions){.level = LEVEL_LEARNER, .places = places ? in : NULL};
  uint32_t goals;
  Canvas *least = canvas_new(a, SIGN, LEAST_HEIGHT * (double)p->goal.n, "Goals", "");
  if (canvas_is_cut(least)) return least; // it is refused, so no layout is needed
  Equations all = all_equations(&g, &goals);
  double left = 0, right = 0, height = ROW, tag = 0, wide = SIGN, braced = 0;
  if (!all.n) return NULL;
  for (uint32_t i = 0; i < all.n; i++) {
    const Equation *e = &all.at[i];
    left = fmax(left, e->left->width), right = fmax(right, right_width(e));
    tag = fmax(tag, *e->tag ? text_width(FACE_SANS, TAG, e->tag) + 16 : 0);
    wide = fmax(wide, sign_width(e));
    height += e->above + e->below + ROW;
    if (i < goals) braced = height;
  }
  Said others = {0}, **said = NEW_ARRAY(a, Said *, all.n + 1);
  for (uint32_t i = 0; i < all.n; i++) said[i] = &all.at[i].said;
  said_others(&g, said, all.n, &others);
  said[all.n] = &others;
  const char *about = said_about(&g, said, all.n + 1);
  double first = goals > 1 ? BRACE + 8 : 0, sign = first + left + GAP + wide / 2;
  double width = sign + wide / 2 + GAP + right + tag;
  double most = width;
  for (uint32_t i = 0; i <= all.n; i++) most = fmax(most, first + said[i]->wide);
  Canvas *c = canvas_new(a, most, height + ROW + others.high, "Goals",
                         about   ? about
                         : goals ? "Pictures that training makes equal"
                                 : "Pictures that are claimed to be equal");
  double y = ROW;
  for (uint32_t i = 0; i < all.n; i++) {
    Equation *e = &all.at[i];
    put_equation(c, a, e, first + left, sign, y + e->above);
    if (*e->tag)
      label_draw(c, width - 8, y + e->above + 5,
                 &(Text){.face = FACE_SANS, .size = 13, .anchor = ANCHOR_END, .ink = INK_SOFT},
                 arena_format(a, "(%s)", e->tag));
    GoalPlace place = sign_place(e, sign, y + e->above);
    said_paint(c, &g, &e->said, e->left, e->right, &place,
               (PlateRoom){
                   .height = y + e->above + e->below - e->said.high, .left = first, .below = true});
    y += e->above + e->below + ROW;
  }
  Plating plan =
      plates_plan(a, c, &others.plate, (PlateRoom){.height = height + ROW, .below = true});
  plates_paint(c, &plan, height + ROW);
  if (goals > 1) brace(c, 10, ROW + 4, braced - 4);
  return c;
}
