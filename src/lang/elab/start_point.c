// Checks that the start of a constrained weight satisfies its constraint.
//
// `learn p : simplex[2] = [0.9, 0.1]`: the box simplex_from computes the free weight, and simplex
// of that must give the point back, up to rounding by hand such as three times 0.333.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "lang/elab/body.h"

#include <math.h>

enum { POINT_LIMIT = 1 << 20 }; // larger points are not checked
#define POINT_WITHIN 1e-3

// The box on a weight of this type, as a diagram of its own; NULL after errors reported elsewhere.
static Diagram *constraint_alone(Body *b, Env *env, const BoxUse *use, const Type *t) {
  World *w = b->w;
  Body *own = body_new(b->in, use->name);
  own->generic = b->generic;
  own->env = env;
  Val in = val_wire(own, diagram_input(w, own->d, *t, 0, origin_at(own, use->span)), use->span);
  sync_sites(own);
  Value v = call_def(own, env, use, NULL, value_one(own, in), NULL);
  Val one = value_single(own, v, use->span);
  Id out = one.error ? 0 : val_to_wire(own, &one, 0);
  if (!out) return NULL;
  diagram_output(w, own->d, out);
  body_finish(own);
  return own->d;
}

static bool is_number(const Init *i) { return i->kind == INIT_CONST || i->kind == INIT_DIAGRAM; }

// The first number that differs, and its value after the round trip.
static bool is_missed(const Tensor *weight, const Tensor *point, const Tensor *back, double *wanted,
                      double *came) {
  for (int64_t i = 0; i < point->count; i++) {
    *wanted = point->data[i];
    *came = isfinite(weight->data[i]) ? back->data[i] : NAN;
    if (!(fabs(*came - *wanted) <= POINT_WITHIN * fmax(1, fabs(*wanted)))) return true;
  }
  return false;
}

bool start_is_point(Body *b, Env *env, const BoxUse *use, const Syntax *said, const Type *t,
                    const Init *start) {
  World *w = b->w;
  Tensor weight, point, back;
  int64_t count;
  if (!type_count(w, t, &count) || count > POINT_LIMIT) return true;
  w->diags->muted++;
  Init wanted = init_from(b, env, said, t);
  Diagram *box = is_number(start) && is_number(&wanted) ? constraint_alone(b, env, use, t) : NULL;
  w->diags->muted--;
  Arena *a = arena_child(w->arena);
  Eval e = {.arena = a, .in = &weight, .out = &back};
  double want = 0, came = 0;
  bool bad = box && !box->param.n && init_eval(w, a, start, t, 0, 0, &weight) &&
             init_eval(w, a, &wanted, t, 0, 0, &point) && diagram_eval(w, box, &e) &&
             back.count == point.count && is_missed(&weight, &point, &back, &want, &came);
  arena_free(a);
  const char *name = name_text(w->names, use->name);
  if (bad && isfinite(came))
    diag_error(w->diags, said->span, "this start is no point of `%s`: %.4g would become %.4g", name,
               want, came);
  else if (bad)
    diag_error(w->diags, said->span, "this start is no point of `%s`: no weight gives %.4g", name,
               want);
  return !bad;
}
