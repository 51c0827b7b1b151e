#!/bin/sh
# The order of the folders is the order of the data: a layer includes only itself and those before it.
set -eu
cd "$(dirname "$0")/../src"
bad=0
for file in */*.[ch]; do
  layer=${file%%/*}
  for used in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file" | sort -u); do
    if [ "$(printf '%s\n%s\n' "$used" "$layer" | sort | tail -1)" != "$layer" ]; then
      echo "src/$file: layer $layer may not include $used"
      bad=1
    fi
  done
done
exit $bad
