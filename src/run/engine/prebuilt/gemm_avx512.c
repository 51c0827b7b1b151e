// Instantiates the micro-kernels for AVX-512 from gemm_kernel.inc. They take the longest to compile, hence
// a file of their own.
#include "run/engine/prebuilt/gemm_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ISA __attribute__((target("avx512f")))
#define WORD "avx512"
#define BYTES 64
#define ROWS 14
#define VECTORS 2

#define NAME(x) gemm_avx512_f32_##x
#define CELL float
#define FMA(a, b, c) ((NAME(V))_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define BROADCAST(x) ((NAME(F))_mm512_set1_ps(x))
#define SUM(v) _mm512_reduce_add_ps((__m512)(v))
#include "run/engine/prebuilt/gemm_kernel.inc"

#define NAME(x) gemm_avx512_f64_##x
#define CELL double
#define FMA(a, b, c) ((NAME(V))_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define BROADCAST(x) ((NAME(F))_mm512_set1_pd(x))
#define SUM(v) _mm512_reduce_add_pd((__m512d)(v))
#include "run/engine/prebuilt/gemm_kernel.inc"

#undef ISA
#undef WORD
#define ISA __attribute__((target("avx512f,avx512bf16")))
#define WORD "avx512bf16"
#define NAME(x) gemm_avx512_bf16_##x
#define CELL float
#define PAIRS uint32_t
#define FMA(a, b, c) ((NAME(V))_mm512_dpbf16_ps((__m512)(c), (__m512bh)(a), (__m512bh)(b)))
#define BROADCAST(x) ((NAME(F))_mm512_set1_epi32((int)(x)))
#include "run/engine/prebuilt/gemm_kernel.inc"
#endif
