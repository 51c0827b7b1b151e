// What gemm.c and the kernels share. A kernel multiplies one tile: a few rows of A by a few vectors
// of columns of B, over all of a chunk of k, with the sums in registers. Rows of A are spread over
// vectors one cell at a time, so A may lie in memory in any way; a row of B is read as vectors, so
// its columns lie side by side.
#ifndef LIMN_GEMM_KERNEL_H
#define LIMN_GEMM_KERNEL_H

#include "target/gemm.h"

enum {
  TILE_ROWS = 14,
  TILE_BYTES = 128,
  DOT_COLUMNS = 4
}; // at most: rows, bytes in a row of a tile

// Steps are in factors: cells, or pairs of bf16 along k.
typedef struct {
  int64_t k;
  const void *a;  // by steps: factor (i, k) is a[i * am + k * ak]
  int64_t am, ak; //
  const void *const
      *row;          // by rows: factor (i, k) is row[i][ka[k]], or row[i][k * ak] if ka is NULL
  const int32_t *ka; //
  const void *b;     // by steps: row k of B is b + k * bk; by rows: b + kb[k] unless kb is NULL
  int64_t bk;
  const int32_t *kb;
  void *c;         // row i of C is c + i * cm,
  int64_t cm;      //
  void *const *to; // or to[i] unless `to` is NULL
  bool add;
} Tile;
typedef void TileFn(const Tile *);

// Sums along k of rows × columns: factor (i, k) is a[i * am + k], column j is b[j * bk + k], the
// sum goes to c[i * cm + j].
typedef struct {
  int64_t rows, columns, k;
  const void *a, *b;
  int64_t am, bk;
  void *c;
  int64_t cm;
} Dot;

typedef struct GemmKernel {
  const char *name;
  int64_t rows, vectors, lanes; // of the largest tile; a vector holds `lanes` cells
  TileFn *const *by_steps;      // [vectors - 1][rows - 1]
  TileFn *const *by_rows;       // the same
  void (*dot)(const Dot *);     // NULL = none
  // to[i] = (add ? to[i] : 0) + Σ_p from[p * step + i] for i < n, in the order of p
  void (*sum)(void *to, const void *from, int64_t step, int64_t pieces, int64_t n, bool add);
  double (*peak)(void);
  bool pairs; // factors are pairs of bf16
} GemmKernel;

// gemm_avx512.c
extern const GemmKernel gemm_avx512_f32_kernel, gemm_avx512_f64_kernel, gemm_avx512_bf16_kernel;
// gemm_kernel.c
extern const GemmKernel gemm_avx2_f32_kernel, gemm_avx2_f64_kernel, gemm_neon_f32_kernel;
extern const GemmKernel gemm_neon_f64_kernel, gemm_plain_f32_kernel, gemm_plain_f64_kernel;
// The best for this CPU, or the one that $LIMN_CPU names if the CPU has it.
const GemmKernel *gemm_kernel(Precision);
#endif
