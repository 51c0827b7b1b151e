// The interface between gemm.c and the micro-kernels. A micro-kernel multiplies one tile: a few rows of A
// by a few vectors of columns of B, over a chunk of k, with accumulators in registers. Cells of A are
// broadcast, so A may have any strides; rows of B are loaded as vectors, so B's columns are contiguous.
#ifndef LIMN_RUN_ENGINE_PREBUILT_GEMM_KERNEL_H
#define LIMN_RUN_ENGINE_PREBUILT_GEMM_KERNEL_H

#include "base/files.h"
#include "run/engine/prebuilt/gemm_move.h"

// Upper bounds over all kernels; TILE_BYTES: in a row of a tile.
enum { TILE_ROWS = 32, TILE_BYTES = 128, DOT_COLUMNS = 4 };

// Strides are in factors: cells, or pairs of bf16 along k.
typedef struct {
  int64_t rows, vectors, k;
  // Strided: factor (i, k) is a[i * am + k * ak], row k of B is b + k * bk.
  const void *a, *b;
  int64_t am, ak, bk;
  // By pointers: factor (i, k) is row[i][ka[k]], row k of B is b + kb[k]. Without a table (NULL), the
  // strides ak and bk are used.
  const void *const *row;
  const int32_t *ka, *kb;
  // Row i of C is to[i], or c + i * cm if `to` is NULL.
  void *c;
  int64_t cm;
  void *const *to;
  bool add;
} Tile;
typedef void TileFn(const Tile *);

// Dot products along k: c[i * cm + j] = Σ_k a[i * am + k] · b[j * bk + k].
typedef struct {
  int64_t rows, columns, k;
  const void *a, *b;
  int64_t am, bk;
  void *c;
  int64_t cm;
} Dot;

typedef struct GemmKernel {
  const char *name;
  int64_t rows, vectors, lanes; // of the largest tile; a vector has `lanes` cells
  int64_t grain;                // k is packed in groups of `grain`: 1, or 2 and more for pairs
  bool pairs;                   // factors are pairs of bf16
  double speed;                 // relative to multiply-adds of float vectors
  TileFn *const *strided;       // [vectors - 1][rows - 1]
  TileFn *const *by_pointers;   // the same
  TileFn *tile;                 // or one strided function for all sizes; else NULL
  void (*begin)(void);          // called before the tiles of a chunk; or NULL
  void (*finish)(void);         // called after them; or NULL
  void (*dot)(const Dot *);     // or NULL
  // The kernel's own packing, or NULL. `step`: factors of A in each group of k.
  void (*pack_a)(const GemmPanel *, int64_t step, void *to);
  void (*pack_b)(const GemmPanel *, void *to);
  // to[i] = (add ? to[i] : 0) + Σ_p from[p * step + i] for i < n, in the order of p
  void (*sum)(void *to, const void *from, int64_t step, int64_t splits, int64_t n, bool add);
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
// The fastest kernel for this CPU, or the one that $LIMN_CPU names, if the CPU supports it.
const GemmKernel *gemm_kernel(Precision);
#endif
