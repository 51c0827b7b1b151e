// out: what all exporters share: the requested name, its diagram and weights, and the output file.
//
// A format is a row of the table in port/export/formats.c and one function, possibly in its own
// room:
//
//   bool export_safetensors(Export *e) {
//     Arrays all = {0};
//     Bytes bytes;
//     const char *error;
//     if (!export_weights(e, diagram, &all)) return false;
//     …
//     return export_write_file(e, export_file(e), bytes.at, bytes.n);
//   }
#ifndef LIMN_PORT_OUT_OUT_H
#define LIMN_PORT_OUT_OUT_H

#include "base/files.h"
#include "run/use/use.h"

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  Arena *arena;     // the arena of the world
  const char *name; // a box, learner or goal; NULL: none was given
  const LimnExport *how;
  const char *ending;       // suffix of the format's files: ".onnx"
  const char *kind;         // inserted before the suffix in default file names: "_torch"
  const Arrays *set;        // weights that override those of files, by name
  const FolderNames *reads; // files that are not to be written; or NULL
  Buf *text;                // names of the files written, one per line
  Outcome status;           // set on failure
  Size samples;             // the sample axis that export_diagram added to all inputs; 0: none
} Export;

// Reports an error and returns false.
bool export_error(Export *, Outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
// The diagram of the name, in use, with sizes settled by goals and measures; with `samples`, inputs
// without a sample axis get one. NULL with a diagnostic, also if no name was given.
Diagram *export_diagram(Export *, bool samples);
// The values of its params, in order.
bool export_params(Export *, const Diagram *, Tensor **param);
// Adds its weights and buffers by path; entries that exist are kept.
bool export_weights(Export *, const Diagram *, Arrays *);
// The output file: -o, or the name of the box (or the program), kind and suffix.
const char *export_file(Export *);
// May these be written? None is a file that is read, or given twice. Asked before the first of
// several is written.
bool export_may_write(Export *, const char *const *path, uint32_t n);
bool export_write_file(Export *, const char *path, const void *bytes, size_t n);

#endif
