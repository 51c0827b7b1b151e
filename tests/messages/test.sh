#!/bin/sh
# Every message of limn occurs in the tests: messages.py finds others. This script tests messages that no `limn check` prints.
set -u
. "$(dirname "$0")/../say.sh"
here=$PWD/tests/messages
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
/usr/bin/python3 "$here/messages.py"
cd "$out" || exit 1

# says TEXT ARGUMENT…: limn refuses these arguments with this text
says() {
  text=$1
  shift
  "$LIMN" "$@" >said 2>&1
  status=$?
  if [ $status -ge 1 ] && [ $status -le 3 ] && grep -qF -- "$text" said; then ok "$text"; else not_ok "$text: status $status"; head -5 said; fi
}

cat >iris.limn <<'END'
given x, label from iris
learn f : R[4] -> R[3]
box twice(x: R[n]) -> R[n] = 2 * x
box both(x: R[n], y: R[n]) -> R[n] = x + y
box square(x: R[n]) -> R[n n] = x[i] x[j]
goal fit : f(x) ~ label by cross_entropy
train 2 steps, batch 4, adam(0.01)
END
cat >bare.limn <<'END'
box twice(x: R[n]) -> R[n] = 2 * x
box fixed(x: {2}) -> {2} = x
END
cat >sized.limn <<'END'
axis n = 3
box f(x: R[n]) -> R[n] = 2 * x
given u from uniform[n]
learn g : R[n] -> R[n]
goal fit : g(u) ~ f(u) by l2
END

printf 'const k = 2\nbox two() -> R[] = k\n' >fixed.limn
says "a constant has one value, and this is none: \`--set k=1, j=2\`" eval fixed.limn two --set "k=1, j=2"

# draw, print, grad
says "\`step\` is of all goals and takes no name" print iris.limn f --after step
says "input \`x\` is given twice" eval bare.limn twice --in "x=[1]" --in "x=[2]"
says "there are more inputs than \`twice\` has" eval bare.limn twice --in "[1]" --in "[2]"
says "the cotangent has 2 numbers, the result 3" eval bare.limn twice --in 'x=[1, 2, 3]' --dy '[1, 1]'
says "labels have no gradient" eval bare.limn fixed --in x=1 --dy '[1]'
says "this program declares no \`g\`" print iris.limn g --after tree
says "\`value\` wants the name of a box or a learner" print iris.limn --after value
says "makes no values of its own: it is made of other boxes" print iris.limn f --after value
says "\`step\` wants a \`train\`, and this program has none" print sized.limn --after step
says "nothing in \`fixed\` has a derivative" draw bare.limn fixed --grad -o f.svg
says "--open means nothing for a picture of goals" draw iris.limn --open f -o f.svg
says "either --lens or --grad is wanted, not both" draw iris.limn f --lens --grad -o f.svg
says "--notes means nothing for a picture of a derivative" draw iris.limn f --grad --notes -o f.svg
says "--level means nothing for a picture of goals" draw iris.limn --level layer -o f.svg
says "either --from or --weights is wanted, not both" eval iris.limn f --in "[1, 2, 3, 4]" --from a --weights b
says "either --from or --weights is wanted, not both" export iris.limn f --as c --from a --weights b
says "--batch means nothing for --as onnx" export iris.limn f --as onnx --batch 2
says "--seed means nothing for --as torch" export iris.limn f --as torch --seed 2
"$LIMN" export iris.limn f --as safetensors -o drawn.safetensors >/dev/null
says "--temperature is for models of text, and this is none" sample iris.limn f --from drawn.safetensors --temperature 2
says "as text, only boxes and learners have rows: leave --width out" draw iris.limn --width 100 -o -
says "there is no learning diagram \`flowers\` in this program" check iris.limn --paths flowers
says "\`--set n=-1\`: a size is a whole number from 1 to 9007199254740992" check sized.limn --set n=-1
says "\`--set n=99999999999999999999\`: a size is a whole number from 1 to" check sized.limn --set n=99999999999999999999

cat >loops.limn <<'END'
machine More(x: R[]) -> (y: R[]) = x + 1
wiring Line[n](x: R[n]) -> (y: R[]) {
  for i in 0..n-1 {
    p[i] : More
    x[i] -> p[i].x
  }
  y = p[0].y
}
END
says "a \`for\` of \`Line\` runs over sizes that are open" print loops.limn Line

cat >large.limn <<'END'
learn w : R[300000 300000], v : R[9007199254740992 9007199254740992]
END
says "weight w : R[300000 300000] cannot be made: it has 90000000000 numbers, and 2147483647 is the most" eval large.limn w
says "cannot be made: it has more than 2^63 numbers" eval large.limn v

