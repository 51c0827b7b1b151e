// Finds the origin of a NaN or infinity. The interpreter runs the failed step again and keeps every
// wire. From the non-finite output, the search follows non-finite operands to their producers until a
// box has none. NaN is followed before infinity; an infinity that the program writes itself (a mask, a
// padding) is no error.
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "run/engine/engine_own.h"

#include <math.h>

typedef struct {
  Engine *e;
  Arena *arena;
  const Diagram *d;
  Tensor *wire; // [wire] its value, for inputs and params too
} NonfiniteTrace;

// The first cell that is NaN (or, if !nan, infinite); count: none is.
static int64_t find_nonfinite(const Tensor *t, bool nan) {
  int64_t i = 0;
  while (i < t->count && !(nan ? isnan(t->data[i]) : isinf(t->data[i]))) i++;
  return i;
}

static bool has_nonfinite(const Tensor *t, bool nan) { return find_nonfinite(t, nan) < t->count; }

// The box contains an infinite constant or padding, or an empty maximum or minimum may give one.
static bool means_infinity(const Box *b) {
  if (b->op != OP_loop) return false;
  for (uint32_t i = 0; i < b->loop->nscalar; i++)
    if (b->loop->scalar[i].fn == FN_CONST && isinf(b->loop->scalar[i].k)) return true;
  for (uint32_t i = 0; i < b->loop->nin; i++)
    if (b->loop->in[i].padded && isinf(b->loop->in[i].pad)) return true;
  return b->loop->combine == MAX || b->loop->combine == MIN;
}

static Id bad_operand(const NonfiniteTrace *t, const Box *b) {
  for (uint32_t i = 0; i < b->nin; i++)
    if (has_nonfinite(&t->wire[b->in[i]], true)) return b->in[i];
  for (uint32_t i = 0; i < b->nin; i++) {
    Id maker = t->d->wire.at[b->in[i]].box;
    if (has_nonfinite(&t->wire[b->in[i]], false) &&
        !(maker && means_infinity(&t->d->box.at[maker])))
      return b->in[i];
  }
  return 0;
}

static Id find_origin(const NonfiniteTrace *t, Id wire) {
  for (;;) {
    Id box = t->d->wire.at[wire].box, up = box ? bad_operand(t, &t->d->box.at[box]) : 0;
    if (!up) return wire;
    wire = up;
  }
}

// -- what to say ----------------------------------------------------------------------------------
static int64_t first_bad(const Tensor *t) {
  int64_t at = find_nonfinite(t, has_nonfinite(t, true));
  return at < t->count ? at : 0;
}

static void print_position(Buf *b, const Tensor *t, int64_t at) {
  buf_text(b, t->rank ? " at " : "");
  buf_indices(b, t->rank, t->shape, at);
}

// The functions of a loop that can leave the finite numbers.
static void print_functions(Buf *b, const Box *box) {
  bool said[FN_COUNT] = {false};
  const char *before = " by ";
  for (uint32_t i = 0; box->op == OP_loop && i < box->loop->nscalar; i++) {
    uint8_t fn = box->loop->scalar[i].fn;
    bool plain = fn <= FN_SIZE || fn == FN_add || fn == FN_sub || fn == FN_mul || said[fn];
    said[fn] = true;
    if (plain) continue;
    buf_printf(b, "%s`%s`", before, fn_rows[fn].name);
    before = ", ";
  }
}

static void print_operands(Buf *b, const NonfiniteTrace *t, const Box *box) {
  for (uint32_t i = 0; i < box->nin; i++) {
    const Tensor *x = &t->wire[box->in[i]];
    const char *name = name_text(t->e->w->names, t->d->wire.at[box->in[i]].name);
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < x->count; k++)
      low = fmin(low, x->data[k]), high = fmax(high, x->data[k]);
    if (!x->count) continue;
    buf_printf(b, "; %s%s%s from %.4g to %.4g", *name ? "`" : "an operand", name, *name ? "`" : "",
               low, high);
  }
}

