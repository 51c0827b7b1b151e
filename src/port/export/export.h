// export: writes a program, or one box or learner of it, in the format of another system.
#ifndef LIMN_PORT_EXPORT_EXPORT_H
#define LIMN_PORT_EXPORT_EXPORT_H

#include "port/out/out.h"

// formats.c: dispatches by the table of formats
Outcome export_as(Export *);

bool export_onnx(Export *);        // onnx.c
bool export_safetensors(Export *); // weights.c

#endif
