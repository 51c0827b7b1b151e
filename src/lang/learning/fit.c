// Checks that the maps of a learning diagram fit their spaces, and which distances are symmetric.
//
// A map fits if its result is a point of the space it ends in, or if the distance of that space can
// compare the two. Symmetry is tested numerically, d(a, b) = d(b, a) for a few random points, so
// distances written in a program need no mark.
#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "lang/learning/learning_own.h"

#include <math.h>

#define PROBE UINT32_MAX // a family name for instances made only for a test

bool space_wires(Elab *in, const GraphSpace *s, Types *out) {
  if (!s->def || s->def->broken) return false;
  return space_points(in, (Def *)s->def, out);
}

Diagram *distance_on(Elab *in, const GraphSpace *s, const Types *left, const Types *right) {
  World *w = in->w;
  Types both = {0};
  const Def *d = s->def;
  uint32_t freezes = in->freezes;
  for (uint32_t i = 0; i < left->n + right->n; i++) {
    Type t = i < left->n ? left->at[i] : right->at[i - left->n];
    vec_push(w->arena, &both, t);
  }
  Body *b = body_new(in, d->name);
  b->env = env_new(in, NULL, d->scope, b);
  w->diags->muted++;
  in->freezes = PROBE;
  Body *made =
      box_alone(b, b->env, space_distance(d->node), both.n, both.at, space_distance(d->node)->span);
  in->freezes = freezes;
  w->diags->muted--;
  bool good = made && made->d->out.n == 1;
  if (good) diagram_resolve(w, made->d);
  return good ? made->d : NULL;
}

// -- symmetry -------------------------------------------------------------------------------------
bool random_tensor(World *w, const Type *t, uint64_t site, Tensor *out) {
  int64_t *shape = NEW_ARRAY(w->arena, int64_t, t->rank + 1), labels = 1;
  for (uint32_t k = 0; k < t->rank; k++)
    if (!size_value(w, t->axis[k].size, &shape[k])) return false;
  if (t->base == BASE_LABEL && !size_value(w, t->count, &labels)) return false;
  *out = tensor_new(w->arena, t->rank, shape);
  for (int64_t i = 0; i < out->count; i++) {
    double u = noise_uniform(0, 0, site, (uint64_t)i);
    out->data[i] = t->base == BASE_R     ? u
                   : t->base == BASE_BIT ? u > 0.5
                                         : floor(u * (double)labels);
  }
  return true;
}

// Gives the sizes of open spaces an arbitrary number.
static void close_sizes(World *w, Types *t) {
  Id var;
  for (uint32_t i = 0; i < t->n; i++)
    for (uint32_t k = 0; k < t->at[i].rank; k++)
      while (size_open_space(w, t->at[i].axis[k].size, &var))
        t->at[i].axis[k].size = size_subst(w, t->at[i].axis[k].size, var, size_of(w, 3));
}

bool distance_at(World *w, const Diagram *d, const Tensor *in, double *out) {
  Tensor result = {0};
  Eval e = {.arena = w->arena, .in = in, .out = &result};
  if (d->param.n || !diagram_eval(w, d, &e)) return false;
  *out = result.data[0];
  return true;
}

bool is_symmetric(Elab *in, const GraphSpace *s) {
  enum { TRIES = 3, COUNT_LIMIT = 1 << 16 };
  World *w = in->w;
  Types t = {0};
  if (!space_wires(in, s, &t)) return false;
  close_sizes(w, &t);
  const Diagram *d = distance_on(in, s, &t, &t);
  if (!d) return false;
  for (uint32_t i = 0; i < t.n; i++) {
    int64_t count;
    if (!type_count(w, &t.at[i], &count) || count > COUNT_LIMIT) return false;
  }
  for (uint32_t k = 0; k < TRIES; k++) {
    Tensor *there = NEW_ARRAY(w->arena, Tensor, 2 * t.n),
           *back = NEW_ARRAY(w->arena, Tensor, 2 * t.n);
    double a, b;
    for (uint32_t i = 0; i < 2 * t.n; i++) {
      if (!random_tensor(w, &t.at[i % t.n], 1 + 100 * k + i, &there[i])) return false;
      back[(i + t.n) % (2 * t.n)] = there[i];
    }
    if (!distance_at(w, d, there, &a) || !distance_at(w, d, back, &b)) return false;
    if (!(a == b) && !(fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)))) return false;
  }
  return true;
}

