// prelude_generic.h: the functions of the prelude under the names of <math.h>, selected by the type of
// the argument, for prebuilt rows of ops.def. Include it after prelude.h and not together with <math.h>.
#ifndef LIMN_RUN_ENGINE_KERNEL_PRELUDE_GENERIC_H
#define LIMN_RUN_ENGINE_KERNEL_PRELUDE_GENERIC_H

#define LIMN_BY_TYPE(name, x) _Generic((x), float : float_##name, default : double_##name)
#define exp(x) LIMN_BY_TYPE(exp, x)(x)
#define log(x) LIMN_BY_TYPE(log, x)(x)
#define log1p(x) LIMN_BY_TYPE(log1p, x)(x)
#define expm1(x) LIMN_BY_TYPE(expm1, x)(x)
#define sqrt(x) LIMN_BY_TYPE(sqrt, x)(x)
#define sin(x) LIMN_BY_TYPE(sin, x)(x)
#define cos(x) LIMN_BY_TYPE(cos, x)(x)
#define tan(x) LIMN_BY_TYPE(tan, x)(x)
#define tanh(x) LIMN_BY_TYPE(tanh, x)(x)
#define atan(x) LIMN_BY_TYPE(atan, x)(x)
#define erf(x) LIMN_BY_TYPE(erf, x)(x)
#define pow(x, y) LIMN_BY_TYPE(pow, (x) + (y))(x, y)
#define quotient(x, y) LIMN_BY_TYPE(quotient, (x) + (y))(x, y)
#define floor(x) LIMN_BY_TYPE(floor, x)(x)
#define fabs(x) LIMN_BY_TYPE(fabs, x)(x)
#define sigmoid(x) LIMN_BY_TYPE(sigmoid, x)(x)
#define softplus(x) LIMN_BY_TYPE(softplus, x)(x)
#define fma(x, y, z) LIMN_BY_TYPE(fma, (x) + (y) + (z))(x, y, z)

#endif
