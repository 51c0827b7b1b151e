// The reference interpreter: defines the meaning of diagrams, in doubles, simple rather than fast.
// Every other way to run a diagram is tested against it.
//
// A diagram runs in a frame: a tensor per wire, a value per size variable, and an arena that is
// freed when the frame is closed. A call opens a frame for the callee, a scan opens one per step.
// Size variables are inferred from the shapes of the arguments (an axis of size 2*n + 1 and length
// 7 gives n = 3), otherwise taken from the caller. Every length is checked against the type of its
// wire.
//
// A loop enumerates its iteration domain, the last index fastest. Coordinates are computed in
// doubles: exact up to 2^53, and larger values are out of bounds of every admissible tensor. Where
// all points of an access are inside its tensor, its offset advances from point to point.
//
// Any failure jumps back to diagram_eval, which frees the frames and stores a message in .error.
#include "core/diagram/interpret.h"
#include "base/files.h"
#include "base/names.h"
#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"

#include <math.h>

// Elements alive at once: 8 GiB, or less on a machine with less memory.
#define ELEMENTS_LIMIT ((double)(1u << 30))
#define POINTS_LIMIT 1e12 // points of one iteration domain
#define FEW_POINTS 4      // up to so many, strides take more time than they save

typedef struct EvalFrame EvalFrame;

typedef struct {
  World *w;
  Eval *e;
  EvalFrame *top;
  Arena *opening;        // the arena of a frame that is being opened
  double elements;       // alive now
  double most;           // limit of `elements`
  VEC(int64_t) position; // positions of the enclosing scans, outermost first
  uint64_t path;         // site prefix of the enclosing calls
  Guard guard;
} EvalRun;

struct EvalFrame {
  EvalRun *run;
  EvalFrame *caller;
  const Diagram *d;
  Arena *arena;
  double elements; // elements owned by this frame
  double *var;     // [variable] value; NaN = unknown
  Tensor *wire;    // [wire]
};

__attribute__((format(printf, 2, 3), noreturn)) static void fail(EvalRun *run, const char *format,
                                                                 ...) {
  va_list args;
  va_start(args, format);
  run->e->error = arena_vformat(run->e->arena, format, args);
  va_end(args);
  guard_fail(&run->guard);
}

// -- tensors --------------------------------------------------------------------------------------
// The number of elements, saturated at INT64_MAX; -1 if a length is negative.
static int64_t shape_count(uint32_t rank, const int64_t *shape) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] < 0) return -1;
    if (__builtin_mul_overflow(count, shape[i], &count)) count = INT64_MAX;
  }
  for (uint32_t i = 0; i < rank; i++)
    if (shape[i] == 0) return 0;
  return count;
}

Tensor tensor_new(Arena *a, uint32_t rank, const int64_t *shape) {
  Tensor t = {.rank = rank,
              .shape = arena_copy(a, shape, rank * sizeof(int64_t)),
              .count = shape_count(rank, shape)};
  t.data = arena_alloc(
      a, t.count < 0 || t.count > PTRDIFF_MAX / 16 ? SIZE_MAX : (size_t)t.count * sizeof(double));
  return t;
}

static void check_memory(EvalFrame *f, double numbers) {
  if (f->run->elements + numbers <= f->run->most) return;
  fail(f->run,
       "%s needs more memory than the interpreter allows: %.6g numbers, and %.6g are the most",
       name_text(f->run->w->names, f->d->name), f->run->elements + numbers, f->run->most);
}

static Tensor frame_tensor(EvalFrame *f, uint32_t rank, const int64_t *shape) {
  int64_t count = shape_count(rank, shape);
  check_memory(f, (double)count);
  f->elements += (double)count;
  f->run->elements += (double)count;
  return tensor_new(f->arena, rank, shape);
}

static void copy_data(Tensor *to, const Tensor *from) {
  if (from->count) memcpy(to->data, from->data, (size_t)from->count * sizeof(double));
}

