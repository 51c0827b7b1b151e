// c: exports a learner, a box or a training step as one .c and one .h that depend on libm only.
#ifndef LIMN_PORT_C_C_OUT_H
#define LIMN_PORT_C_C_OUT_H

#include "port/out/out.h"

bool export_c(Export *); // export_c.c: false with a diagnostic

#endif
