// Two models of different structure, such as a model and its export from another system, may still
// compute the same function. Both are run on random inputs; some are tiny and some large, so that
// small constants and clamps take effect. This is a test, not a proof, and the answer says so.
#include "api/diff_own.h"
#include "base/hash.h"

#include <math.h>

enum { SAMPLES = 12, OPEN_SIZE = 5, NUMBERS_MOST = 1 << 22, WORK_SMALL = 1 << 17 };
#define VALUES_NEAR 5e-7 // of the largest result of a sample: constants may have been floats

typedef struct {
  ApiCall *c;
  LimnFunction *f[2];
  uint32_t nin, nout;
  LimnInput *in;    // [nin]
  LimnArrays given; // the results of one side
} ValueLook;

// -- inputs ---------------------------------------------------------------------------------------
static bool port_in(LimnFunction *f, uint32_t i, LimnPort *out) {
  *out = (LimnPort){.size = sizeof *out};
  return limn_function_in(f, i, out) == LIMN_GOOD;
}

static uint32_t count_ports(LimnFunction *f,
                            LimnStatus (*of)(LimnFunction *, uint32_t, LimnPort *)) {
  uint32_t n = 0;
  for (LimnPort p = {.size = sizeof p}; of(f, n, &p) == LIMN_GOOD;) n++;
  return n;
}

// A deterministic number from -1 to 1.
static double drawn(uint32_t input, int64_t at) {
  uint64_t key[2] = {input, (uint64_t)at};
  return (double)(hash_bytes(HASH_START, key, sizeof key) >> 11) / 0x1p52 - 1;
}

static double number_in(uint32_t input, int64_t at, int64_t sample, int64_t labels, bool bit) {
  static const double scale[] = {1, 0.001, 30, 0.1};
  double x = drawn(input, at);
  if (bit) return x > 0;
  if (labels) return floor((x + 1) / 2 * (double)labels);
  return 2 * x * scale[sample % 4];
}

// One input for both sides. One side may have the sample axis as an axis of its own.
static bool draw_input(ValueLook *v, uint32_t i) {
  Arena *a = v->c->scratch;
  LimnPort p[2];
  if (!port_in(v->f[0], i, &p[0]) || !port_in(v->f[1], i, &p[1])) return false;
  int less = p[0].rank > p[1].rank; // the side without the sample axis
  uint32_t rank = p[less].rank, own = p[!less].rank - rank;
  int64_t *shape = NEW_ARRAY(a, int64_t, rank + 2), count = SAMPLES, labels = p[less].labels;
  if (own > 1 || (own && p[!less].shape[0] >= 0)) return false;
  if (!labels || (p[!less].labels && p[!less].labels < labels)) labels = p[!less].labels;
  shape[0] = SAMPLES;
  for (uint32_t k = 0; k < rank; k++) {
    int64_t x = p[less].shape[k], y = p[!less].shape[k + own];
    if (x >= 0 && y >= 0 && x != y) return false;
    shape[k + 1] = x >= 0 ? x : y >= 0 ? y : OPEN_SIZE;
    count *= shape[k + 1];
    if (count > NUMBERS_MOST) return false;
  }
  double *data = NEW_ARRAY(a, double, count + 1);
  bool bit = p[0].number == LIMN_U8 || p[1].number == LIMN_U8;
  for (int64_t k = 0; k < count; k++) data[k] = number_in(i, k, k / (count / SAMPLES), labels, bit);
  LimnArray *array = NEW(a, LimnArray);
  *array = (LimnArray){.type = LIMN_F64, .rank = rank + 1, .shape = shape, .data = data};
  v->in[i] = (LimnInput){.name = "", .array = array};
  return true;
}

// -- results --------------------------------------------------------------------------------------
static double number_at(const LimnArray *a, int64_t i) {
  switch (a->type) {
  case LIMN_F64: return ((const double *)a->data)[i];
  case LIMN_F32: return ((const float *)a->data)[i];
  case LIMN_I64: return (double)((const int64_t *)a->data)[i];
  case LIMN_I32: return ((const int32_t *)a->data)[i];
  default: return ((const uint8_t *)a->data)[i];
  }
}

static int64_t numbers_of(const LimnArray *a) {
  int64_t n = 1;
  for (uint32_t k = 0; k < a->rank; k++) n *= a->shape[k];
  return n;
}

// The difference of one sample, relative to its largest number. Non-finite results that agree say
// nothing, so they are skipped.
static double sample_apart(const LimnArray *a, const LimnArray *b, int64_t from, int64_t n) {
  int64_t na = numbers_of(a), nb = numbers_of(b);
  double largest = 0, off = 0;
  for (int64_t k = from; k < from + n; k++) {
    double x = number_at(a, k % na), y = number_at(b, k % nb);
    if (!isfinite(x) && (x == y || (isnan(x) && isnan(y)))) continue;
    if (fabs(x) > largest) largest = fabs(x);
    if (!(fabs(x - y) <= off)) off = isnan(x - y) ? INFINITY : fabs(x - y);
  }
  return isinf(off) ? off : off / (largest > 0 ? largest : 1);
}

