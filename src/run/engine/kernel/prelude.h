// prelude.h: the beginning of generated code. The same text is used twice: `build/prelude.c` embeds
// it as a string for generated C, and C files of limn include it. It has no external includes and
// calls no external functions.
//
//   #define LIMN_REAL float                  // or double: the element type of real tensors
//   #include "run/engine/kernel/prelude.h"
//   real y = float_exp(x);
//
// Names have the type as prefix (float_exp, double_exp, …), so they do not clash with <math.h>;
// LIMN_REAL adds the types of generated code. It is C99 with the builtins of gcc and clang, also
// for a `long` of 32 bits. Scalar functions have no branches, so that loops of calls are
// vectorised, and `fma` is written explicitly, so that every compiler gives the same bits with
// -ffp-contract=off. Without an fma instruction the bits differ.
#ifndef LIMN_RUN_ENGINE_KERNEL_PRELUDE_H
#define LIMN_RUN_ENGINE_KERNEL_PRELUDE_H

#ifdef __CUDACC__
typedef int Int32;
typedef unsigned Bits32;
typedef unsigned long long Bits64;
#define restrict __restrict__
#define LIMN_BUILTIN(name) name
#else
typedef __INT32_TYPE__ Int32;
typedef __UINT32_TYPE__ Bits32;
typedef __UINT64_TYPE__ Bits64;
#define LIMN_BUILTIN(name) __builtin_##name
#endif

#if defined __CUDACC__ || defined __FMA__ || defined __aarch64__ || defined __FP_FAST_FMA
#define LIMN_FUSED 1
#else
#define LIMN_FUSED 0
#endif
#if defined __CUDACC__ || defined __SSE4_1__ || defined __aarch64__
#define LIMN_ROUNDS 1 // there is an instruction for floor
#else
#define LIMN_ROUNDS 0
#endif

// A call would prevent vectorisation. No text uses all of these functions.
#ifdef __CUDACC__
#define INLINE static __device__ __forceinline__
#define HELPER static __device__
#else
#define INLINE static inline __attribute__((always_inline, unused))
#define HELPER static inline __attribute__((unused))
#endif
#ifdef __CUDACC__
#define double_divided(a, b) __ddiv_rn(a, b)
#define float_divided(a, b) __fdiv_rn(a, b)
#else
#define double_divided(a, b) ((a) / (b))
#define float_divided(a, b) ((a) / (b))
#endif
#if defined __CUDACC__
#define double_fused(a, b, c) __fma_rn(a, b, c)
#define float_fused(a, b, c) __fmaf_rn(a, b, c)
#elif LIMN_FUSED
#define double_fused(a, b, c) __builtin_fma(a, b, c)
#define float_fused(a, b, c) __builtin_fmaf(a, b, c)
#else
#define double_fused(a, b, c) ((a) * (b) + (c))
#define float_fused(a, b, c) ((a) * (b) + (c))
#endif
#define FMA(a, b, c) NAME(fused)(a, b, c) // of the current type
#ifdef __CUDACC__
#define double_infinite __longlong_as_double(0x7FF0000000000000ll)
#define double_unknown __longlong_as_double(0x7FF8000000000000ll)
#else
#define double_infinite __builtin_inf()
#define double_unknown __builtin_nan("")
#endif
#define LIMN_INF ((REAL)double_infinite)
#define LIMN_NAN ((REAL)double_unknown)

// Polynomials; coefficients from degree 0 on.
#define POLY2(x, a, b) FMA(b, x, a)
#define POLY3(x, a, ...) FMA(POLY2(x, __VA_ARGS__), x, a)
#define POLY4(x, a, ...) FMA(POLY3(x, __VA_ARGS__), x, a)
#define POLY5(x, a, ...) FMA(POLY4(x, __VA_ARGS__), x, a)
#define POLY6(x, a, ...) FMA(POLY5(x, __VA_ARGS__), x, a)
#define POLY7(x, a, ...) FMA(POLY6(x, __VA_ARGS__), x, a)
#define POLY8(x, a, ...) FMA(POLY7(x, __VA_ARGS__), x, a)
#define POLY9(x, a, ...) FMA(POLY8(x, __VA_ARGS__), x, a)
#define POLY11(x, a, b, ...) FMA(FMA(POLY9(x, __VA_ARGS__), x, b), x, a)
#define POLY13(x, a, b, ...) FMA(FMA(POLY11(x, __VA_ARGS__), x, b), x, a)
#define POLY15(x, a, b, ...) FMA(FMA(POLY13(x, __VA_ARGS__), x, b), x, a)
#define POLY17(x, a, b, ...) FMA(FMA(POLY15(x, __VA_ARGS__), x, b), x, a)
#define POLY19(x, a, b, ...) FMA(FMA(POLY17(x, __VA_ARGS__), x, b), x, a)