// -- frames ---------------------------------------------------------------------------------------
static EvalFrame *frame_open(EvalRun *run, EvalFrame *caller, const Diagram *d) {
  Arena *a = arena_child(run->e->arena);
  run->opening = a;
  EvalFrame *f = NEW(a, EvalFrame);
  *f = (EvalFrame){.run = run, .caller = caller, .d = d, .arena = a};
  run->top = f;
  run->opening = NULL;
  f->wire = NEW_ARRAY(a, Tensor, d->wire.n);
  uint32_t n = size_var_count(run->w);
  f->var = NEW_ARRAY(a, double, n);
  for (uint32_t i = 0; i < n; i++) f->var[i] = NAN;
  return f;
}

static void frame_close(EvalFrame *f) {
  f->run->top = f->caller;
  f->run->elements -= f->elements;
  arena_free(f->arena);
}

static const char *wire_text(EvalFrame *f, Id wire) {
  const char *name = name_text(f->run->w->names, f->d->wire.at[wire].name);
  const char *in = name_text(f->run->w->names, f->d->name);
  if (!*name)
    return arena_format(f->run->e->arena, "wire %u of %s", wire, *in ? in : "the diagram");
  return arena_format(f->run->e->arena, "`%s` of %s", name, *in ? in : "the diagram");
}

// -- sizes ----------------------------------------------------------------------------------------
static bool length_of(EvalFrame *f, Size size, int64_t *out) {
  double x;
  if (size_value(f->run->w, size, out)) return true;
  if (!size_at(f->run->w, size, f->var, &x) || !(fabs(x) < 9e15) || x != floor(x)) return false;
  *out = (int64_t)x;
  return true;
}

static int64_t known_length(EvalFrame *f, Size size, const char *what) {
  int64_t n;
  if (!length_of(f, size, &n))
    fail(f->run, "%s: the number of %s, %s, is not known", name_text(f->run->w->names, f->d->name),
         what, size_text(f->run->w, size));
  return n;
}

static int64_t nonnegative_length(EvalFrame *f, Size size, const char *what) {
  int64_t n = known_length(f, size, what);
  if (n < 0)
    fail(f->run, "%s: the number of %s, %s, is negative", name_text(f->run->w->names, f->d->name),
         what, size_text(f->run->w, size));
  return n;
}

// Solves size = length for the one unknown variable of `size`, if the size is affine in the
// variable: a straight line through its values at 0 and 1.
static bool solve_length(EvalFrame *f, Size size, int64_t length) {
  World *w = f->run->w;
  Ids vars = {0};
  Id unknown = 0;
  double at0, at1, there;
  size_vars(w, size, &vars);
  for (uint32_t i = 0; i < vars.n; i++) {
    if (!isnan(f->var[vars.at[i]])) continue;
    if (unknown) return false;
    unknown = vars.at[i];
  }
  if (!unknown) return false;
  double *x = &f->var[unknown];
  *x = 0;
  bool ok = size_at(w, size, f->var, &at0);
  *x = 1;
  ok = ok && size_at(w, size, f->var, &at1) && at0 != at1;
  if (ok) *x = ((double)length - at0) / (at1 - at0);
  ok = ok && *x >= 0 && *x == floor(*x) && size_at(w, size, f->var, &there) &&
       there == (double)length;
  if (!ok) *x = NAN;
  return ok;
}

static bool solve_wire(EvalFrame *f, Id wire, bool lone) {
  const Type *t = &f->d->wire.at[wire].type;
  int64_t n;
  bool found = false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(f->run->w, t->axis[i].size, &n) &&
        (!lone || size_is_var(f->run->w, t->axis[i].size, NULL)))
      found |= solve_length(f, t->axis[i].size, f->wire[wire].shape[i]);
  return found;
}

static void check_labels(EvalFrame *f, Id wire) {
  const Type *t = &f->d->wire.at[wire].type;
  int64_t count = 2;
  if (t->base == BASE_R) return;
  // Unknown number of labels: accept any.
  if (t->base == BASE_LABEL && !length_of(f, t->count, &count)) count = INT32_MAX;
  for (int64_t i = 0; i < f->wire[wire].count; i++) {
    double x = f->wire[wire].data[i];
    if (!(x >= 0 && x < (double)count) || x != floor(x))
      fail(f->run, "%s holds %g, which is not one of its %lld values", wire_text(f, wire), x,
           (long long)count);
  }
}