// -- does it fit? ---------------------------------------------------------------------------------
static bool is_same_type(Elab *in, const Type *a, const Type *b, Span span) {
  Body body = {.in = in, .w = in->w};
  return shapes_agree(&body, a, b, span, "a space");
}

static const char *types_text(Elab *in, const Types *t) {
  Buf b = buf_new(in->w->arena);
  for (uint32_t i = 0; i < t->n; i++)
    buf_printf(&b, "%s%s", i ? ", " : "", own_text(in->w, &t->at[i]));
  return b.n ? b.at : "nothing";
}

bool fits_space(LearningReader *r, const Types *given, uint32_t vertex, Span span) {
  const GraphSpace *s = &r->g->space.at[vertex];
  const char *name = r->g->graph->vertex.at[vertex].name;
  Types have = {0}, want = {0};
  for (uint32_t i = 0; i < given->n; i++)
    vec_push(r->w->arena, &have, own_type(r->w, &given->at[i]));
  if (!space_wires(r->in, s, &want)) return true; // reported already
  bool same = have.n == want.n;
  for (uint32_t i = 0; same && i < have.n; i++)
    same = is_same_type(r->in, &have.at[i], &want.at[i], span);
  const Syntax *by = space_distance(s->def->node);
  if (same || (by && (distance_on(r->in, s, &have, &want) || distance_on(r->in, s, &want, &have))))
    return true;
  Id e = drawing_error(r, span, "this gives %s, but space `%s` is %s%s", types_text(r->in, &have),
                       name, types_text(r->in, &want),
                       by ? ", and its distance does not compare the two" : "");
  return diag_note(r->w->diags, e, s->span, "the space");
}

// Points the note of a type error to the space.
static void note_space(LearningReader *r, uint32_t edge, uint32_t first) {
  const Edge *e = &r->g->graph->edge.at[edge];
  const Syntax *sig = declared_result(r->g->edge.at[edge].def->node);
  const Diags *d = r->w->diags;
  for (uint32_t i = first; sig && sig->kind == N_SIG && i < d->list.n; i++)
    for (uint32_t k = 0; k < 2; k++) {
      Span at = (k ? sig_to(sig) : sig_from(sig))->span, note = d->list.at[i].note_span;
      uint32_t v = k ? e->to : e->from;
      if (d->list.at[i].note && note.file == at.file && note.at == at.at && note.n == at.n)
        diag_note(r->w->diags, i, r->g->space.at[v].span, "space `%s`",
                  r->g->graph->vertex.at[v].name);
    }
}

// A map of this diagram itself; those of parts are checked there.
static void check_edge(LearningReader *r, uint32_t number) {
  GraphEdge *e = &r->g->edge.at[number];
  uint32_t errors = r->w->diags->errors, first = r->w->diags->list.n;
  Body *b = instance_alone(r->in, e->def, NULL, NULL);
  if (r->w->diags->errors > errors || !b) {
    note_space(r, number, first);
    e->def->broken = r->g->broken = true;
    return;
  }
  if (e->loose)
    fits_space(r, &b->out_type, r->g->graph->edge.at[number].to, e->body ? e->body->span : e->span);
  if (r->w->diags->errors > errors) e->def->broken = true;
}

static void add_learners(Program *p, Learning *g, Arena *a) {
  for (uint32_t i = 0; i < g->edge.n; i++) {
    Def *d = g->edge.at[i].def;
    if (d && d->scope == g->inside && d->kind == DEF_LEARNER) vec_push(a, &p->learner, d);
  }
}

void learnings_check(Elab *in, Program *p) {
  for (uint32_t i = 0; i < p->learning.n; i++) {
    Learning *g = p->learning.at[i];
    LearningReader r = {in, p, in->w, g};
    add_learners(p, g, in->w->arena);
    for (uint32_t k = 0; k < g->edge.n; k++) {
      const Def *d = g->edge.at[k].def;
      if (d && d->scope == g->inside && !d->broken) check_edge(&r, k);
    }
  }
}
