// Private to export: a graph of array operations on its way to an ONNX file.
#ifndef LIMN_PORT_EXPORT_ONNX_OWN_H
#define LIMN_PORT_EXPORT_ONNX_OWN_H

#include "port/arrays/arrays.h"
#include "port/export/export.h"

void onnx_tidy(ArrayGraph *); // onnx_tidy.c: transposes sink until they meet

// -- onnx_write.c ---------------------------------------------------------------------------------
bool onnx_written(ArrayGraph *, const char *name, Bytes *);
void onnx_what_is_read(ArrayGraph *, bool *node, bool *value); // [node], [value]: marked

#endif