static void check_shape(EvalFrame *f, Id wire) {
  const Type *t = &f->d->wire.at[wire].type;
  const Tensor *x = &f->wire[wire];
  for (uint32_t i = 0; i < t->rank; i++) {
    int64_t n = known_length(f, t->axis[i].size, "positions of an axis");
    const char *label = name_text(f->run->w->names, t->axis[i].label);
    if (n != x->shape[i])
      fail(f->run, "%s: axis %u%s%s%s has length %lld, but %lld is wanted", wire_text(f, wire),
           i + 1, *label ? " (" : "", label, *label ? ")" : "", (long long)x->shape[i],
           (long long)n);
  }
}

static void check_rank(EvalFrame *f, Id wire, const Tensor *x) {
  if (x->rank != f->d->wire.at[wire].type.rank || x->count != shape_count(x->rank, x->shape))
    fail(f->run, "%s has %u axes, but the tensor for it has %u", wire_text(f, wire),
         f->d->wire.at[wire].type.rank, x->rank);
}

// Binds arguments, then params, to their wires, and infers the size variables in their types.
static void frame_bind(EvalFrame *f, const Tensor *in) {
  uint32_t n = f->d->in.n + f->d->param.n;
  for (uint32_t i = 0; i < n; i++) {
    check_rank(f, diagram_source(f->d, i), &in[i]);
    f->wire[diagram_source(f->d, i)] = in[i];
  }
  for (uint32_t i = 0; i < n; i++)
    solve_wire(f, diagram_source(f->d, i), true); // axes that are a lone variable first
  for (bool found = true; found;) {
    found = false;
    for (uint32_t i = 0; i < n; i++) found |= solve_wire(f, diagram_source(f->d, i), false);
  }
  if (f->caller)
    for (uint32_t i = 0; i < size_var_count(f->run->w); i++)
      if (isnan(f->var[i])) f->var[i] = f->caller->var[i];
  for (uint32_t i = 0; i < n; i++) {
    check_shape(f, diagram_source(f->d, i));
    check_labels(f, diagram_source(f->d, i));
  }
}

// Tensors live until the frame is closed, so the total memory is checked before the first is
// allocated.
static void check_frame_memory(EvalFrame *f) {
  double numbers = 0;
  for (uint32_t i = 1; i < f->d->box.n; i++)
    for (uint32_t k = 0; k < f->d->box.at[i].nout; k++) {
      const Type *t = &f->d->wire.at[f->d->box.at[i].out[k]].type;
      double count = 1;
      int64_t n;
      for (uint32_t j = 0; j < t->rank; j++)
        count *= length_of(f, t->axis[j].size, &n) && n > 0 ? (double)n : 0;
      numbers += count;
    }
  check_memory(f, numbers);
}

static Tensor *make_wire(EvalFrame *f, Id wire) {
  const Type *t = &f->d->wire.at[wire].type;
  int64_t few[4], *shape = t->rank > COUNT(few) ? NEW_ARRAY(f->arena, int64_t, t->rank) : few;
  for (uint32_t i = 0; i < t->rank; i++)
    shape[i] = nonnegative_length(f, t->axis[i].size, "positions of an axis");
  f->wire[wire] = frame_tensor(f, t->rank, shape);
  return &f->wire[wire];
}

// -- loop -----------------------------------------------------------------------------------------
typedef struct {
  double c;
  double *index;   // [index] coefficient
  double *operand; // [operand] coefficient; NULL if all are 0
  double length;
} AffineCoord; // an evaluated coordinate; `length` is the length of the axis

typedef struct {
  const Tensor *tensor;
  uint32_t rank;
  AffineCoord *line;
  bool padded;
  double pad;
  // [index] the distance between the elements of neighbouring points; NULL where an operand is in a
  // coordinate, or a point lies outside: then each offset is computed from the coordinates.
  int64_t *stride;
  int64_t at;  // with strides: the offset at the current point
} BoundAccess; // an access with evaluated coordinates

typedef struct {
  EvalFrame *f;
  const Loop *loop;
  BoundAccess out, *in;
  BoundAccess **strided; // [nstrided] those with strides
  uint32_t nstrided;
  int64_t *length;        // [index]
  double *at;             // [index] the point
  double *value;          // [operand] the value read at the point
  double *scalar;         // [scalar]
  double *size;           // [scalar] values of FN_SIZE scalars; NULL if there are none
  unsigned char *touched; // [out]
  // [index] the argmax or argmin output of a reduced index, or NULL (MAX and MIN only).
  Tensor **winner;
  bool bits;
} LoopRun;

