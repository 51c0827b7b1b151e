// The interpreter as an engine: slow, in doubles, and the meaning. Inputs and states are widened to
// doubles, the diagram is evaluated, and results and next states are rounded to what memory holds.
// Nothing is written before everything is known, so a run that fails leaves the states as they
// were.
#include "core/pass/pass.h"
#include "run/engine/engine_own.h"

#include <math.h>

typedef struct {
  const Diagram *flat; // calls written out
  void **in, **out;
  int64_t bytes;
} Reference;

// -- memory ---------------------------------------------------------------------------------------
static Tensor tensor_of_type(Engine *e, Arena *a, const Type *t, int64_t n) {
  int64_t shape[64];
  engine_shape(e->w, t, n, shape);
  return tensor_new(a, t->rank, shape);
}

static void *wire_memory(Engine *e, Reference *r, Id wire) {
  const Type *t = &e->d->wire.at[wire].type;
  int64_t shape[64], cells = 1;
  size_t cell = number_bytes(number_of(store_precision(e->store), t->base, t->rank)), bytes;
  engine_shape(e->w, t, e->samples, shape);
  for (uint32_t i = 0; i < t->rank; i++)
    if (__builtin_mul_overflow(cells, shape[i], &cells)) cells = INT64_MAX / 16;
  if (__builtin_mul_overflow((size_t)cells, cell, &bytes)) bytes = SIZE_MAX;
  r->bytes += (int64_t)bytes;
  return arena_alloc(e->arena, bytes);
}

Tensor reference_input(Engine *e, Arena *a, uint32_t i, int64_t n) {
  Tensor t = tensor_of_type(e, a, &e->d->wire.at[e->d->in.at[i]].type, n);
  numbers_get(engine_in_number(e, i), engine_in(e, i), t.data, t.count);
  return t;
}

Tensor reference_param(Engine *e, Arena *a, uint32_t i, uint64_t step) {
  const Param *p = &e->d->param.at[i];
  Tensor t = tensor_of_type(e, a, &e->d->wire.at[p->wire].type, 0);
  if (e->state[i])
    state_get(e->state[i], t.data);
  else
    t.data[0] = strcmp(p->path, "steps") == 0 ? e->how.steps : (double)step;
  return t;
}

// -- running --------------------------------------------------------------------------------------
const char *reference_eval(Engine *e, Arena *a, int64_t n, uint64_t step, const Diagram *d,
                           Tensor *out, Tensor *next) {
  Tensor *in = NEW_ARRAY(a, Tensor, d->in.n + 1), *param = NEW_ARRAY(a, Tensor, d->param.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = reference_input(e, a, i, n);
  for (uint32_t i = 0; i < d->param.n; i++) param[i] = reference_param(e, a, i, step);
  Eval eval = {.arena = a,
               .seed = e->how.seed,
               .step = step,
               .in = in,
               .param = param,
               .out = out,
               .next = next};
  return diagram_eval(e->w, d, &eval) ? NULL : eval.error;
}

static RunStatus give_results(Engine *e, const Tensor *out, const Tensor *next) {
  Reference *r = e->own;
  bool finite = true;
  for (uint32_t i = 0; i < e->d->out.n; i++) {
    numbers_set(engine_out_number(e, i), r->out[i], out[i].data, out[i].count);
    if (out[i].rank == 0 && e->d->wire.at[e->d->out.at[i]].type.base == BASE_R)
      finite &= isfinite(out[i].data[0]);
  }
  if (!finite) return RUN_NOT_FINITE;
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (e->d->param.at[i].next && e->state[i]) state_set(e->state[i], next[i].data);
  return RUN_GOOD;
}

static RunStatus reference_run(Engine *e, int64_t n, uint64_t step) {
  Reference *r = e->own;
  Arena *a = arena_child(e->arena);
  Tensor *out = NEW_ARRAY(a, Tensor, r->flat->out.n + 1),
         *next = NEW_ARRAY(a, Tensor, r->flat->param.n + 1);
  const char *error = reference_eval(e, a, n, step, r->flat, out, next);
  RunStatus status = error ? RUN_FAILED : give_results(e, out, next);
  if (error) e->error = arena_text(e->arena, error, strlen(error));
  arena_free(a);
  return status;
}

static void *reference_in(Engine *e, uint32_t i) { return ((Reference *)e->own)->in[i]; }
static const void *reference_out(const Engine *e, uint32_t i) {
  return ((const Reference *)e->own)->out[i];
}
static int64_t reference_bytes(const Engine *e) { return ((const Reference *)e->own)->bytes; }
static const char *reference_says(const Engine *e) {
  (void)e;
  return "the reference interpreter, in doubles";
}

static void reference_plan(const Engine *e, Buf *b) {
  const Reference *r = e->own;
  buf_printf(b, "%s: %u boxes, one after the other, by the reference interpreter\n",
             name_text(e->w->names, e->d->name), r->flat->box.n ? r->flat->box.n - 1 : 0);
}

static const EngineKind reference_kind = {.run = reference_run,
                                          .in = reference_in,
                                          .out = reference_out,
                                          .plan = reference_plan,
                                          .says = reference_says,
                                          .bytes = reference_bytes};

bool reference_open(Engine *e) {
  if (diagram_boxes(e->w, e->d) > BOXES_LIMIT)
    return diag_refuse(e->w->diags, (Span){0},
                       "`%s` is more than %d boxes, written out: too many for this",
                       name_text(e->w->names, e->d->name), BOXES_LIMIT);
  Reference *r = NEW(e->arena, Reference);
  e->own = r;
  e->kind = &reference_kind;
  r->flat = diagram_inline(e->w, e->d);
  r->in = NEW_ARRAY(e->arena, void *, e->d->in.n + 1);
  r->out = NEW_ARRAY(e->arena, void *, e->d->out.n + 1);
  for (uint32_t i = 0; i < e->d->in.n; i++) r->in[i] = wire_memory(e, r, e->d->in.at[i]);
  for (uint32_t i = 0; i < e->d->out.n; i++) r->out[i] = wire_memory(e, r, e->d->out.at[i]);
  return true;
}