# train
printf "given x, label from moons\nlearn f : R[2] -> R[2]\ngoal fit : f(x) ~ label by cross_entropy\ntrain 2 steps, batch 1\n" >long.limn
says "this is too long: training has at most 1e15 steps, and this would be 2e+15" train long.limn --reference --plain --quiet --out t --epochs 1000000000000
says "--every wants a number of steps (100) or of seconds (30s), not often" train iris.limn --reference --plain --quiet --out t --every often
says "say --epochs or --steps, not both" train iris.limn --reference --plain --quiet --out t --epochs 1 --steps 1
touch file
says "cannot resume file: it is not a folder" train iris.limn --reference --plain --quiet --resume file
says "cannot resume nowhere: No such file or directory" train iris.limn --reference --plain --quiet --resume nowhere
"$LIMN" train iris.limn --reference --plain --quiet --out run >said 2>&1 || { not_ok "a run to use"; cat said; }
says "run holds a run already: go on with --resume run, or name another folder" train iris.limn --reference --plain --quiet --out run
mkdir taken && cp iris.limn taken/program.limn
says "taken/program.limn exists already and belongs to no run: it would be overwritten; --out names another folder" train taken/program.limn --reference --plain --quiet --out taken
mkdir empty && touch empty/other
says "empty holds no run: there is no state.safetensors in it" train iris.limn --reference --plain --quiet --resume empty

# predict, sample, report
says "an input is an npy, csv or png file, or numbers, not x.wav" predict iris.limn f --from run --in x=x.wav
says "results are written as .npy, .csv, .json or .png, not as y.wav" predict iris.limn f --from run --in 'x=[1, 2, 3, 4]' --out y.wav
says "input 1 has no place along its axis 2: every axis has one" predict iris.limn f --from run --in 'x=[[]]'
says "input 1 is 1×1×3 float64, but R[4] is wanted, or a row of them" predict iris.limn f --from run --in 'x=[[[1, 2, 3]]]'
says "input y : R[n] is not given" predict iris.limn both --from run --in 'x=[1, 2]'
says "there are more inputs than \`twice\` has" predict iris.limn twice --from run --in "[1, 2]" --in "[3]"
says "inputs have different numbers of samples: 2 and 3" predict iris.limn both --from run --in 'x=[[1, 2], [1, 2]]' --in 'y=[[1, 2], [1, 2], [1, 2]]'
says "inputs have different numbers of samples: 1 and 2" predict iris.limn both --from run --in 'x=[[1, 2]]' --in 'y=[[1, 2], [1, 2]]'
says "inputs have different numbers of samples: 1 and 2" predict iris.limn fit --from run --in 'x=[[1, 2, 3, 4]]' --in 'label=[1, 2]'
says "input label is one float64, but a row of {3} is wanted, one for each sample" predict iris.limn fit --from run --in 'x=[[1, 2, 3, 4]]' --in label=1
says "input x is 1×2 float64, but a row of R[4] is wanted, one for each sample" predict iris.limn fit --from run --in 'x=[[1, 2]]' --in 'label=[1]'
says "sample what? Name a learner or box, or write a \`show\`" sample iris.limn --from run
says "\`fixed\` cannot be fed with noise: it wants {2}; \`limn predict\` gives it arrays" sample bare.limn fixed --from run
says "has no value: --from DIR names a run folder" predict iris.limn f --in 'x=[1, 2, 3, 4]'
says "\`report\` needs --from DIR, the folder of a run" report iris.limn
says "this program has nothing to run: \`run Machine to 10\`, \`check …\`" run iris.limn

# export
says "there is no format \`safetensor\`" export iris.limn --as safetensor
says "--as is missing: in which format?" export iris.limn