static AffineCoord affine_coord(EvalFrame *f, const Loop *loop, const Coord *c, int64_t length) {
  AffineCoord line = {.length = (double)length, .index = NEW_ARRAY(f->arena, double, loop->nindex)};
  line.c = c->c ? (double)known_length(f, c->c, "an offset") : 0;
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *term = &c->term[i];
    double coef = (double)known_length(f, term->coef, "a coefficient");
    if (term->operand && !line.operand) line.operand = NEW_ARRAY(f->arena, double, loop->nin);
    if (term->operand)
      line.operand[term->var] += coef;
    else
      line.index[term->var] += coef;
  }
  return line;
}

static BoundAccess bind_access(EvalFrame *f, const Loop *loop, const Access *a, const Tensor *t) {
  BoundAccess r = {.tensor = t, .rank = a->rank, .padded = a->padded, .pad = a->pad};
  r.line = NEW_ARRAY(f->arena, AffineCoord, a->rank);
  for (uint32_t i = 0; i < a->rank; i++)
    r.line[i] = affine_coord(f, loop, &a->coord[i], t->shape[i]);
  return r;
}

// Whether a coordinate is on its axis at every point of the domain. An index of one value is 0.
static bool stays_inside(const LoopRun *k, const AffineCoord *line) {
  double low = line->c, high = line->c;
  for (uint32_t j = 0; j < k->loop->nindex; j++) {
    double far = k->length[j] > 1 ? line->index[j] * (double)(k->length[j] - 1) : 0;
    if (far < 0)
      low += far;
    else
      high += far;
  }
  return !line->operand && low >= 0 && high < line->length;
}

static void find_strides(LoopRun *k, BoundAccess *r) {
  for (uint32_t i = 0; i < r->rank; i++)
    if (!stays_inside(k, &r->line[i])) return;
  r->stride = NEW_ARRAY(k->f->arena, int64_t, k->loop->nindex);
  for (uint32_t i = 0; i < r->rank; i++) {
    const AffineCoord *line = &r->line[i];
    r->at = r->at * (int64_t)line->length + (int64_t)line->c;
    for (uint32_t j = 0; j < k->loop->nindex; j++)
      if (k->length[j] > 1)
        r->stride[j] = r->stride[j] * (int64_t)line->length + (int64_t)line->index[j];
  }
  k->strided[k->nstrided++] = r;
}

static bool element_offset(const LoopRun *k, const BoundAccess *r, int64_t *offset) {
  int64_t at = 0;
  if (r->stride) {
    *offset = r->at;
    return true;
  }
  for (uint32_t i = 0; i < r->rank; i++) {
    const AffineCoord *line = &r->line[i];
    double x = line->c;
    for (uint32_t j = 0; j < k->loop->nindex; j++) x += line->index[j] * k->at[j];
    if (line->operand)
      for (uint32_t j = 0; j < k->loop->nin; j++)
        if (line->operand[j] != 0) x += line->operand[j] * k->value[j];
    if (!(x >= 0 && x < line->length)) return false;
    at = at * (int64_t)line->length + (int64_t)x;
  }
  *offset = at;
  return true;
}

static bool read_operands(LoopRun *k) {
  int64_t offset;
  for (uint32_t i = 0; i < k->loop->nin; i++) {
    if (element_offset(k, &k->in[i], &offset))
      k->value[i] = k->in[i].tensor->data[offset];
    else if (k->in[i].padded)
      k->value[i] = k->in[i].pad;
    else
      return false;
  }
  return true;
}

static double body_value(LoopRun *k) {
  for (uint32_t i = 0; i < k->loop->nscalar; i++) {
    const Scalar *s = &k->loop->scalar[i];
    switch (s->fn) {
    case FN_CONST: k->scalar[i] = s->k; break;
    case FN_ARG: k->scalar[i] = k->value[s->ref]; break;
    case FN_AT: k->scalar[i] = k->at[s->ref]; break;
    case FN_SIZE: k->scalar[i] = k->size[i]; break;
    default:
      k->scalar[i] =
          fn_rows[s->fn].value(k->scalar[s->arg[0]], k->scalar[s->arg[1]], k->scalar[s->arg[2]]);
    }
  }
  return k->scalar[k->loop->nscalar - 1];
}

