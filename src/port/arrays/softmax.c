// Softmax. The library's version has five boxes and returns zeros for a completely masked row,
// where ONNX returns NaN. So it becomes ONNX Softmax only if no row can be completely masked:
// scores come from finite arithmetic, or the mask is a condition on indices that leaves an element
// in each row.
#include "core/diagram/ops.h"
#include "port/arrays/arrays.h"

#include <math.h>

// -- detecting fully masked rows ------------------------------------------------------------------
static bool of_places(const Loop *loop, uint32_t at, bool *index) {
  const Scalar *s = &loop->scalar[at];
  if (s->fn == FN_ARG) return false;
  if (s->fn == FN_AT) index[s->ref] = true;
  for (uint32_t i = 0; s->fn > FN_SIZE && i < fn_rows[s->fn].arity; i++)
    if (!of_places(loop, s->arg[i], index)) return false;
  return true;
}

static double at_places(const ArrayGraph *o, const Loop *loop, uint32_t at, const int64_t *place) {
  const Scalar *s = &loop->scalar[at];
  double x[3] = {0}, k = 0;
  if (s->fn == FN_AT) return (double)place[s->ref];
  if (scalar_number(o, loop, at, &k) || s->fn <= FN_SIZE) return k;
  for (uint32_t i = 0; i < fn_rows[s->fn].arity; i++) x[i] = at_places(o, loop, s->arg[i], place);
  return fn_rows[s->fn].value(x[0], x[1], x[2]);
}

// For all values of the other indices, does the condition hold for some index `row`?
static bool leaves_something(ArrayGraph *o, const Loop *loop, uint32_t condition, uint32_t row) {
  bool *used = NEW_ARRAY(o->a, bool, loop->nindex + 1);
  int64_t *place = NEW_ARRAY(o->a, int64_t, loop->nindex + 1),
          *n = NEW_ARRAY(o->a, int64_t, loop->nindex + 1), points = 1;
  if (!of_places(loop, condition, used)) return false;
  used[row] = true;
  for (uint32_t i = 0; i < loop->nindex; i++) {
    n[i] = 1;
    if (used[i] && !arrays_is_number(o, loop->index[i].size, &n[i])) return false;
    points *= n[i];
  }
  if (points > 1 << 22) return false;
  for (int64_t done = 0; done < points; done += n[row]) {
    bool some = false;
    for (place[row] = 0; place[row] < n[row] && !some; place[row]++)
      some = at_places(o, loop, condition, place) != 0;
    if (!some) return false;
    place[row] = 0;
    for (uint32_t i = 0; i < loop->nindex; i++) {
      if (i == row) continue;
      if (++place[i] < n[i]) break;
      place[i] = 0;
    }
  }
  return true;
}

// Arithmetic that is finite on finite inputs, except for overflow.
static bool stays_finite(const ArrayGraph *o, const Loop *loop) {
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    double k;
    if (s->fn == FN_CONST && !isfinite(s->k)) return false;
    if (s->fn == FN_log || s->fn == FN_log1p || s->fn == FN_pow) return false;
    if (s->fn == FN_div && loop->scalar[s->arg[1]].fn != FN_sqrt &&
        (!scalar_number(o, loop, s->arg[1], &k) || k == 0))
      return false;
  }
  return true;
}

enum { FINITE_DEPTH = 8 };

// Has each row along `axis` a finite element? Inputs of the user are only trusted after a sum.
static bool has_finite(ArrayGraph *o, const Diagram *d, Id wire, uint32_t axis, uint32_t depth) {
  const Box *b = loop_maker(d, wire);
  ScalarMatch m;
  uint32_t operand;
  if (!b || depth == FINITE_DEPTH || b->loop->combine != SUM) return false;
  const Loop *loop = b->loop;
  const uint32_t *out = plain_axes(o, loop, &loop->out, &d->wire.at[wire].type);
  uint32_t body = loop->nscalar - 1;
  if (!out) return false;
  if (loop->nindex > loop->out.rank) return stays_finite(o, loop);
  const Scalar *s = &loop->scalar[body];
  double k;
  if (s->fn == FN_select && scalar_number(o, loop, s->arg[2], &k) && k == -INFINITY) {
    if (!leaves_something(o, loop, s->arg[0], out[axis])) return false;
    body = s->arg[1];
  } else if (!stays_finite(o, loop)) {
    return false;
  }
  if (!matches_text(o, loop, body, "a", &m)) return false;
  if (!match_operand(loop, &m, 0, &operand) && loop->nin == 0) return false;
  for (uint32_t i = 0; i < loop->nin; i++)
    if (!plain_axes(o, loop, &loop->in[i], &d->wire.at[b->in[i]].type)) return false;
  for (uint32_t i = 0; i < loop->nin; i++) {
    const Box *before = loop_maker(d, b->in[i]);
    bool given = !d->wire.at[b->in[i]].box;
    if (given && loop->scalar[body].fn == FN_ARG) return false;
    if (!given && (!before || !has_finite(o, d, b->in[i], axis, depth + 1))) return false;
  }
  return true;
}