# what training meets
cat >bits.limn <<'END'
given x from faces
learn w : B[4]
stale old = w by 0.9
goal fit : w ~ old by xor
train 2 steps, batch 4, rda
END
says "w is made of bits, which have no average: copy it with \`every\`" train bits.limn --reference --plain --quiet --out t
sed 's/^train/show softmax(f(x)) as paths every 1\ntrain/' iris.limn >paths.limn
says "a path shows learned values, not samples" train paths.limn --reference --plain --quiet --out t
printf 'a\n1\n2\n' >one.csv
cat >split.limn <<'END'
given x : R[1] from "one.csv"
learn f : R[1] -> R[1]
goal fit : f(x) ~ x by l2
measure far : f(x) ~ x by l2 on "one.csv".test
train 2 steps, batch 1, adam(0.01)
END
says "one.csv has no samples in its split \`test\`" train split.limn --reference --plain --quiet --out t
printf 'a,kind\n1,ant\n2,bee\n3,ant\n' >ants.csv
printf 'a,kind\n1,cat\n2,dog\n3,cat\n' >cats.csv
cat >words.limn <<'END'
given x : R[1], k : {2} from "ants.csv"
learn f : R[1] -> R[2] = dense[2]
goal fit : f(x) ~ k by cross_entropy
measure fit by hits on "cats.csv"
train 2 steps, batch 1, adam(0.01)
END
says "\`kind\` has the word \`cat\` in cats.csv, which is none of ants.csv's" train words.limn --reference --plain --quiet --out t
cat >many.limn <<'END'
given x from glyphs.image
learn f : R[28 28] -> R[1000 1000] = flatten ; dense[1] ; dense[1000 1000]
goal fit : f(x) ~ 0 by l2
measure spread : sum(max[batch](f(x))) on glyphs.train
train 2 steps, batch 1, adam(0.01)
END
says "this compares 10000 samples with each other, which wants 80 GB of memory" train many.limn --reference --plain --quiet --out t

# a warning is no refusal
"$LIMN" eval iris.limn f --in 'x=[1, 2, 3, 4]' --save w.safetensors >said 2>&1
"$LIMN" eval bare.limn twice --in 'x=[1, 2]' --weights w.safetensors >said 2>&1
if grep -q "warning: weight f/.* in w.safetensors is not used here" said; then ok "a weight that is not used"; else not_ok "a weight that is not used"; head -5 said; fi

