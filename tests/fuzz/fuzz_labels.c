// Arrays from a host's memory, as inputs of boxes that take labels and bits, through the public
// interface: by the interpreter, by the engine, and with gradients. What is no label never gives a
// result, and a good array always does.
//
//   byte 0      which box
//   byte 1      how
//   byte 2      the kind of number
//   byte 3      how many axes are in front of what the box wants, and how long they are
//   the rest    the numbers, one a byte: small ones as they are, large ones by a table
#include "limn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t n);

static const char program[] = "learn see : {10} -> R[4] = embed[4]\n"
                              "box row(c: {5}[3]) -> R[3 2] = embed[2](c)\n"
                              "box pick(c: {3}) -> R[] = [5, 6, 7][c]\n"
                              "box far(c: {3}) -> R[] = cross_entropy([0.1, 0.2, 0.3], c)\n"
                              "box spread(c: {4}[2]) -> R[4] {\n"
                              "  Y[c[i]] = 1\n"
                              "  return Y\n"
                              "}\n"
                              "box lamps(b: B[2]) -> R[2] = 1 when b else 0\n";
typedef struct {
  const char *name;
  int64_t length; // of its only axis; 0: it has none
  double labels;
} LabelBox;
static const LabelBox boxes[] = {{"see", 0, 10}, {"row", 3, 5},    {"pick", 0, 3},
                                 {"far", 0, 3},  {"spread", 2, 4}, {"lamps", 2, 2}};
enum { CELLS = 64, BOXES = sizeof boxes / sizeof boxes[0] };

static void must(bool condition) {
  if (!condition) abort();
}

static double number_of(uint8_t byte) {
  static const double odd[] = {-1,        0.5,   9.999999, 1e9,  4294967296.0, 9.3e18,
                               -9.3e18,   1e300, -0.0,     1e-9, -0.5,         INFINITY,
                               -INFINITY, NAN,   255,      65536};
  return byte < 240 ? byte % 12 : odd[byte - 240];
}

// As a number of that kind, at that place; what it then is.
static double put(LimnType type, void *cells, size_t i, double x) {
  bool fits = fabs(x) < 2e9;
  int32_t whole = fits ? (int32_t)x : -7;
  switch (type) {
  case LIMN_F64: return ((double *)cells)[i] = x;
  case LIMN_F32: return ((float *)cells)[i] = fabs(x) > 1e38 && isfinite(x) ? -1.0f : (float)x;
  case LIMN_I64: {
    int64_t far = x > 0 ? INT64_MAX - 7 : INT64_MIN;
    return (double)(((int64_t *)cells)[i] = fits ? whole : far);
  }
  case LIMN_I32: return ((int32_t *)cells)[i] = whole;
  default: return ((uint8_t *)cells)[i] = (uint8_t)whole;
  }
}

static Limn *loaded(void) {
  static Limn *l;
  if (l) return l;
  l = limn_new();
  must(l && limn_load_text(l, "labels.limn", program, sizeof program - 1) == LIMN_GOOD);
  for (uint32_t i = 0; i < BOXES; i++) { // first values stand in for trained ones
    LimnArrays weights = {0};
    must(limn_weights(l, boxes[i].name, &weights) == LIMN_GOOD);
    for (uint32_t k = 0; k < weights.n; k++)
      must(limn_weight_set(l, weights.at[k].name, &weights.at[k].array) == LIMN_GOOD);
  }
  return l;
}

static LimnStatus ask(Limn *l, const LabelBox *box, const LimnInput *in, uint8_t how) {
  LimnArrays out = {0}, grads = {0};
  LimnUse use = {.size = sizeof use, .in = in, .nin = 1, .threads = 1, .reference = how & 2};
  LimnEval eval = {.size = sizeof eval, .in = in, .nin = 1};
  LimnStatus status = how & 1
                          ? limn_predict_arrays(l, box->name, &use, &out)
                          : limn_eval_arrays(l, box->name, &eval, &out, how & 4 ? &grads : NULL);
  must(status != LIMN_GOOD || out.n);
  must(status == LIMN_GOOD || limn_errors(l));
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static _Alignas(16) uint8_t cells[CELLS * 8];
  static const LimnType types[] = {LIMN_F64, LIMN_F32, LIMN_I64, LIMN_I32, LIMN_U8};
  if (n < 5) return 0;
  const LabelBox *box = &boxes[bytes[0] % BOXES];
  LimnType type = types[bytes[2] % 5];
  int64_t shape[2] = {0}, count = box->length ? box->length : 1;
  uint32_t rank = box->length ? 1 : 0;
  bool good = true;
  if (bytes[3] & 1) shape[rank++] = 1 + (bytes[3] >> 1) % 8, count *= shape[rank - 1];
  if (rank == 2) shape[1] = box->length, shape[0] = 1 + (bytes[3] >> 1) % 8;
  if (rank == 1 && box->length) shape[0] = box->length;
  for (int64_t i = 0; i < count; i++) {
    double x = put(type, cells, (size_t)i, number_of(bytes[4 + (size_t)i % (n - 4)]));
    good = good && x >= 0 && x < box->labels && x == floor(x);
  }
  LimnArray array = {.type = type, .rank = rank, .shape = shape, .data = cells};
  Limn *l = loaded();
  LimnStatus status = ask(l, box, &(LimnInput){.name = "", .array = &array}, bytes[1]);
  must(good == (status == LIMN_GOOD));
  limn_forget(l);
  return 0;
}