static const char *boundary_text(const NonfiniteTrace *t, Id wire) {
  for (uint32_t i = 0; i < t->d->param.n; i++)
    if (t->d->param.at[i].wire == wire)
      return arena_format(t->e->arena, "%s is not finite any more: an earlier step overflowed",
                          t->d->param.at[i].path);
  Buf b = buf_new(t->e->arena);
  buf_printf(&b, "the data are not finite: `%s` is %g",
             name_text(t->e->w->names, t->d->wire.at[wire].name),
             t->wire[wire].data[first_bad(&t->wire[wire])]);
  print_position(&b, &t->wire[wire], first_bad(&t->wire[wire]));
  return b.at;
}

// The box is a `flow[…]` of the program, which gives NaN if simulation fails.
static bool is_flow(const NonfiniteTrace *t, const Box *box) {
  const World *w = t->e->w;
  Span at = origin_span(w, box->origin);
  return box->op == OP_scan && at.file &&
         !strncmp(source_words(t->arena, w->sources, at), "flow[", strlen("flow["));
}

static void print_flow_advice(Buf *b) {
  buf_text(b,
           ": its rates are not finite, one of its steps has more than four events, two events set "
           "one state to different values, or times go back. `flow[…, steps: 16]` makes more "
           "steps from one time to the next");
}

static const char *box_text(const NonfiniteTrace *t, Id wire) {
  const Wire *x = &t->d->wire.at[wire];
  const Box *box = &t->d->box.at[x->box];
  const Tensor *value = &t->wire[wire];
  Buf b = buf_new(t->e->arena);
  int64_t at = first_bad(value);
  buf_printf(&b, "here it becomes %s",
             isnan(value->data[at]) ? "NaN"
             : value->data[at] > 0  ? "inf"
                                    : "-inf");
  print_functions(&b, box);
  print_position(&b, value, at);
  if (is_flow(t, box))
    print_flow_advice(&b);
  else
    print_operands(&b, t, box);
  return b.at;
}

// -- running it again -----------------------------------------------------------------------------
// The same diagram, with every wire that a box produces as an output.
static Diagram with_all_wires(const NonfiniteTrace *t) {
  Diagram d = *t->d;
  d.out = (Ids){0};
  for (Id i = 1; i < t->d->wire.n; i++)
    if (t->d->wire.at[i].box) vec_push(t->arena, &d.out, i);
  d.param.at = arena_copy(t->arena, t->d->param.at, t->d->param.n * sizeof *d.param.at);
  for (uint32_t i = 0; i < d.param.n; i++) d.param.at[i].next = 0;
  return d;
}

static void fill_boundary(NonfiniteTrace *t, int64_t n, uint64_t step) {
  const Diagram *d = t->d;
  for (uint32_t i = 0; i < d->in.n; i++)
    t->wire[d->in.at[i]] = reference_input(t->e, t->arena, i, n);
  for (uint32_t i = 0; i < d->param.n; i++)
    t->wire[d->param.at[i].wire] = reference_param(t->e, t->arena, i, step);
}

static const char *trace_run(NonfiniteTrace *t, int64_t n, uint64_t step, Span *span) {
  const Diagram all = with_all_wires(t);
  Tensor *out = NEW_ARRAY(t->arena, Tensor, all.out.n + 1);
  t->wire = NEW_ARRAY(t->arena, Tensor, t->d->wire.n + 1);
  const char *error = reference_eval(t->e, t->arena, n, step, &all, out, NULL);
  if (error) return arena_text(t->e->arena, error, strlen(error));
  fill_boundary(t, n, step);
  for (uint32_t i = 0; i < all.out.n; i++) t->wire[all.out.at[i]] = out[i];
  for (uint32_t i = 0; i < t->d->out.n; i++) {
    Id wire = t->d->out.at[i];
    if (t->wire[wire].rank || isfinite(t->wire[wire].data[0])) continue;
    wire = find_origin(t, wire);
    const Wire *x = &t->d->wire.at[wire];
    *span = origin_span(t->e->w, x->box ? t->d->box.at[x->box].origin : x->origin);
    return x->box ? box_text(t, wire) : boundary_text(t, wire);
  }
  return "in doubles everything is finite: the numbers became too large for this precision";
}

const char *engine_trace_nonfinite(Engine *e, int64_t n, uint64_t step, Span *span) {
  NonfiniteTrace t = {.e = e, .arena = arena_child(e->arena), .d = diagram_inline(e->w, e->d)};
  *span = (Span){0};
  const char *text = trace_run(&t, n, step, span);
  arena_free(t.arena);
  return text;
}
