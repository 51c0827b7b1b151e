// What gemm.c and the kernels share. A kernel multiplies one tile: a few rows of A by a few vectors
// of columns of B, over all of a chunk of k, with the sums in registers. Rows of A are spread over
// vectors one cell at a time, so A may lie in memory in any way; a row of B is read as vectors, so
// its columns lie side by side.
#ifndef LIMN_RUN_ENGINE_GEMM_GEMM_KERNEL_H
#define LIMN_RUN_ENGINE_GEMM_GEMM_KERNEL_H

#include "run/engine/gemm/gemm_move.h"

enum { TILE_ROWS = 32, TILE_BYTES = 128, DOT_COLUMNS = 4 }; // at most; bytes: of a row of a tile

// Steps are in factors: cells, or pairs of bf16 along k.
typedef struct {
  int64_t rows, vectors, k;
  // by steps: factor (i, k) is a[i * am + k * ak], row k of B is b + k * bk
  const void *a, *b;
  int64_t am, ak, bk;
  // by rows: factor (i, k) is row[i][ka[k]], row k of B is b + kb[k]; a table that is NULL stands
  // for steps
  const void *const *row;
  const int32_t *ka, *kb;
  // row i of C is to[i], or c + i * cm if `to` is NULL
  void *c;
  int64_t cm;
  void *const *to;
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
  int64_t grain;                // places of k that are packed together: 1, or 2 and more for pairs
  bool pairs;                   // factors are pairs of bf16
  double speed;                 // products in the time of one by vectors
  TileFn *const *by_steps;      // [vectors - 1][rows - 1]
  TileFn *const *by_rows;       // the same
  TileFn *tile;                 // or one function for all sizes, by steps;
  void (*begin)(void);          // called before some tiles,
  void (*finish)(void);         // and after
  void (*dot)(const Dot *);     // NULL = none
  // packing of its own, or NULL; `step` factors of A for each grain
  void (*pack_a)(const GemmPanel *, int64_t step, void *to);
  void (*pack_b)(const GemmPanel *, void *to);
  // to[i] = (add ? to[i] : 0) + Σ_p from[p * step + i] for i < n, in the order of p
  void (*sum)(void *to, const void *from, int64_t step, int64_t pieces, int64_t n, bool add);
  double (*peak)(void);
} GemmKernel;

// -- gemm_amx.c -----------------------------------------------------------------------------------
bool gemm_has_amx(void);
extern const GemmKernel gemm_amx_kernel;
// gemm_avx512.c
extern const GemmKernel gemm_avx512_f32_kernel, gemm_avx512_f64_kernel, gemm_avx512_bf16_kernel;
// gemm_kernel.c
extern const GemmKernel gemm_avx2_f32_kernel, gemm_avx2_f64_kernel, gemm_neon_f32_kernel;
extern const GemmKernel gemm_neon_f64_kernel, gemm_plain_f32_kernel, gemm_plain_f64_kernel;
// The best for this CPU, or the one that $LIMN_CPU names if the CPU has it.
const GemmKernel *gemm_kernel(Precision);
#endif
