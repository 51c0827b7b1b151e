// Windows that slide over spatial axes: what convolutions and pools share.
#ifndef LIMN_PORT_IMPORT_WINDOW_H
#define LIMN_PORT_IMPORT_WINDOW_H

#include "port/import/own.h"

typedef struct {
  uint32_t n; // spatial axes; the first two axes are samples and channels
  int64_t size[ONNX_RANK_LIMIT], kernel[ONNX_RANK_LIMIT], stride[ONNX_RANK_LIMIT],
      dilation[ONNX_RANK_LIMIT];
  int64_t before[ONNX_RANK_LIMIT], after[ONNX_RANK_LIMIT], out[ONNX_RANK_LIMIT];
  ImpSize result[ONNX_RANK_LIMIT]; // the same as out, which is 0 where that is no number
  bool hangs;                      // some read is outside
} Window;

// window.c: of the attributes of a node, for sizes that are numbers. `kernel`: of the weights, or NULL: of the attribute.
bool window_read(ImpNode *, const ImpShape *x, const ImpSize *kernel, Window *);
bool window_read_any(ImpNode *, const ImpShape *x, const ImpSize *kernel,
                     Window *); // for any sizes
// Letters of the results' places and of those in the window.
const char *window_at(uint32_t k), *window_in(uint32_t k);
const char *window_place(Importer *, const Window *, uint32_t k);  // "2*k+p-1"
const char *window_places(Importer *, const Window *);             // all of them
const char *window_kernel(Importer *, const Window *, bool sizes); // "p q", or "p:3 q:3"
const char *window_left(Importer *, const Window *, bool sizes);   // "k l", or "k:7 l:7"

#endif
