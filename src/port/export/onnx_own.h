// Private to export: a graph of array operations to be written as ONNX.
#ifndef LIMN_PORT_EXPORT_ONNX_OWN_H
#define LIMN_PORT_EXPORT_ONNX_OWN_H

#include "port/arrays/arrays.h"
#include "port/export/export.h"

void onnx_tidy(ArrayGraph *); // onnx_tidy.c: moves transposes down until they cancel

// -- onnx_write.c ---------------------------------------------------------------------------------
bool onnx_written(ArrayGraph *, const char *name, Bytes *);
// [node], [value]: marks what outputs depend on.
void onnx_mark_live(ArrayGraph *, bool *node, bool *value);

#endif
