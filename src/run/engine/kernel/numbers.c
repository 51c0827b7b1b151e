// Number formats in memory, converted from and to doubles.
#include "run/engine/kernel/kernel.h"

static const char *const precision_word[] = {"32", "64", "bf16", "tf32"};

bool precision_from(const char *text, Precision *out) {
  for (uint32_t i = 0; i < COUNT(precision_word); i++)
    if (strcmp(text, precision_word[i]) == 0) return *out = (Precision)i, true;
  return false;
}

const char *precision_text(Precision p) { return precision_word[p]; }

const char *precision_label(Precision p) {
  return p == PRECISION_32 ? "32 bits" : p == PRECISION_64 ? "64 bits" : precision_word[p];
}

bool precision_from_option(LimnPrecision asked, Precision *out) {
  static const Precision precision[] = {[LIMN_PRECISION_32] = PRECISION_32,
                                        [LIMN_PRECISION_64] = PRECISION_64,
                                        [LIMN_PRECISION_BF16] = PRECISION_BF16,
                                        [LIMN_PRECISION_TF32] = PRECISION_TF32};
  if (asked == LIMN_PRECISION_DEFAULT || asked == LIMN_PRECISION_AUTO) return false;
  *out = precision[asked];
  return true;
}

Number number_of(Precision p, Base base, uint32_t rank) {
  if (base == BASE_LABEL) return NUMBER_I32;
  if (base == BASE_BIT) return NUMBER_U8;
  return p == PRECISION_64 || rank == 0 ? NUMBER_F64 : NUMBER_F32;
}

void numbers_set(Number number, void *to, const double *from, int64_t n) {
  switch (number) {
  case NUMBER_F64: memcpy(to, from, (size_t)n * sizeof(double)); break;
  case NUMBER_F32:
    for (int64_t i = 0; i < n; i++) ((float *)to)[i] = (float)from[i];
    break;
  case NUMBER_I32:
    for (int64_t i = 0; i < n; i++) ((int32_t *)to)[i] = (int32_t)from[i];
    break;
  case NUMBER_U8:
    for (int64_t i = 0; i < n; i++) ((uint8_t *)to)[i] = (uint8_t)from[i];
    break;
  case NUMBER_BF16: break;
  }
}

void numbers_get(Number number, const void *from, double *to, int64_t n) {
  switch (number) {
  case NUMBER_F64: memcpy(to, from, (size_t)n * sizeof(double)); break;
  case NUMBER_F32:
    for (int64_t i = 0; i < n; i++) to[i] = (double)((const float *)from)[i];
    break;
  case NUMBER_I32:
    for (int64_t i = 0; i < n; i++) to[i] = ((const int32_t *)from)[i];
    break;
  case NUMBER_U8:
    for (int64_t i = 0; i < n; i++) to[i] = ((const uint8_t *)from)[i];
    break;
  case NUMBER_BF16: break;
  }
}