// Whether x replaces `old` as the extremum. NaN beats everything but NaN.
static bool is_new_extremum(Combine combine, double x, double old) {
  if (isnan(old)) return false;
  return isnan(x) || (combine == MAX ? x > old : x < old);
}

static void combine_into(LoopRun *k, int64_t offset, double x) {
  double *cell = &k->out.tensor->data[offset];
  Combine how = k->loop->combine;
  bool first = !k->touched[offset], extreme = how == MAX || how == MIN;
  k->touched[offset] = 1;
  if (extreme && !first && !is_new_extremum(how, x, *cell)) return;
  if (first || extreme)
    *cell = x;
  else if (how == PROD)
    *cell *= x;
  else
    *cell = k->bits ? (double)(*cell != x) : *cell + x;
  for (uint32_t i = 0; extreme && i < k->loop->nindex; i++)
    if (k->winner[i]) k->winner[i]->data[offset] = k->at[i];
}

static void move_strided(LoopRun *k, uint32_t index, int64_t by) {
  for (uint32_t i = 0; i < k->nstrided; i++) k->strided[i]->at += by * k->strided[i]->stride[index];
}

static bool next_point(LoopRun *k) {
  for (uint32_t i = k->loop->nindex; i-- > 0;) {
    if (++k->at[i] < (double)k->length[i]) {
      move_strided(k, i, 1);
      return true;
    }
    k->at[i] = 0;
    move_strided(k, i, 1 - k->length[i]);
  }
  return false;
}

static double identity(EvalFrame *f, const Loop *loop, const Type *t) {
  int64_t count = 1;
  bool real = t->base == BASE_R;
  if (t->base == BASE_BIT) count = 2;
  if (t->base == BASE_LABEL && !length_of(f, t->count, &count)) count = 1;
  switch (loop->combine) {
  case SUM: return 0;
  case PROD: return 1;
  case MAX: return real ? -INFINITY : 0;
  case MIN: return real ? INFINITY : (double)(count - 1);
  }
  return 0;
}

// The number of points of the domain.
static double count_work(LoopRun *k) {
  double points = 1;
  uint64_t each = 0;
  for (uint32_t i = 0; i < k->loop->nindex; i++) points *= (double)k->length[i];
  if (points > POINTS_LIMIT)
    fail(k->f->run, "%s: a loop of %.3g points is more than the interpreter allows",
         name_text(k->f->run->w->names, k->f->d->name), points);
  for (uint32_t i = 0; i < k->loop->nscalar; i++) each += k->loop->scalar[i].fn == FN_mul;
  k->f->run->e->multiplications += each * (uint64_t)points;
  return points;
}

static void loop_prepare(LoopRun *k, const Box *b) {
  EvalFrame *f = k->f;
  const Loop *loop = k->loop;
  uint32_t port = 1;
  k->length = NEW_ARRAY(f->arena, int64_t, loop->nindex);
  k->at = NEW_ARRAY(f->arena, double, loop->nindex);
  k->value = NEW_ARRAY(f->arena, double, loop->nin);
  k->scalar = NEW_ARRAY(f->arena, double, loop->nscalar);
  if (loop->combine == MAX || loop->combine == MIN)
    k->winner = NEW_ARRAY(f->arena, Tensor *, loop->nindex);
  k->in = NEW_ARRAY(f->arena, BoundAccess, loop->nin);
  k->strided = NEW_ARRAY(f->arena, BoundAccess *, loop->nin + 1);
  for (uint32_t i = 0; i < b->nout; i++) make_wire(f, b->out[i]);
  for (uint32_t i = 0; i < loop->nindex; i++) {
    k->length[i] = nonnegative_length(f, loop->index[i].size, "values of an index");
    if (k->winner && loop_is_reduced(f->run->w, loop, i)) k->winner[i] = &f->wire[b->out[port++]];
  }
  for (uint32_t i = 0; i < loop->nin; i++)
    k->in[i] = bind_access(f, loop, &loop->in[i], &f->wire[b->in[i]]);
  k->out = bind_access(f, loop, &loop->out, &f->wire[b->out[0]]);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    if (loop->scalar[i].fn != FN_SIZE) continue;
    if (!k->size) k->size = NEW_ARRAY(f->arena, double, loop->nscalar);
    if (!size_at(f->run->w, loop->scalar[i].ref, f->var, &k->size[i]))
      fail(f->run, "the size %s is not known", size_text(f->run->w, loop->scalar[i].ref));
  }
}

