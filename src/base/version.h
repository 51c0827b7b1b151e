// The version that is written into files: LIMN_VERSION, which stands in the public header alone.
#ifndef VERSION_H
#define VERSION_H

#include "limn.h"

#endif
