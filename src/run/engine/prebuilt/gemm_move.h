// Packing of operands into panels, and storing of tiles of C.
#ifndef LIMN_RUN_ENGINE_PREBUILT_GEMM_MOVE_H
#define LIMN_RUN_ENGINE_PREBUILT_GEMM_MOVE_H

#include "run/engine/prebuilt/gemm.h"

// A packed panel is [k][width]: row i holds the cells at k0 + i of `count` rows (or columns) of the operand
// from `outer0` on, padded with zeros.
typedef struct {
  const void *from;
  GemmAxis outer, inner; // inner: along k
  int64_t outer0, count, width;
  int64_t k0, k; // the first k, and how many
} GemmPanel;
void panel_pack(const GemmPanel *, Precision, void *to); // to: [k][width] cells
void panel_pack_pairs(const GemmPanel *, uint32_t *to); // to: [⌈k/2⌉][width] pairs of bf16 along k

// A tile of C: rows [m0, m0 + rows), columns [n0, n0 + columns).
typedef struct {
  void *c;
  GemmAxis cm, cn;
  int64_t m0, rows, n0, columns;
  bool add;
} TileTarget;
// from: [rows][step]
void tile_store(const TileTarget *, Precision, const void *from, int64_t step);

static inline int64_t axis_offset(GemmAxis l, int64_t i) { return l.at ? l.at[i] : i * l.step; }
static inline bool axis_has_stride(GemmAxis l, int64_t step) { return !l.at && l.step == step; }
#endif