static void eval_loop(EvalFrame *f, const Box *b) {
  LoopRun *k = NEW(f->arena, LoopRun);
  const Type *type = &f->d->wire.at[b->out[0]].type;
  int64_t offset;
  *k = (LoopRun){.f = f, .loop = b->loop, .bits = type->base == BASE_BIT};
  loop_prepare(k, b);
  double points = count_work(k);
  Tensor *out = &f->wire[b->out[0]];
  double start = identity(f, b->loop, type);
  k->touched = arena_alloc(f->arena, (size_t)out->count);
  for (int64_t i = 0; i < out->count; i++) out->data[i] = start;
  for (uint32_t i = 0; i < b->loop->nindex; i++)
    if (k->length[i] == 0) return;
  for (uint32_t i = 0; points > FEW_POINTS && i < b->loop->nin; i++) find_strides(k, &k->in[i]);
  if (points > FEW_POINTS) find_strides(k, &k->out);
  do {
    if (read_operands(k) && element_offset(k, &k->out, &offset))
      combine_into(k, offset, body_value(k));
  } while (next_point(k));
}

// -- join and order: a tensor viewed as [before][axis][after] -------------------------------------
static int64_t count_from(const Tensor *t, uint32_t first, uint32_t last) {
  int64_t n = 1;
  for (uint32_t i = first; i < last; i++) n *= t->shape[i];
  return n;
}

static void eval_join(EvalFrame *f, const Box *b) {
  Tensor *out = make_wire(f, b->out[0]);
  int64_t before = count_from(out, 0, b->axis), row = count_from(out, b->axis, out->rank), at = 0;
  for (uint32_t i = 0; i < b->nin; i++) {
    const Tensor *in = &f->wire[b->in[i]];
    if (in->rank != out->rank)
      fail(f->run, "%s joins wires of different ranks", wire_text(f, b->out[0]));
    for (uint32_t k = 0; k < in->rank; k++)
      if (k != b->axis && in->shape[k] != out->shape[k])
        fail(f->run, "%s: axis %u has length %lld, but %lld is wanted", wire_text(f, b->in[i]),
             k + 1, (long long)in->shape[k], (long long)out->shape[k]);
    int64_t part = count_from(in, b->axis, in->rank);
    if (at + part > row) fail(f->run, "%s is too short for what it joins", wire_text(f, b->out[0]));
    for (int64_t k = 0; part && k < before; k++)
      memcpy(out->data + k * row + at, in->data + k * part, (size_t)part * sizeof(double));
    at += part;
  }
  if (at != row) fail(f->run, "%s is too long for what it joins", wire_text(f, b->out[0]));
}

static bool sorts_before(double a, double b) { return a < b || (isnan(b) && !isnan(a)); }

// Stable bottom-up merge sort of positions; keys are `step` elements apart.
static void sort_positions(const double *key, int64_t step, int64_t *position, int64_t *room,
                           int64_t n) {
  for (int64_t i = 0; i < n; i++) position[i] = i;
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t low = 0; low < n; low += 2 * run) {
      int64_t middle = low + run < n ? low + run : n, high = middle + run < n ? middle + run : n;
      int64_t i = low, j = middle;
      for (int64_t k = low; k < high; k++) {
        bool right = i == middle ||
                     (j < high && sorts_before(key[position[j] * step], key[position[i] * step]));
        room[k] = right ? position[j++] : position[i++];
      }
    }
    memcpy(position, room, (size_t)n * sizeof(int64_t));
  }
}

