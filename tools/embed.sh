#!/bin/sh
# The library's files, in the order of their names, as a C array on standard output.
set -eu
echo '#include "infer/library.h"'
echo 'const char limn_library[] = {'
cat "$@" | od -An -v -tu1 | sed 's/[0-9][0-9]*/(char)&,/g'
echo '0};'
echo 'const size_t limn_library_size = sizeof limn_library - 1;'
