// Which ends of paths a distance can compare, and on which side.
//
// The header of a distance gives the types of its sides: scores on the left, a label on the right.
// Some distances also require probabilities on the right, which no header states; with scores there
// the loss is unbounded below. This is tested numerically, as symmetry is: a distance that is
// unbounded with arbitrary numbers on its right, but bounded with probabilities, accepts only data
// there, or results of a map that ends in probabilities, such as softmax.
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "lang/learning/learning_own.h"

#include <math.h>

enum { DRAWS = 4, SIZE_LIMIT = 1 << 16, HOPS = 16 };
#define FAR 1000.0    // scale of the random numbers
#define BOTTOM -100.0 // values below count as unbounded

typedef enum { RIGHT_ANY, RIGHT_SHARES, RIGHT_MADE } RightKind;

typedef struct {
  Elab *in;
  World *w;
  const Diagram *distance;
  const Types *left, *right;
  RightKind kind;
  const Diagram *made; // RIGHT_MADE: draws the right side
} DistanceTrial;

// -- results of edges -----------------------------------------------------------------------------
static bool is_from_data(const LearningReader *r, uint32_t edge) {
  return r->g->graph->vertex.at[r->g->graph->edge.at[edge].from].index;
}

static bool types_given(LearningReader *r, uint32_t edge, Types *out) {
  const GraphEdge *e = &r->g->edge.at[edge];
  if (e->gives) {
    for (uint32_t i = 0; i < e->given; i++) vec_push(r->w->arena, out, e->gives[i]);
    return true;
  }
  if (!e->loose) return space_wires(r->in, &r->g->space.at[r->g->graph->edge.at[edge].to], out);
  if (e->def->broken) return false;
  Body *b = instance_alone(r->in, e->def, NULL, NULL);
  for (uint32_t i = 0; b && i < b->out_type.n; i++)
    vec_push(r->w->arena, out, own_type(r->w, &b->out_type.at[i]));
  return b != NULL;
}

// -- random trials --------------------------------------------------------------------------------
static bool can_draw(World *w, const Types *t) {
  int64_t count;
  for (uint32_t i = 0; i < t->n; i++)
    if (!type_count(w, &t->at[i], &count) || count > SIZE_LIMIT) return false;
  return true;
}

// Random numbers of both signs, mostly far from zero.
static bool draw_far(World *w, const Type *t, uint64_t site, Tensor *out) {
  if (!random_tensor(w, t, site, out)) return false;
  for (int64_t i = 0; t->base == BASE_R && i < out->count; i++)
    out->data[i] = (2 * out->data[i] - 1) * FAR;
  return true;
}

// Probabilities along the last axis; a scalar is in [0, 1].
static bool draw_shares(World *w, const Type *t, uint64_t site, Tensor *out) {
  if (!random_tensor(w, t, site, out)) return false;
  int64_t n = out->rank ? out->shape[out->rank - 1] : 0;
  for (int64_t at = 0; t->base == BASE_R && n && at + n <= out->count; at += n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += out->data[at + i];
    for (int64_t i = 0; i < n; i++) out->data[at + i] /= sum;
  }
  return true;
}

static bool draw_made(const DistanceTrial *t, uint64_t site, Tensor *out) {
  const Diagram *d = t->made;
  Tensor *in = NEW_ARRAY(t->w->arena, Tensor, d->in.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++)
    if (!draw_far(t->w, &d->wire.at[d->in.at[i]].type, site + i, &in[i])) return false;
  Eval e = {.arena = t->w->arena, .in = in, .out = out};
  return diagram_eval(t->w, d, &e);
}

static bool draw_right(const DistanceTrial *t, uint64_t site, Tensor *out) {
  if (t->kind == RIGHT_MADE) return draw_made(t, site, out);
  for (uint32_t i = 0; i < t->right->n; i++)
    if (!(t->kind == RIGHT_ANY ? draw_far : draw_shares)(t->w, &t->right->at[i], site + i, &out[i]))
      return false;
  return true;
}

// Is the distance unbounded below? False if it cannot be tried.
static bool has_no_bottom(const DistanceTrial *t) {
  uint32_t n = t->left->n + t->right->n;
  for (uint64_t k = 0; k < DRAWS; k++) {
    Tensor *at = NEW_ARRAY(t->w->arena, Tensor, n + 1);
    double value;
    for (uint32_t i = 0; i < t->left->n; i++)
      if (!draw_far(t->w, &t->left->at[i], 1 + 100 * k + i, &at[i])) return false;
    if (!draw_right(t, 51 + 100 * k, at + t->left->n)) return false;
    if (!distance_at(t->w, t->distance, at, &value)) return false;
    if (value < BOTTOM) return true;
  }
  return false;
}