// -- the five boxes -------------------------------------------------------------------------------
// The loop that reduces one operand, read at whole indices; or NULL.
static const Box *reducing(const Diagram *d, Id wire, Combine how) {
  const Box *b = loop_maker(d, wire);
  if (!b || b->loop->combine != how || b->nin != 1) return NULL;
  const Loop *loop = b->loop;
  if (loop->in[0].rank != loop->nindex || loop->out.rank + 1 != loop->nindex) return NULL;
  return loop->scalar[loop->nscalar - 1].fn == FN_ARG ? b : NULL;
}

// The output axis of each operand axis; loop->nindex: reduced. NULL: other access.
static uint32_t *where_axes(ArrayGraph *o, const Diagram *d, const Box *b, uint32_t operand) {
  const Loop *loop = b->loop;
  uint32_t *out = plain_axes(o, loop, &loop->out, &d->wire.at[b->out[0]].type),
           *in = plain_axes(o, loop, &loop->in[operand], &d->wire.at[b->in[operand]].type);
  uint32_t *to = NEW_ARRAY(o->a, uint32_t, loop->in[operand].rank + 1);
  for (uint32_t k = 0; in && out && k < loop->in[operand].rank; k++) {
    to[k] = loop->nindex;
    for (uint32_t i = 0; i < loop->out.rank; i++)
      if (out[i] == in[k]) to[k] = i;
  }
  return in && out ? to : NULL;
}

// Does the loop reduce only the axis `gone` of the operand, whose axes are in `order`?
static bool reduces_axis(ArrayGraph *o, const Diagram *d, const Box *b, const uint32_t *order,
                         uint32_t gone) {
  const uint32_t *to = b ? where_axes(o, d, b, 0) : NULL;
  for (uint32_t k = 0; to && k < b->loop->nindex; k++) {
    uint32_t want = order ? order[k] : k;
    if (to[k] != (want == gone ? b->loop->nindex : want - (want > gone))) return false;
  }
  return to;
}

typedef struct {
  const Box *last, *e;
  Id x;
  uint32_t axis; // the softmax axis of the result
  uint32_t *to;  // [axis of x] the axis of the result
} SoftmaxBoxes;

static bool softmax_boxes(ArrayGraph *o, const Diagram *d, const Box *box, SoftmaxBoxes *s) {
  ScalarMatch m;
  uint32_t e, sum, x, shift, most;
  s->last = each_box(o, d, box->out[0], "a/maximum(b, k)", &m);
  if (!s->last || match_number(o, s->last->loop, &m, 0) != 1e-300) return false;
  if (!match_operand(s->last->loop, &m, 0, &e) || !match_operand(s->last->loop, &m, 1, &sum) ||
      !reads_in_order(o, d, s->last, e, UINT32_MAX))
    return false;
  for (s->axis = 0; !reads_in_order(o, d, s->last, sum, s->axis);)
    if (++s->axis >= s->last->loop->out.rank) return false;
  const Box *total = reducing(d, s->last->in[sum], SUM);
  if (!reduces_axis(o, d, total, NULL, s->axis) || total->in[0] != s->last->in[e]) return false;
  s->e = each_box(o, d, s->last->in[e], "exp(a - b)", &m);
  if (!s->e || !match_operand(s->e->loop, &m, 0, &x) || !match_operand(s->e->loop, &m, 1, &shift) ||
      !reads_in_order(o, d, s->e, shift, s->axis))
    return false;
  const Box *stop = each_box(o, d, s->e->in[shift], "stop(maximum(a, k))", &m);
  if (!stop || match_number(o, stop->loop, &m, 0) != -1e300 ||
      !match_operand(stop->loop, &m, 0, &most) || !reads_in_order(o, d, stop, most, UINT32_MAX))
    return false;
  s->x = s->e->in[x];
  s->to = where_axes(o, d, s->e, x);
  const Box *largest = reducing(d, stop->in[most], MAX);
  return s->to && reduces_axis(o, d, largest, s->to, s->axis) && largest->in[0] == s->x;
}

Id known_softmax(ArrayGraph *o, const Diagram *d, const Box *box, const Id *of_wire) {
  SoftmaxBoxes s;
  if (!softmax_boxes(o, d, box, &s)) return 0;
  Id x = of_wire[s.x];
  GraphValue v = *arrays_value(o, x);
  uint32_t axis = 0, *back = NEW_ARRAY(o->a, uint32_t, v.rank + 1);
  for (uint32_t k = 0; k < v.rank; k++) {
    if (s.to[k] >= v.rank) return 0;
    back[s.to[k]] = k;
    if (s.to[k] == s.axis) axis = k;
  }
  if (v.rank != s.last->loop->out.rank || !has_finite(o, d, s.x, axis, 0)) return 0;
  Id made = arrays_node(o, "Softmax", 1, &x, &v);
  arrays_attribute_number(o, made, "axis", axis);
  return arrays_transpose(o, made, back);
}
