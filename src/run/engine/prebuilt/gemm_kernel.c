// Instantiates the micro-kernels of this architecture from gemm_kernel.inc, and selects one at run time.
// Each function names its instruction set by a target attribute, so this file needs no compiler flags and
// one binary serves every CPU.
//
// Kernels use fused multiply–adds; `plain` rounds twice. So results differ in the last bits between kinds
// of CPU, but not between runs on one kind.
#include "run/engine/prebuilt/gemm_kernel.h"

#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define ISA __attribute__((target("avx2,fma")))
#define WORD "avx2"
#define BYTES 32
#define ROWS 6
#define VECTORS 2

#define NAME(x) gemm_avx2_f32_##x
#define CELL float
#define FMA(a, b, c) ((NAME(V))_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define BROADCAST(x) ((NAME(F))_mm256_set1_ps(x))
#define SUM(v) ((((v)[0] + (v)[4]) + ((v)[2] + (v)[6])) + (((v)[1] + (v)[5]) + ((v)[3] + (v)[7])))
#include "run/engine/prebuilt/gemm_kernel.inc"

#define NAME(x) gemm_avx2_f64_##x
#define CELL double
#define FMA(a, b, c) ((NAME(V))_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define BROADCAST(x) ((NAME(F))_mm256_set1_pd(x))
#define SUM(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#include "run/engine/prebuilt/gemm_kernel.inc"

#undef ISA
#undef WORD
#undef BYTES
#undef ROWS
#undef VECTORS
#elif defined(__aarch64__)
#include <arm_neon.h>

#define ISA
#define WORD "neon"
#define BYTES 16
#define ROWS 6
#define VECTORS 4

#define NAME(x) gemm_neon_f32_##x
#define CELL float
#define FMA(a, b, c) ((NAME(V))vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define BROADCAST(x) ((NAME(F))vdupq_n_f32(x))
#define SUM(v) vaddvq_f32((float32x4_t)(v))
#include "run/engine/prebuilt/gemm_kernel.inc"

#define NAME(x) gemm_neon_f64_##x
#define CELL double
#define FMA(a, b, c) ((NAME(V))vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define BROADCAST(x) ((NAME(F))vdupq_n_f64(x))
#define SUM(v) vaddvq_f64((float64x2_t)(v))
#include "run/engine/prebuilt/gemm_kernel.inc"

#undef ISA
#undef WORD
#undef BYTES
#undef ROWS
#undef VECTORS
#endif

#define ISA
#define WORD "plain"
#define BYTES 16
#define ROWS 6
#define VECTORS 2
#define FMA_PLAIN(a, b, c) ((a) * (b) + (c))

#define NAME(x) gemm_plain_f32_##x
#define CELL float
#define FMA(a, b, c) FMA_PLAIN(a, b, c)
#define BROADCAST(x) ((NAME(F)){x, x, x, x})
#define SUM(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#include "run/engine/prebuilt/gemm_kernel.inc"

#define NAME(x) gemm_plain_f64_##x
#define CELL double
#define FMA(a, b, c) FMA_PLAIN(a, b, c)
#define BROADCAST(x) ((NAME(F)){x, x})
#define SUM(v) ((v)[0] + (v)[1])
#include "run/engine/prebuilt/gemm_kernel.inc"

typedef struct {
  const char *name;          // for $LIMN_CPU
  bool supported, preferred; // by this CPU; preferred: faster than the kinds after it
  const GemmKernel *of[PRECISION_BF16 + 1];
} Cpu;

// The kinds are sorted from the fastest to `plain`, which every CPU supports. On Intel's CPUs an AVX-512
// instruction for pairs of bf16 takes four times as long as one for floats, so avx512bf16 is preferred on
// AMD's CPUs only.
const GemmKernel *gemm_kernel(Precision precision) {
#if defined(__x86_64__)
  bool avx512 = __builtin_cpu_supports("avx512f"), amd = __builtin_cpu_is("amd");
  bool bf16 = avx512 && __builtin_cpu_supports("avx512bf16");
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  const Cpu cpus[] = {
#if defined(__x86_64__)
#if defined(__linux__)
    {"amx",
     precision == PRECISION_BF16 && gemm_has_amx(),
     true,
     {&gemm_avx512_f32_kernel, &gemm_avx512_f64_kernel, &gemm_amx_kernel}},
#endif
    {"avx512bf16",
     bf16,
     amd,
     {&gemm_avx512_f32_kernel, &gemm_avx512_f64_kernel, &gemm_avx512_bf16_kernel}},
    {"avx512",
     avx512,
     true,
     {&gemm_avx512_f32_kernel, &gemm_avx512_f64_kernel, &gemm_avx512_f32_kernel}},
    {"avx2", avx2, true, {&gemm_avx2_f32_kernel, &gemm_avx2_f64_kernel, &gemm_avx2_f32_kernel}},
#elif defined(__aarch64__)
    {"neon", true, true, {&gemm_neon_f32_kernel, &gemm_neon_f64_kernel, &gemm_neon_f32_kernel}},
#endif
    {"plain", true, true, {&gemm_plain_f32_kernel, &gemm_plain_f64_kernel, &gemm_plain_f32_kernel}},
  };
  const char *wanted = getenv("LIMN_CPU");
  const GemmKernel *best = NULL;
  for (uint32_t i = 0; i < COUNT(cpus); i++) {
    if (!cpus[i].supported) continue;
    if (wanted && strcmp(wanted, cpus[i].name) == 0) return cpus[i].of[precision];
    if (!best && cpus[i].preferred) best = cpus[i].of[precision];
  }
  return best;
}
