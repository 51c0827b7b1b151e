// Cells between where they lie and where kernels want them, or leave them.
#ifndef LIMN_RUN_ENGINE_GEMM_GEMM_MOVE_H
#define LIMN_RUN_ENGINE_GEMM_GEMM_MOVE_H

#include "run/engine/gemm/gemm.h"

// Line i of a panel is a place in k; its `width` cells are `count` lines of the operand, from
// `outer0` on, and zeros.
typedef struct {
  const void *from;
  GemmLine outer, inner; // inner: along k
  int64_t outer0, count, width;
  int64_t k0, k; // the first place in k, and how many
} GemmPanel;
void panel_pack(const GemmPanel *, Precision, void *to); // to: [k width], in cells
void panel_pair(const GemmPanel *, uint32_t *to);        // to: [⌈k/2⌉ width], as pairs of bf16

// A tile of C: rows [m0, m0 + rows), columns [n0, n0 + columns).
typedef struct {
  void *c;
  GemmLine cm, cn;
  int64_t m0, rows, n0, columns;
  bool add;
} PanelPlace;
void place_store(const PanelPlace *, Precision, const void *from,
                 int64_t step); // from: [rows step]

static inline int64_t line_at(GemmLine l, int64_t i) { return l.at ? l.at[i] : i * l.step; }
static inline bool line_is(GemmLine l, int64_t step) { return !l.at && l.step == step; }
#endif
