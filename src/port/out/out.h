// out: what every way out of limn is given and needs: the name that was asked for, its diagram, its
// weights, and the file that it becomes.
//
// A format is a row of the table in port/export/formats.c and one function, which may live in a room
// of its own:
//
//   bool export_safetensors(Export *e) {
//     Arrays all = {0};
//     Bytes bytes;
//     const char *error;
//     if (!export_weights(e, diagram, &all)) return false;
//     …
//     return export_put(e, export_file(e), bytes.at, bytes.n);
//   }
#ifndef LIMN_PORT_OUT_OUT_H
#define LIMN_PORT_OUT_OUT_H

#include "run/use/use.h"

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  Arena *arena;     // that of the world
  const char *name; // a box, learner or goal; NULL: none was named
  const LimnExport *how;
  const char *ending; // of the format: ".onnx"
  const char *kind;   // in front of the ending where the export names the file itself: "_torch"
  const Arrays *set;  // weights that stand in for those of files, by name
  Buf *text;          // the files that were written, one a line
  Outcome status;     // when it failed
  Size samples;       // of the axis that export_diagram put in front of all inputs; 0: it did not
} Export;

// Says why, and is always false.
bool export_wrong(Export *, Outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
// What was named, with the sizes that goals and measures have settled, as it is in use and not in
// training; with `samples` an axis of samples stands in front of every input that has none. NULL
// with a diagnostic, also where nothing was named.
Diagram *export_diagram(Export *, bool samples);
// The values of its params, in their order.
bool export_params(Export *, const Diagram *, Tensor **param);
// Its weights and buffers by their paths; those that are there already stay.
bool export_weights(Export *, const Diagram *, Arrays *);
// Where the export goes: -o, or the name of what is exported (or of the program), kind and ending.
const char *export_file(Export *);
bool export_put(Export *, const char *path, const void *bytes, size_t n);

#endif
