// The version that is written into files: LIMN_VERSION, which stands in the public header alone.
#ifndef LIMN_BASE_VERSION_H
#define LIMN_BASE_VERSION_H

#include "limn.h"

#endif
