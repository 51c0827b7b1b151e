// export: a program, or one box or learner of it, leaves limn in the format of others.
#ifndef LIMN_PORT_EXPORT_EXPORT_H
#define LIMN_PORT_EXPORT_EXPORT_H

#include "port/out/out.h"

// formats.c: by the table of formats
Outcome export_as(Export *);

bool export_onnx(Export *);        // onnx.c
bool export_safetensors(Export *); // weights.c

#endif
