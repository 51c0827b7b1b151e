// python: exports a box, learner or whole program as a Python file for PyTorch or JAX.
#ifndef LIMN_PORT_PYTHON_PYTHON_H
#define LIMN_PORT_PYTHON_PYTHON_H

#include "port/out/out.h"

bool export_torch(Export *); // python.c: false with a diagnostic
bool export_jax(Export *);

#endif
