// Is the Milstein method applicable to a system with white noise?
//
// With G the noise coefficient, the method adds half the derivative of G a along G b, for noise in
// which no component changes another one's coefficient. Then, for signs s of ±1, the derivative of
// G s along G s does not depend on s. This is tested with random signs at the initial states and at
// random points near them, in random modes.
#include "core/diagram/interpret.h"
#include "lang/program/claim_own.h"

#include <math.h>

enum { PLACES = 4, SIGNS = 12 };

typedef struct {
  World *w;
  Arena *arena;
  const System *s;
  const Diagram *d; // system_correction
  Tensor *start;    // [in] initial values of the continuous states
  Tensor *in, *param, *out;
} MilsteinProbe;

static bool like_type(const MilsteinProbe *p, const Type *t, Tensor *out) {
  int64_t shape[RANK_LIMIT];
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(p->w, t->axis[i].size, &shape[i])) return false;
  *out = tensor_new(p->arena, t->rank, shape);
  return true;
}

static double drawn_value(const MilsteinProbe *p, const Type *t, uint64_t place, uint64_t site,
                          uint64_t cell) {
  int64_t values = 2;
  if (t->base == BASE_R) return noise_normal(1, place, site, cell);
  if (t->base == BASE_LABEL && !size_value(p->w, t->count, &values)) values = 1;
  return floor(noise_uniform(1, place, site, cell) * (double)values);
}

static bool begin_probe(MilsteinProbe *p) {
  const Diagram *d = p->d, *from = p->s->d;
  uint32_t at = from->in.n;
  p->start = NEW_ARRAY(p->arena, Tensor, d->in.n + 1);
  p->in = NEW_ARRAY(p->arena, Tensor, d->in.n + 1);
  p->param = NEW_ARRAY(p->arena, Tensor, d->param.n + 1);
  p->out = NEW_ARRAY(p->arena, Tensor, d->out.n + 1);
  for (uint32_t i = 0; i < p->s->state.n; i++) {
    const Param *x = &from->param.at[p->s->state.at[i].param];
    if (p->s->state.at[i].rate && !init_eval(p->w, p->arena, &x->init, &from->wire.at[x->wire].type,
                                             0, site_hash(0, x->path), &p->start[at++]))
      return false;
  }
  for (uint32_t i = 0; i < d->in.n; i++)
    if (!like_type(p, &d->wire.at[d->in.at[i]].type, &p->in[i])) return false;
  return true;
}

// Sets the states and params for one test point.
static bool put_place(MilsteinProbe *p, uint64_t place) {
  const Diagram *d = p->d;
  for (uint32_t i = 0; i < d->in.n; i++)
    for (int64_t k = 0; k < p->in[i].count; k++) {
      const Type *t = &d->wire.at[d->in.at[i]].type;
      double drawn = drawn_value(p, t, place, i, (uint64_t)k),
             start = p->start[i].data ? p->start[i].data[k] : 0;
      p->in[i].data[k] =
          t->base == BASE_R ? start + (double)place * 0.1 * (1 + fabs(start)) * drawn : drawn;
    }
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *x = &d->param.at[i];
    const Type *t = &d->wire.at[x->wire].type;
    if (!init_eval(p->w, p->arena, &x->init, t, 0, site_hash(0, x->path), &p->param[i]))
      return false;
    bool moves = place && x->role == ROLE_BUFFER && t->base != BASE_R;
    for (int64_t k = 0; moves && k < p->param[i].count; k++)
      p->param[i].data[k] = drawn_value(p, t, place, d->in.n + i, (uint64_t)k);
  }
  return true;
}

static bool change_with(MilsteinProbe *p, Arena *arena, uint64_t signs, Tensor *out) {
  uint32_t n = p->s->white.n, first = p->d->in.n - 2 * n;
  for (uint32_t i = 0; i < n; i++)
    for (int64_t k = 0; k < p->in[first + i].count; k++) {
      double s = signs && noise_uniform(2, signs, i, (uint64_t)k) < 0.5 ? -1 : 1;
      p->in[first + i].data[k] = p->in[first + n + i].data[k] = s;
    }
  Eval e = {.arena = arena, .in = p->in, .param = p->param, .out = out};
  return diagram_eval(p->w, p->d, &e);
}

static bool results_agree(const MilsteinProbe *p, const Tensor *a, const Tensor *b) {
  for (uint32_t i = 0; i < p->d->out.n; i++)
    for (int64_t k = 0; k < a[i].count; k++) {
      double x = a[i].data[k], y = b[i].data[k];
      if (fabs(x - y) > 1e-9 * (fabs(x) + fabs(y))) return false;
    }
  return true;
}

// What cannot be evaluated is left to the run.
static bool place_agrees(MilsteinProbe *p, uint64_t place) {
  Tensor *other = NEW_ARRAY(p->arena, Tensor, p->d->out.n + 1);
  bool same = true;
  if (!put_place(p, place) || !change_with(p, p->arena, 0, p->out)) return true;
  for (uint64_t k = 1; k <= SIGNS && same; k++) {
    Arena *once = arena_child(p->arena);
    same = !change_with(p, once, place * SIGNS + k, other) || results_agree(p, p->out, other);
    arena_free(once);
  }
  return same;
}

bool milstein_fits(World *w, const System *s) {
  MilsteinProbe p = {.w = w, .s = s, .d = system_correction(w, s)};
  p.arena = arena_child(w->arena);
  bool fits = true;
  if (begin_probe(&p))
    for (uint64_t place = 0; place < PLACES && fits; place++) fits = place_agrees(&p, place);
  arena_free(p.arena);
  return fits;
}
