// Vectorises a built-in box of a box. Axes that the inner box does not consume are marked as batch
// axes on the arguments; the marks are removed from the results.
#include "lang/elab/builtin.h"

void mark_axis(Body *b, Val *v, uint32_t at, uint32_t number) {
  v->type.axis = arena_copy(b->w->arena, v->type.axis, v->type.rank * sizeof(Axis));
  v->type.axis[at].pass = number;
}

void lift_begin(Lift *l, Body *b, const char *word, Span span) {
  *l = (Lift){.b = b, .npass = b->npass, .pass = b->pass, .wires = b->d->wire.n, .span = span};
  l->word = word;
  b->pass = NEW_ARRAY(b->w->arena, Axis, RANK_LIMIT);
  if (l->npass) memcpy(b->pass, l->pass, l->npass * sizeof(Axis));
}

bool lift_over(Lift *l, Value *args, const Match *m) {
  Body *b = l->b;
  World *w = b->w;
  Call c = {.b = b, .def = box_called(b, l->word), .span = l->span};
  Passing p = {.where = arena_alloc(w->arena, sizeof(uint32_t[RANK_LIMIT]) * (args->n + 1))};
  if (!merge_passing(&c, args, m, &p)) return false;
  uint32_t before = b->npass;
  if (!rank_fits(w, (uint64_t)before + p.n + 1, l->span)) return false;
  for (uint32_t i = 0; i < p.n; i++) body_pass(b, before + 1 + i, p.axis[i]);
  for (uint32_t a = 0; a < args->n; a++)
    for (uint32_t k = 0; k < m[a].nrest; k++)
      mark_axis(b, &args->at[a], m[a].rest[k], before + 1 + p.where[a][k]);
  return true;
}

static void unmark(Lift *l, Type *t) {
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->axis[i].pass <= l->npass) continue;
    Axis own = l->b->pass[t->axis[i].pass - 1];
    own.pass = 0;
    t->axis = arena_copy(l->b->w->arena, t->axis, t->rank * sizeof(Axis));
    t->axis[i] = own;
  }
}

void lift_end(Lift *l, Value *out) {
  Body *b = l->b;
  for (Id i = l->wires; i < b->d->wire.n; i++) unmark(l, &b->d->wire.at[i].type);
  for (uint32_t i = 0; i < out->n; i++) unmark(l, &out->at[i].type);
  b->npass = l->npass;
  b->pass = l->pass;
}