# files of data
/usr/bin/python3 - <<'END'
import gzip
import numpy as np
np.savez("rows.npz", x=np.zeros((3, 2)), y=np.zeros(4))
np.savez("tests.npz", x_test=np.zeros((3, 2)))
np.savez("wide.npz", x_train=np.zeros((3, 2)), x_test=np.zeros((3, 5)))
header = b'{"a":{"dtype":"F32","shape":[' + b",".join([b"1"] * 70) + b'],"data_offsets":[0,4]}}'
open("many.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + bytes(4))
locked = bytearray(open("rows.npz", "rb").read())
locked[locked.index(b"PK\1\2") + 8] |= 1
open("locked.npz", "wb").write(locked)
packed = bytearray(gzip.compress(b"a\n1\n2\n" * 100))
packed[12:20] = bytes(8)
open("damaged.csv.gz", "wb").write(packed)
END
says "array y has 4 rows, but x has 3: fields have one length" data rows.npz
says "the archive is encrypted, which is not supported" data locked.npz
says "it is damaged: " data damaged.csv.gz
says "it has no arrays to train on" data tests.npz
says "a row, where" data wide.npz
says "tensor \`a\`: its shape has 70 axes, more than" eval iris.limn f --in 'x=[1, 2, 3, 4]' --weights many.safetensors
awk 'BEGIN { print "a"; for (i = 0; i < 70000; i++) print "word" i }' >words.csv
says "words.csv: no column has numbers or labels" data words.csv
mkdir pictures && echo text >pictures/a.png
says "pictures/a.png is not a png picture" data pictures
says "cannot read the folder nowhere: No such file or directory" runs nowhere
printf 'a,b\nx,1\ny,2\n' >mixed.csv
/usr/bin/python3 -c "
import struct
head = \"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\".ljust(117) + '\\n'
open('nan.npy', 'wb').write(bytes([147]) + b'NUMPY' + bytes([1, 0, 118, 0]) + head.encode() + struct.pack('<4d', 1, 2, float('nan'), 4))"
printf 'const k : R[2 2] from "nan.npy"\nbox f(x: R[2]) -> R[2] = x[j] k[i j]\n' >nan.limn
says "nan.npy: found NaN at [1 0], where a number was wanted" check nan.limn
printf 'const k : R[2 2] from "mixed.csv"\nbox f(x: R[2]) -> R[2] = x[j] k[i j]\n' >const.limn
says "column a holds words; an array is made of numbers" check const.limn
mkdir -p sets/digits sets/shakespeare
printf '1,2,3\n4,5,6\n' >sets/digits/digits.csv
echo abc >sets/shakespeare/input.txt
LIMN_DATA=$PWD/sets
export LIMN_DATA
says "digits.csv has 3 columns, where 65 were wanted" data digits
says "input.txt has 4 different characters, where 65 were wanted" data shakespeare
awk 'BEGIN { for (r = 0; r < 3; r++) { for (i = 0; i < 64; i++) printf "17,"; print 1 } }' >sets/digits/digits.csv
says "row 1 is not 64 pixels from 0 to 16 and a label" data digits
printf '1,2\n"3\n' >sets/digits/digits.csv
says "digits/digits.csv: line 2: a quote is never closed" data digits

# models of text
awk 'BEGIN { for (i = 0; i < 200; i++) print "abc" }' >abc.txt
cat >text.limn <<'END'
axis t = 8, v = 4
given a : {v}[t] from "abc.txt"
learn f : {v}[t] -> R[t v] = embed[8] ; linear[v]
goal guess : f(a) ~ a by cross_entropy
train 2 steps, batch 2, adam(0.01)
END
"$LIMN" train text.limn --reference --plain --quiet --out letters >said 2>&1 || { not_ok "a model of text"; cat said; }
says "the prompt has letters that the model does not know: at \"xyz\"" sample text.limn f --from letters --prompt xyz
sed 's/^given.*/given label from iris/; s/f(a) ~ a/one_hot(label) ~ label/' text.limn >labels.limn
says "nothing in this program says what its 4 labels are called" sample labels.limn f --from letters
awk 'BEGIN { print "x"; for (i = 0; i < 70000; i++) print "w" i }' >long.csv
says "column x of long.csv has too many words" predict iris.limn f --from run --in x=long.csv

# words
sed 's/abc/abd/' abc.txt >abd.txt
sed 's/"abc.txt"/"abd.txt"\ngiven b : {v}[t] from "abc.txt"/; s/f(a) ~ a/f(a) ~ b/' text.limn >letters.limn
says "several things in this program have 4 labels, called differently" sample letters.limn f --from run
echo 'measure hit : f(a) ~ a by hits' >>text.limn
cp abd.txt abc.txt
says "abc.txt: \`d\` is none of the words that \`text\` has" eval text.limn --from letters --reference
awk 'BEGIN { print "a,kind,way"; for (i = 0; i < 40; i++) print i ",k" i % 3 ",w" i % 3 }' >kinds.csv
cat >kinds.limn <<'END'
given a : R[], kind : {k0, k1, k2}, way : {3} from "kinds.csv"
learn w : {k0, k1, k2} -> R[2] = embed[2]
box which(k: {3}) -> R[] = number(k)
box row(x: R[3]) -> R[3] = x
goal fit : sum(w(kind)) ~ a by l2
measure all : sum(w(kind)) * number(way) ~ a by l2
train 2 steps, batch 4, adam(0.01)
END
"$LIMN" train kinds.limn --reference --plain --quiet --out kinds >said 2>&1 || { not_ok "labels with words"; cat said; }
printf 'other,kind\nk1,9\n' >one.csv
says "column other of one.csv has words, and several fields have as many labels: name it as the field that is meant" predict kinds.limn which --from kinds --in one.csv:other
says "column kind of kinds.csv has words, where numbers are wanted" predict kinds.limn row --from kinds --in kinds.csv
says "column other of one.csv has words, and nothing says which labels they are" predict bare.limn fixed --in one.csv:other
sed 's/{k0, k1, k2}/{k2, k1, k0}/' kinds.limn >turned.limn
says "the labels of \`kind\` are k2, k1, k0 here, but the weights were trained with k0, k1, k2" eval turned.limn --from kinds --reference
cat >numbered.limn <<'END'
given i : {50}, x from iris[fields: index x]
learn w : {50} -> R[4] = embed[4]
goal fit : w(i) ~ x by l2
train 2 steps, batch 4, adam(0.01)
END
says "iris has 100 samples, but their numbers are {50}" train numbered.limn --reference --plain --quiet --out numbered

cat >place.limn <<'END'
given x from normal[4]
box last(x: R[n]) -> R[n] {
  learn e : R[n] = normal
  state s : {n} = 0
  next s = argmax[n](e)
  return y[i] = x[i] * e[s]
}
learn f : R[4] -> R[4] = last
goal fit : f(x) ~ 1 by l2
train 2 steps
END
"$LIMN" train place.limn --reference --plain --quiet --out place >said 2>&1 || { not_ok "a state that is a label"; cat said; }
# without its sum, which would find that it is damaged
{ head -c -4 place/model.safetensors | LC_ALL=C sed 's/limn_sum/no_sum__/g'; printf '\377\377\377\177'; } >wild.safetensors
says "f/last/s holds 2147483647, which is not one of its 4 labels" predict place.limn f --from wild.safetensors --in '[1, 2, 3, 4]'
printf 's\n0\n2\n7\n' >ports.csv
cat >ports.limn <<'END'
machine M(s: {3}) -> (y: R[]) {
  y = number(s)
}
run M for 3 ticks on "ports.csv"
END
says "ports.csv: \`s\` is 7 in row 3, but the port is {3}" run ports.limn --plain --reference
