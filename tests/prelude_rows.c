// The rows of ops.def with the functions of the prelude. A file of its own, since these go by the
// names of <math.h>.
#include "core/diagram/ops.h"
#include "run/engine/kernel/prelude.h"
#include "run/engine/kernel/prelude_generic.h"

#include "prelude_help.h"

#define S(name, sig, expression, ...)                                                              \
  static float floats_##name(float a, float b, float c) {                                          \
    (void)a, (void)b, (void)c;                                                                     \
    return (float)(expression);                                                                    \
  }                                                                                                \
  static double doubles_##name(double a, double b, double c) {                                     \
    (void)a, (void)b, (void)c;                                                                     \
    return (double)(expression);                                                                   \
  }
#include "core/diagram/ops.def"
#undef S

const PreludeRow prelude_rows[FN_COUNT] = {
#define S(name, ...) [FN_##name] = {floats_##name, doubles_##name},
#include "core/diagram/ops.def"
#undef S
};
