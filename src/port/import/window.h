// Sliding windows over spatial axes, for convolutions and pooling.
#ifndef LIMN_PORT_IMPORT_WINDOW_H
#define LIMN_PORT_IMPORT_WINDOW_H

#include "port/import/own.h"

typedef struct {
  uint32_t n; // spatial axes; the first two axes are batch and channels
  int64_t size[ONNX_RANK_LIMIT], kernel[ONNX_RANK_LIMIT], stride[ONNX_RANK_LIMIT],
      dilation[ONNX_RANK_LIMIT];
  int64_t before[ONNX_RANK_LIMIT], after[ONNX_RANK_LIMIT], out[ONNX_RANK_LIMIT];
  ImpSize result[ONNX_RANK_LIMIT]; // symbolic sizes; `out` is 0 for these
  bool hangs;                      // some window exceeds the input
} Window;

// window.c: reads the attributes of a node, for sizes that are numbers. `kernel`: the shape of
// weights, or NULL: an attribute
bool window_read(ImpNode *, const ImpShape *x, const ImpSize *kernel, Window *);
// The same for symbolic sizes.
bool window_read_any(ImpNode *, const ImpShape *x, const ImpSize *kernel, Window *);
// Index letters of output positions, and of positions inside the window.
const char *window_at(uint32_t k), *window_in(uint32_t k);
const char *window_place(Importer *, const Window *, uint32_t k);  // "2*k+p-1"
const char *window_places(Importer *, const Window *);             // all of them
const char *window_kernel(Importer *, const Window *, bool sizes); // "p q", or "p:3 q:3"
const char *window_left(Importer *, const Window *, bool sizes);   // "k l", or "k:7 l:7"

#endif
