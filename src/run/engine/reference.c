// The interpreter as an engine: slow, in doubles; it defines the semantics. Inputs and states are widened
// to doubles, the diagram is evaluated, and results and next states are rounded to the formats of memory.
// Results are written only after the whole evaluation, so a failed run changes no state.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "run/engine/engine_own.h"

#include <math.h>

// -- memory ---------------------------------------------------------------------------------------
static Tensor tensor_of_type(Engine *e, Arena *a, const Type *t, int64_t n) {
  int64_t shape[64];
  engine_shape(e->w, t, n, shape);
  return tensor_new(a, t->rank, shape);
}

static void *wire_memory(Engine *e, Id wire) {
  const Type *t = &e->d->wire.at[wire].type;
  int64_t shape[64], cells = 1;
  size_t cell = number_bytes(engine_number(e, wire)), bytes;
  engine_shape(e->w, t, e->samples, shape);
  for (uint32_t i = 0; i < t->rank; i++)
    if (__builtin_mul_overflow(cells, shape[i], &cells)) cells = STORE_CELLS_LIMIT + 1;
  if (cells > STORE_CELLS_LIMIT || __builtin_mul_overflow((size_t)cells, cell, &bytes))
    bytes = SIZE_MAX;
  e->bytes += (int64_t)bytes;
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
    t.data[0] = strcmp(p->path, "steps") == 0 ? e->target.steps : (double)step;
  return t;
}

// -- running --------------------------------------------------------------------------------------
const char *reference_eval(Engine *e, Arena *a, int64_t n, uint64_t step, const Diagram *d,
                           Tensor *out, Tensor *next) {
  Tensor *in = NEW_ARRAY(a, Tensor, d->in.n + 1), *param = NEW_ARRAY(a, Tensor, d->param.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = reference_input(e, a, i, n);
  for (uint32_t i = 0; i < d->param.n; i++) param[i] = reference_param(e, a, i, step);
  Eval eval = {.arena = a,
               .seed = e->target.seed,
               .step = step,
               .ticks = e->target.ticks,
               .in = in,
               .param = param,
               .out = out,
               .next = next};
  return diagram_eval(e->w, d, &eval) ? NULL : eval.error;
}

static RunStatus write_results(Engine *e, const Tensor *out, const Tensor *next) {
  bool finite = true;
  for (uint32_t i = 0; i < e->d->out.n; i++) {
    numbers_set(engine_out_number(e, i), e->out[i], out[i].data, out[i].count);
    if (out[i].rank == 0 && e->d->wire.at[e->d->out.at[i]].type.base == BASE_R)
      finite &= isfinite(out[i].data[0]);
  }
  if (!finite) return RUN_NOT_FINITE;
  for (uint32_t i = 0; i < e->d->param.n; i++)
    if (e->d->param.at[i].next && e->state[i]) state_set(e->state[i], next[i].data);
  return RUN_GOOD;
}

static RunStatus reference_run(Engine *e, int64_t n, uint64_t step) {
  const Diagram *flat = e->impl;
  Arena *a = arena_child(e->arena);
  Tensor *out = NEW_ARRAY(a, Tensor, flat->out.n + 1),
         *next = NEW_ARRAY(a, Tensor, flat->param.n + 1);
  const char *error = reference_eval(e, a, n, step, flat, out, next);
  RunStatus status = error ? RUN_FAILED : write_results(e, out, next);
  if (error) e->error = arena_text(e->arena, error, strlen(error));
  arena_free(a);
  return status;
}

static void reference_plan(const Engine *e, Buf *b) {
  const Diagram *flat = e->impl;
  buf_printf(b, "%s: %u boxes, one after the other, by the reference interpreter\n",
             name_text(e->w->names, e->d->name), flat->box.n ? flat->box.n - 1 : 0);
}

static const EngineKind reference_kind = {.run = reference_run, .plan = reference_plan};

bool reference_open(Engine *e) {
  if (diagram_boxes(e->w, e->d) > BOXES_INTERPRETED)
    return diag_refuse(e->w->diags, (Span){0},
                       "`%s` is more than %d boxes, written out: too many for this",
                       name_text(e->w->names, e->d->name), BOXES_INTERPRETED);
  e->impl = diagram_inline(e->w, e->d);
  e->kind = &reference_kind;
  e->description = "the reference interpreter, in doubles";
  for (uint32_t i = 0; i < e->d->in.n; i++) e->in[i] = wire_memory(e, e->d->in.at[i]);
  for (uint32_t i = 0; i < e->d->out.n; i++) e->out[i] = wire_memory(e, e->d->out.at[i]);
  return true;
}