static void eval_order(EvalFrame *f, const Box *b) {
  const Tensor *in = &f->wire[b->in[0]];
  Tensor *out = make_wire(f, b->out[0]);
  for (uint32_t i = 0; i < in->rank; i++)
    if (out->shape[i] != in->shape[i])
      fail(f->run, "%s does not have the shape of what it orders", wire_text(f, b->out[0]));
  int64_t n = in->shape[b->axis], after = count_from(in, b->axis + 1, in->rank);
  int64_t *position = NEW_ARRAY(f->arena, int64_t, n), *room = NEW_ARRAY(f->arena, int64_t, n);
  for (int64_t i = 0; n && i < in->count / n; i++) {
    int64_t first = i / after * n * after + i % after;
    sort_positions(in->data + first, after, position, room, n);
    for (int64_t k = 0; k < n; k++) out->data[first + k * after] = (double)position[k];
  }
}

static void eval_random(EvalFrame *f, const Box *b) {
  Tensor *out = make_wire(f, b->out[0]);
  const Eval *e = f->run->e;
  uint64_t site = site_join(f->run->path, b->random->site);
  bool ticks = e->ticks && f->run->position.n;
  uint64_t step = ticks ? 0 : e->step;
  for (uint32_t i = 0; i < f->run->position.n; i++)
    site = site_step(site, (uint64_t)f->run->position.at[i] + (ticks && !i ? e->step : 0));
  noise_stretch(b->random->noise, &(NoisePlace){e->seed, step, site}, 0, out->count, out->data);
}

// -- calls ----------------------------------------------------------------------------------------
static void eval_box(EvalFrame *f, const Box *b);

static void store_result(EvalFrame *inner, EvalFrame *outer, Id wire, Tensor *to) {
  const Tensor *x = &inner->wire[wire];
  if (!to->data) {
    *to = outer ? frame_tensor(outer, x->rank, x->shape)
                : tensor_new(inner->run->e->arena, x->rank, x->shape);
  } else {
    bool same = to->rank == x->rank;
    for (uint32_t i = 0; same && i < x->rank; i++) same = to->shape[i] == x->shape[i];
    if (!same) fail(inner->run, "%s changes its shape from step to step", wire_text(inner, wire));
  }
  copy_data(to, x);
}

// Runs a diagram. in: arguments, then params. out: results, then next values; a result without data
// is allocated.
static void eval_diagram(EvalRun *run, EvalFrame *caller, const Diagram *d, const Tensor *in,
                         Tensor *out) {
  EvalFrame *f = frame_open(run, caller, d);
  frame_bind(f, in);
  const uint32_t scans = run->position.n;
  if (!scans || run->position.at[scans - 1] == 0) check_frame_memory(f); // once per scan
  for (uint32_t i = 1; i < d->box.n; i++) eval_box(f, &d->box.at[i]);
  for (uint32_t i = 0; i < d->out.n; i++) store_result(f, caller, d->out.at[i], out++);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next) store_result(f, caller, d->param.at[i].next, out++);
  frame_close(f);
}

static void eval_call(EvalFrame *f, const Box *b) {
  Tensor *in = NEW_ARRAY(f->arena, Tensor, b->nin), *out = NEW_ARRAY(f->arena, Tensor, b->nout);
  for (uint32_t i = 0; i < b->nin; i++) in[i] = f->wire[b->in[i]];
  uint64_t path = f->run->path;
  f->run->path = site_join(path, b->site);
  eval_diagram(f->run, f, b->callee, in, out);
  f->run->path = path;
  for (uint32_t i = 0; i < b->nout; i++) {
    check_rank(f, b->out[i], &out[i]);
    f->wire[b->out[i]] = out[i];
    check_shape(f, b->out[i]);
  }
}

// -- scan -----------------------------------------------------------------------------------------
static Tensor slice(const Tensor *t, int64_t position) {
  Tensor s = {.rank = t->rank - 1, .shape = t->shape + 1, .count = count_from(t, 1, t->rank)};
  s.data = t->data + position * s.count;
  return s;
}

