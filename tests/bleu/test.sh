#!/bin/sh
# BLEU of a whole data set, compared with an independent implementation.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cat >measure.limn <<'END'
given said : {9}[7], meant : {9}[7] from "pairs.npz"
measure b4 : bleu(said, meant)      on "pairs.npz".train
measure b2 : bleu[n: 2](said, meant)   on "pairs.npz".train
END
if /usr/bin/python3 "$here/oracle.py" >want && "$LIMN" eval measure.limn --reference >have 2>err && /usr/bin/python3 "$here/oracle.py" have want; then
  echo "ok bleu"
else
  echo "not ok bleu"
  cat err have want
fi