// -- noise: the same words as in core/diagram/noise.c ---------------------------------------------
// A word is the lower 32 bits; with 64-bit vector multiplication, words stay 64 bits wide, which
// saves conversions.
#ifdef __AVX512DQ__
typedef Bits64 NoiseWord;
#else
typedef Bits32 NoiseWord;
#endif
typedef struct {
  NoiseWord a, b, c, d;
} NoiseBlock;

INLINE NoiseBlock noise_round(NoiseBlock x, Bits64 seed, Bits32 round) {
  Bits64 p = (Bits64)0xD2511F53u * (Bits32)x.a, q = (Bits64)0xCD9E8D57u * (Bits32)x.c;
  Bits32 k0 = (Bits32)seed + round * 0x9E3779B9u, k1 = (Bits32)(seed >> 32) + round * 0xBB67AE85u;
  NoiseBlock y = {(NoiseWord)(q >> 32) ^ x.b ^ k0, (NoiseWord)q, (NoiseWord)(p >> 32) ^ x.d ^ k1,
                  (NoiseWord)p};
  return y;
}

// The words of elements 4k to 4k + 3, where k is the index of the block. The ten rounds are
// unrolled: an inner loop would prevent vectorisation of the outer one.
INLINE NoiseBlock noise_block(Bits64 seed, Bits64 step, Bits64 site, Bits64 block) {
  Bits64 rest = site ^ (step >> 32) << 16;
  NoiseBlock x = {(NoiseWord)block, (NoiseWord)step, (NoiseWord)rest,
                  (NoiseWord)(rest >> 32) ^ (NoiseWord)(block >> 32) << 8};
  x = noise_round(noise_round(x, seed, 0), seed, 1);
  x = noise_round(noise_round(x, seed, 2), seed, 3);
  x = noise_round(noise_round(x, seed, 4), seed, 5);
  x = noise_round(noise_round(x, seed, 6), seed, 7);
  return noise_round(noise_round(x, seed, 8), seed, 9);
}

INLINE Bits64 noise_scramble(Bits64 x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// The site at one position of a scan.
INLINE Bits64 noise_site(Bits64 site, Bits64 position) {
  return noise_scramble(site ^ noise_scramble(position + 0x9E3779B97F4A7C15u));
}

// -- functions of each type -----------------------------------------------------------------------
#include "run/engine/kernel/prelude_numbers.h"

#define REAL double
#define BITS Bits64
#define IS_DOUBLE 1
#define NAME(name) double_##name
#include "run/engine/kernel/prelude_math.h"
#include "run/engine/kernel/prelude_noise.h"
#undef REAL
#undef BITS
#undef IS_DOUBLE
#undef NAME
#define REAL float
#define BITS Bits32
#define IS_DOUBLE 0
#define NAME(name) float_##name
#include "run/engine/kernel/prelude_math.h"
#include "run/engine/kernel/prelude_noise.h"
#undef REAL
#undef BITS
#undef IS_DOUBLE
#undef NAME

// -- names for generated code ---------------------------------------------------------------------
#ifdef LIMN_REAL
typedef LIMN_REAL real;
typedef double wide; // a scalar real
#define LIMN_JOIN(a, b) a##b
#define LIMN_OF(type, name) LIMN_JOIN(type, name)

#define real_quotient LIMN_OF(LIMN_REAL, _quotient)
#define real_fma LIMN_OF(LIMN_REAL, _fma)
#define order_row LIMN_OF(LIMN_REAL, _order_row)
#define real_sorts_before LIMN_OF(LIMN_REAL, _sorts_before)
#define noise_uniform_real LIMN_OF(LIMN_REAL, _noise_uniform)
#define noise_normal_real LIMN_OF(LIMN_REAL, _noise_normal)
#define noise_uniforms_real LIMN_OF(LIMN_REAL, _noise_uniforms)
#define noise_normals_real LIMN_OF(LIMN_REAL, _noise_normals)
#endif
#endif