static void scan_step(EvalFrame *f, const Box *b, int64_t t, Tensor *carry, Tensor *next,
                      Tensor *in, Tensor *out) {
  const Scan *s = b->scan;
  for (uint32_t i = 0; i < b->nin; i++) {
    const Tensor *x = &f->wire[b->in[i]];
    in[i] = i < s->slice ? slice(x, t) : i < s->slice + s->carry ? carry[i - s->slice] : *x;
  }
  for (uint32_t i = 0; i < b->nout; i++)
    out[i] = i < s->carry ? next[i] : slice(&f->wire[b->out[i]], t);
  vec_push(f->run->e->arena, &f->run->position, t);
  eval_diagram(f->run, f, s->body, in, out);
  f->run->position.n--;
}

static void eval_scan(EvalFrame *f, const Box *b) {
  const Scan *s = b->scan;
  int64_t length = nonnegative_length(f, s->axis.size, "steps of a scan");
  Tensor *in = NEW_ARRAY(f->arena, Tensor, b->nin);
  Tensor *out = NEW_ARRAY(f->arena, Tensor, call_outputs(s->body));
  Tensor *carry[2] = {NEW_ARRAY(f->arena, Tensor, s->carry), NEW_ARRAY(f->arena, Tensor, s->carry)};
  for (uint32_t i = 0; i < s->slice; i++)
    if (f->wire[b->in[i]].rank == 0 || f->wire[b->in[i]].shape[0] != length)
      fail(f->run, "%s is not as long as its scan, %lld", wire_text(f, b->in[i]),
           (long long)length);
  for (uint32_t i = 0; i < s->carry; i++) {
    const Tensor *first = &f->wire[b->in[s->slice + i]];
    for (int k = 0; k < 2; k++) carry[k][i] = frame_tensor(f, first->rank, first->shape);
    copy_data(&carry[0][i], first);
  }
  for (uint32_t i = s->carry; i < b->nout; i++) {
    Tensor *emitted = make_wire(f, b->out[i]);
    if (emitted->rank == 0 || emitted->shape[0] != length)
      fail(f->run, "%s is not as long as its scan, %lld", wire_text(f, b->out[i]),
           (long long)length);
  }
  for (int64_t i = 0; i < length; i++)
    scan_step(f, b, s->back ? length - 1 - i : i, carry[i & 1], carry[(i + 1) & 1], in, out);
  for (uint32_t i = 0; i < s->carry; i++) {
    check_rank(f, b->out[i], &carry[length & 1][i]);
    f->wire[b->out[i]] = carry[length & 1][i];
    check_shape(f, b->out[i]);
  }
}

static void eval_box(EvalFrame *f, const Box *b) {
  switch (b->op) {
  case OP_loop: eval_loop(f, b); break;
  case OP_join: eval_join(f, b); break;
  case OP_order: eval_order(f, b); break;
  case OP_random: eval_random(f, b); break;
  case OP_scan: eval_scan(f, b); break;
  case OP_call: eval_call(f, b); break;
  default: fail(f->run, "a box without an operation");
  }
}

// -- the whole ------------------------------------------------------------------------------------
static void run_whole(EvalRun *run, const Diagram *d) {
  Eval *e = run->e;
  Tensor *in = NEW_ARRAY(e->arena, Tensor, d->in.n + d->param.n),
         *out = NEW_ARRAY(e->arena, Tensor, call_outputs(d));
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = e->in[i];
  for (uint32_t i = 0; i < d->param.n; i++) in[d->in.n + i] = e->param[i];
  eval_diagram(run, NULL, d, in, out);
  uint32_t port = d->out.n;
  for (uint32_t i = 0; i < d->out.n; i++) e->out[i] = out[i];
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (!d->param.at[i].next) continue;
    if (e->next) e->next[i] = out[port];
    port++;
  }
}

bool diagram_eval(World *w, const Diagram *d, Eval *e) {
  EvalRun *run = NEW(e->arena, EvalRun);
  *run = (EvalRun){.w = w, .e = e, .most = fmin(ELEMENTS_LIMIT, os_memory() / sizeof(double))};
  e->error = NULL;
  bool exhausted = false;
  if (GUARDED(e->arena, &run->guard)) {
    run_whole(run, d);
    guard_leave(&run->guard);
  } else {
    exhausted = !e->error;
  }
  while (run->top) frame_close(run->top);
  arena_free(run->opening);
  if (exhausted) arena_exhausted(w->arena); // memory exhausted is not an error of the diagram
  return !e->error;
}