// -- the last step of a map -----------------------------------------------------------------------
static bool mentions_learner(Elab *in, Scope *s, const Syntax *n) {
  Ids all = {0};
  in->closure++;
  add_closure(in, s, n, &all);
  return all.n > 0;
}

static const Syntax *last_step(const Syntax *n) {
  while (n) {
    if (n->kind == N_PAREN)
      n = paren_inner(n);
    else if (n->kind == N_PIPE)
      n = pipe_stages(n).at[pipe_stages(n).n - 1];
    else if (n->kind == N_CALL)
      n = call_callee(n);
    else
      break;
  }
  return n;
}

// The last step without weights, through the bodies of learners and boxes; or NULL.
static const Syntax *plain_step(Elab *in, Scope **s, const Syntax *body) {
  for (uint32_t hops = 0; hops < HOPS; hops++) {
    const Syntax *step = last_step(body), *base = step ? use_base(step) : NULL;
    if (!base || base->kind != N_NAME) return NULL;
    if (!mentions_learner(in, *s, step)) return step;
    const Def *d = scope_meaning(*s, base);
    if (!d || (d->kind != DEF_LEARNER && d->kind != DEF_BOX)) return NULL;
    bool refined = d->kind == DEF_LEARNER && d->refined;
    body = refined ? refine_body(d->refined) : declared_body(d->node);
    *s = refined ? d->refined_in : d->scope;
  }
  return NULL;
}

// A box without weights, from its result type to itself, as a diagram; or NULL.
static const Diagram *step_alone(LearningReader *r, Scope *s, const Syntax *step,
                                 const Types *gives) {
  Elab *in = r->in;
  World *w = r->w;
  Body *b = body_new(in, r->g->name);
  b->env = env_new(in, NULL, s, b);
  w->diags->muted++;
  Body *made = box_alone(b, b->env, step, gives->n, gives->at, step->span);
  w->diags->muted--;
  bool good = made && made->d->out.n == gives->n && !made->d->param.n;
  for (uint32_t i = 0; good && i < gives->n; i++) {
    Type own = own_type(w, &made->out_type.at[i]);
    good = type_equal(w, &own, &gives->at[i]);
  }
  if (good) diagram_resolve(w, made->d);
  return good ? made->d : NULL;
}

static const Diagram *end_of_map(LearningReader *r, uint32_t edge, const Types *gives) {
  const GraphEdge *e = &r->g->edge.at[edge];
  Scope *s = e->home;
  if (e->def && e->body && !mentions_learner(r->in, s, e->body)) {
    Body *b = instance_alone(r->in, e->def, NULL, NULL);
    if (!b || b->d->param.n) return NULL;
    diagram_resolve(r->w, b->d);
    return b->d;
  }
  const Syntax *body = e->body;
  if (e->def && e->def->kind == DEF_LEARNER && e->def->refined)
    body = refine_body(e->def->refined), s = e->def->refined_in;
  const Syntax *step = body ? plain_step(r->in, &s, body) : NULL;
  return step ? step_alone(r, s, step, gives) : NULL;
}

// -- both ends ------------------------------------------------------------------------------------
static Fitting try_ends(LearningReader *r, uint32_t left, uint32_t right) {
  Types a = {0}, b = {0};
  const GraphSpace *s = &r->g->space.at[r->g->graph->edge.at[right].to];
  if (!types_given(r, left, &a) || !types_given(r, right, &b)) return FITS; // reported elsewhere
  DistanceTrial t = {.in = r->in, .w = r->w, .left = &a, .right = &b};
  t.distance = distance_on(r->in, s, &a, &b);
  if (!t.distance)
    return a.n == 1 && b.n == 1 ? FITS_NOT : FITS; // several wires: compared one by one
  if (is_from_data(r, right) || !can_draw(r->w, &a) || !can_draw(r->w, &b)) return FITS;
  if (!has_no_bottom(&t)) return FITS;
  t.kind = RIGHT_SHARES;
  if (has_no_bottom(&t)) return FITS; // unbounded in any case
  t.kind = RIGHT_MADE;
  t.made = end_of_map(r, right, &b);
  return t.made && !has_no_bottom(&t) ? FITS : FITS_NO_SCORES;
}

Fitting ends_fit(LearningReader *r, uint32_t left, uint32_t right) {
  uint32_t key[2] = {left, right};
  Id known = table_get(r->g->fitting, key, sizeof key);
  if (known) return (Fitting)(known - 1);
  Fitting found = try_ends(r, left, right);
  table_put(r->g->fitting, key, sizeof key, (Id)found + 1);
  return found;
}