// Results that are all zero, as after a saturated relu, or not finite, are no evidence.
static bool is_something(const LimnArray *a, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (number_at(a, k) != 0 && isfinite(number_at(a, k))) return true;
  return false;
}

static bool results_near(const LimnArrays *one, const LimnArrays *two, double *apart) {
  bool seen = false;
  *apart = 0;
  if (one->n != two->n) return false;
  for (uint32_t i = 0; i < one->n; i++) {
    const LimnArray *a = &one->at[i].array, *b = &two->at[i].array;
    int64_t na = numbers_of(a), nb = numbers_of(b), n = na > nb ? na : nb;
    // results that do not depend on the inputs may have no sample axis
    bool often = n % SAMPLES == 0;
    int64_t samples = often ? SAMPLES : 1, each = n / samples;
    if (na != nb && (!often || (na != each && nb != each))) return false;
    seen |= is_something(a, na);
    for (int64_t s = 0; s < samples; s++) {
      double far = sample_apart(a, b, s * each, each);
      if (!(far <= VALUES_NEAR)) return false;
      if (far > *apart) *apart = far;
    }
  }
  return seen;
}

// -- both sides -----------------------------------------------------------------------------------
// Rounds the weights of both sides to float, as other systems store them.
static bool round_weights(ValueLook *v, LimnFunction *f) {
  LimnArrays list[2];
  typedef struct {
    const char *name;
    LimnArray array;
  } WeightAsFloat;
  VEC(WeightAsFloat) all = {0};
  Arena *a = v->c->scratch;
  if (limn_function_weights(f, &list[0], &list[1]) != LIMN_GOOD) return false;
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < list[k].n; i++) {
      const LimnNamedArray *from = &list[k].at[i];
      int64_t n = numbers_of(&from->array);
      double *data = NEW_ARRAY(a, double, n + 1);
      for (int64_t j = 0; j < n; j++) data[j] = (float)number_at(&from->array, j);
      int64_t *shape = arena_copy(a, from->array.shape, from->array.rank * sizeof *shape);
      WeightAsFloat one = {arena_text(a, from->name, strlen(from->name)),
                           {LIMN_F64, from->array.rank, shape, NULL, data}};
      vec_push(a, &all, one);
    }
  for (uint32_t i = 0; i < all.n; i++)
    if (limn_function_weight_set(f, all.at[i].name, &all.at[i].array) != LIMN_GOOD) return false;
  return true;
}

// Cheap models run in the interpreter, without compiling.
static bool open_side(ValueLook *v, DiffSide *side, const char *name, double work) {
  LimnPrepare how = {.size = sizeof how, .precision = LIMN_PRECISION_64};
  how.reference = work < WORK_SMALL;
  for (uint32_t i = 0; i < side->weights.array.n; i++) {
    const Array *x = &side->weights.array.at[i];
    LimnArray from = {LIMN_F64, x->rank, x->shape, NULL, x->data};
    limn_weight_set(side->l, x->name, &from); // a weight that this side does not have is ignored
  }
  LimnFunction **f = &v->f[side->second];
  return limn_function_open(side->l, name, &how, f) == LIMN_GOOD && round_weights(v, *f);
}

static bool look(ValueLook *v, double *apart) {
  LimnArrays out[2];
  v->nin = count_ports(v->f[0], limn_function_in);
  if (!v->nin || v->nin != count_ports(v->f[1], limn_function_in)) return false;
  v->in = NEW_ARRAY(v->c->scratch, LimnInput, v->nin);
  for (uint32_t i = 0; i < v->nin; i++)
    if (!draw_input(v, i)) return false;
  for (int i = 0; i < 2; i++) {
    LimnCall call = {.size = sizeof call, .in = v->in, .nin = v->nin};
    if (limn_function_call(v->f[i], &call, &out[i], NULL) != LIMN_GOOD) return false;
  }
  return results_near(&out[0], &out[1], apart);
}

bool diff_values(ApiCall *c, DiffSide side[2], const DiffThing *t, const DiffModel *const model[2],
                 double *apart) {
  ValueLook v = {.c = c};
  bool good = true;
  for (int i = 0; i < 2; i++) good = good && open_side(&v, &side[i], t->name[i], model[i]->work);
  good = good && look(&v, apart);
  for (int i = 0; i < 2; i++) limn_function_close(v.f[i]);
  return good;
}
