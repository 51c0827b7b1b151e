#!/bin/sh
# Diagrams as JSON: exported diagrams are read back unchanged; invalid JSON is refused with the name of the error. LONG=1 (make test-json): every
# learner and box of the examples and of the library.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$here/../../examples" || exit 1
/usr/bin/python3 "$here/round.py" "$LIMN" iris.limn vit.limn lynx.limn energy.limn nash.limn unet.limn rule90.limn
if [ -n "${LONG:-}" ]; then /usr/bin/python3 "$here/round.py" "$LIMN" --boxes ./*.limn "$here"/../../lib/*.limn; exit 0; fi
cd "$out" || exit 1
"$LIMN" read "$here/dot.json" -o dot.limn 2>log
echo "[1, 2, 3]" >want
if [ "$("$LIMN" eval dot.limn dot --in '[1, 2, 3]' --in '[4, 5, 6]' 2>&1)" = 32 ]; then echo "ok json: written by hand"; else echo "not ok json: written by hand"; cat log; fi
# Axes that pass over several wires and meet by name, a constant, a part of labels, a scan: read back with the same values and under the same name.
cat >whole.limn <<'PROGRAM'
const shift : R[2] = [1, 2]
box no_number(x: R[2]) -> R[2] = x + (inf - inf)
box heads(x: R[3 4 2], y: R[4 3 2]) -> R[3 4 2] {
  a[i j k] = x[i j k] + shift[k]
  b[j i k] = y[i j k]
  return attend(a[i j k], b[i l k], b[i l m])
}
box best(x: R[6]) -> {6}[3] {
  all = order[j](0 - x[j])
  return all[0..2]
}
box step(z: R[2], h: R[2]) -> R[2] = 0.5 * h + z
box steps(x: R[3 2]) -> R[3 2] {
  start[k:2] = 0
  x2[t k] = x[t k]
  return scan[t, step](x2, start)
}
learn pair : R[2] = [0.5, -0.25]
box larger(x: R[]) -> R[1] = max[j:2](pair[2*i+j])
box none_of(x: R[3 2]) -> R[3 2 1] = larger(x)
share cools(h) { h' = sin(h) - 0.5 * h }
box later(x: R[n]) -> R[n 3] {
  const moments : R[3] = [0.1, 0.3, 0.7]
  return flow[cools, steps: 2](x, moments)
}
box both(a: R[], b: R[]) -> R[] = 0.7 * a - b
box moved(x: R[n]) -> R[n] {
  y = scan[n, both](sin(x))
  return fwd[both](y, tanh(y), x, x)
}
learn net : R[2] -> R[2] = dense[2] ; tanh
box two_uses(x: R[3 2], y: R[2]) -> R[2] {
  a = net(x)
  b = net(y)
  s[k] = a[i k] + b[k]
  return s
}
box shrunk(x: R[h w 1]) -> R[((h-1)//2)//2+1 ((w-1)//2)//2+1 1] = (conv[2, stride: 2] ; relu ; conv[1, stride: 2])(x)
box backwards(x: R[2], d: R[2]) -> R[2] = rev[net](x, d)
box passed(x: R[3 2], d: R[3 2]) -> R[3 2] {
  d2[t k] = d[t k]
  return rev[steps](x, d2)
}
box fitted(x: R[3 2], y: R[3 2], q: R[2]) -> R[2] = refit[net, gd, steps: 2, rate: 0.1, by: l2](x, y, q)
box around(x: R[2]) -> R[2] = net(tanh(x))
box only_calls(x: R[2]) -> R[2] = around(x)
learn two[2] : R[2] -> R[2] = dense[2] ; sin
box reads_nothing(x: R[2], y: R[]) -> R[2] {
  a = two[0](x)
  b = two[1](a)
  return sin(pair)
}
box unread(x: R[2]) -> R[] {
  a, b = rev[reads_nothing](x, 0.5, pair)
  return b + reads_nothing(x, 1)[0]
}
box bent(a: R[], b: R[]) -> R[] = exp(a * b)
box over_two(x: R[], y: R[]) -> R[2 3] {
  const moments : R[3] = [0.1, 0.3, 0.7]
  return flow[cools, steps: 2](fwd[bent](pair, y, pair, x), moments)
}
box over_three(y: R[4]) -> R[4 2 3] = over_two(0.5, y)
PROGRAM
# near WANTED GOT: the same text, but for the last digits of numbers
near() {
  /usr/bin/python3 - "$1" "$2" <<'END'
import re, sys
number = r"-?[0-9][0-9.]*(?:e-?[0-9]+)?"
a, b = (open(f).read() for f in sys.argv[1:])
x, y = ([float(n) for n in re.findall(number, t)] for t in (a, b))
sys.exit(re.sub(number, "", a) != re.sub(number, "", b) or len(x) != len(y) or any(abs(p - q) > 1e-14 * max(1, abs(p)) for p, q in zip(x, y)))
END
}
whole() {
  name=$1
  shift
  rm -f whole.safetensors back.safetensors
  "$LIMN" export whole.limn "$name" --as safetensors --precision 64 >log 2>&1 -o whole.safetensors
  with= from=
  if [ -e whole.safetensors ]; then with='--weights whole.safetensors' from='--weights back.safetensors'; fi
  if "$LIMN" export whole.limn "$name" --as json -o whole.json >log 2>&1 && "$LIMN" read whole.json $with -o back.limn 2>log && "$LIMN" eval whole.limn "$name" "$@" >want 2>log &&
    "$LIMN" eval back.limn "$name" "$@" $from >got 2>log && near want got && "$LIMN" export back.limn "$name" --as json -o again.json >log 2>&1; then echo "ok json: $name is the same again, under its name"
  else echo "not ok json: $name is the same again, under its name"; cat log back.limn; fi
}
whole heads --in '[[[1, 2], [3, 1], [0, 2], [1, 1]], [[2, 2], [0, 1], [1, 2], [3, 1]], [[0, 1], [1, 2], [2, 1], [1, 0]]]' --in '[[[1, 2], [0, 1], [2, 1]], [[3, 1], [1, 1], [0, 2]], [[1, 0], [2, 2], [1, 3]], [[0, 1], [1, 1], [2, 0]]]'
whole no_number --in '[1, 2]'
whole best --in '[3, 1, 4, 1, 5, 9]'
whole steps --in '[[1, 2], [3, 4], [5, 6]]'
# Axes that pass over a box and are in none of its results, or that something else goes along; the same axis under two names.
whole none_of --in '[[1, 2], [3, 4], [5, 6]]'
whole later --in '[1, 2]'
whole moved --in '[1, 2, 3, 4]'
# What is called has an input whose size is a quotient, which it does not know the parts of.
whole shrunk --in '[[[1], [2], [3], [4], [5]], [[2], [1], [0], [1], [2]], [[3], [1], [4], [1], [5]]]'
# Weights that another box owns are wires: of a learner that is used for other axes, of its derivative, of one that is fitted anew. Scans that
# go back, hold wires and emit more than they carry are among these.
whole two_uses --in '[[1, 2], [3, 4], [5, 6]]' --in '[0.5, 1]'
whole backwards --in '[1, 2]' --in '[0.5, 1]'
whole passed --in '[[1, 2], [3, 4], [5, 6]]' --in '[[1, 0], [0, 1], [1, 1]]'
whole fitted --in '[[1, 2], [3, 4], [5, 6]]' --in '[[1, 0], [0, 1], [1, 1]]' --in '[1, 2]'
# A box that only calls another one keeps its name. Weights that nobody reads are named by who does. Axes that pass over a call in several orders.
whole only_calls --in '[1, 2]'
whole unread --in '[1, 2]'
whole over_three --in '[1, 2, 3, 4]'
# refused WHAT PYTHON WORDS: the file after this change of `j` is refused with these words
refused() {
  /usr/bin/python3 -c "
import json, sys
j = json.load(open('$here/dot.json')); d = j['diagrams'][0]; b = d['boxes'][0]
$2
json.dump(j, open('bad.json', 'w'))"
  rm -f bad.limn
  "$LIMN" read bad.json -o bad.limn >log 2>&1
  if [ $? -eq 1 ] && grep -qF -- "$3" log && [ ! -e bad.limn ]; then echo "ok json: $1"; else echo "not ok json: $1"; sed 's/^/    /' log; fi
}
refused "another format" "j['format'] = 'x'" '"format": "limn diagram" is wanted'
refused "another version" "j['version'] = 2" "its version is 2, and 1 is wanted"
refused "no such main" "j['main'] = 'x'" 'there is no diagram `x` before it'
refused "a wire that is not there" "b['in'][0]['wire'] = 'x'" 'diagram `dot`, boxes[0].in[0]: there is no wire `x`'
refused "a wire of itself" "b['in'][0]['wire'] = 'y'" "it reads what is made later"
refused "two wires of one name" "d['inputs'][1]['name'] = 'a'" 'there are two wires `a`'
refused "a size that is not there" "d['inputs'][0]['type']['axes'][0]['size'] = 'm'" '`m` is not among "sizes"'
for size in 0 -56 0.5; do refused "an axis of $size" "d['inputs'][0]['type']['axes'][0]['size'] = $size" "a type has at least one of each: $size is no size of it"; done
refused "-56 labels" "d['inputs'][0]['type'] = {'base': 'label', 'count': -56}" "a type has at least one of each: -56 is no size of it"
refused "a size that is a text" "d['inputs'][0]['type']['axes'][0]['size'] = '1; 2'" '`1; 2` is not a size'
for size in '9(7' '/n' 'n n' '(n' 'n-' '*2' '1 2' '()' 'n--1'; do
  refused "the size $size" "d['inputs'][0]['type']['axes'][0]['size'] = '$size'" "\`$size\` is not a size"
done
refused "a key with a slip" "d['inputs'][0]['type']['axse'] = []" 'diagrams[0].inputs[0].type: there is no key "axse": is it "axes"?'
refused "another base" "d['inputs'][0]['type']['base'] = 'Q'" 'a type has base "R", "B" or "label", not "Q"'
refused "no such function" "b['body'][2][0] = 'run'" "boxes[0].body[2]: the loop that gives \`y\`: a scalar is [function, arguments …], with the functions of \`limn ops\`"
refused "where a type is wrong" "d['inputs'][1]['type']['axes'][0]['size'] = {}" "diagrams[0].inputs[1].type: a size is a whole number or a text"
refused "what the checker finds" "b['body'] = [['arg', 0], ['not', 0]]" "# diagrams[0].boxes[0]"
refused "labels that are no words" "d['inputs'][0]['type'] = {'base': 'label', 'count': 1, 'names': ['a b'], 'axes': []}" "the names of labels are words"
refused "an argument that comes later" "b['body'][2][1] = 2" "a scalar has arguments that stand before it"
refused "too few places" "b['in'][0]['at'] = []" "\"at\" has as many places as there are axes"
refused "no such index" "b['in'][0]['at'][0][1][1] = 'k'" "a place has an index that is not in \"indices\""
refused "no such box" "b['op'] = 'melt'" 'there is no box "melt"'
refused "no such combine" "b['combine'] = 'mean'" '"combine" is "sum", "prod", "max" or "min"'
refused "a name for a language" "b['in'] = []; b['body'] = [['const', 'x']]" "a constant is a number"
refused "types that do not fit" "b['out'][0]['type']['base'] = 'B'; d['boxes'].append({'out': [{'name': 'z', 'type': {'base': 'B', 'axes': []}}], 'op': 'loop', 'combine': 'sum', 'indices': [], 'in': [{'wire': 'y', 'at': []}], 'at': [], 'body': [['arg', 0], ['not', 0]]}); d['outputs'] = ['z']" "error"
printf '{' >cut.json
"$LIMN" read cut.json >log 2>&1
if [ $? -eq 1 ] && grep -q "cannot read cut.json" log; then echo "ok json: half a file"; else echo "not ok json: half a file"; fi
refused "a constant without a value" "d['params'] = [{'name': 'w', 'type': {'base': 'R', 'axes': []}, 'role': 'weight', 'path': 'w', 'init': {'kind': 'const'}}]" 'starts as a constant, and has no "value"'
refused "an empty size" "b['indices'][0]['size'] = ''" '`` is not a size'
refused "a place that is itself" "b['in'][0]['at'] = [[0, [1, 0]]]" 'an index that is not in "indices"'
refused "the largest at shifted places" "b['combine'] = 'max'; b['out'][0]['type']['axes'] = [{'size': 'n'}]; b['at'] = [[1, [1, 'i']]]" "only sums may have a result at places that are no plain indices"
refused "a part of an axis at shifted places" "b['out'][0]['type']['axes'] = [{'size': 'n'}]; b['at'] = [[1, [1, 'i']]]; b['indices'][0]['size'] = 2" "runs over a part of an axis"
refused "an index that is read nowhere" "b['in'] = []; b['body'] = [['const', 1]]; b['out'][0]['type']['axes'] = [{'size': 'n'}]; b['at'] = [[1, [1, 'i']]]" "how far it runs cannot be said"
# what limn writes itself: scans, lists of numbers, a box that only calls another, parts of axes
cat >own.limn <<'P'
box add_cell(x: R[], h: R[]) -> R[] = x + h
box running(x: R[t]) -> R[t] = scan[t, add_cell](x)
box weighed(x: R[3]) -> R[3] = x * [1, 2, 3]
box cums(x: R[4]) -> R[4] = cumulative_sum(x)
box front(x: R[4]) -> R[2] = x[0..1]
box θ(α: R[4]) -> R[4] = sin(α) * α
box scattered(x: R[4]) -> R[4] {
  at = order(sin(x))
  y[at[i]] = 0.5 * i
  return y
}
box names(names: R[4]) -> R[4] = 2 * names
box game(x: R[4], who: {rock, paper}[2]) -> {rock, paper}[2] = who
P
"$LIMN" export own.limn game --as json -o own.json >log 2>&1 && "$LIMN" read own.json -o again.limn >log 2>&1
if grep -q 'box game(x: R\[4\], who: {rock, paper}\[2\]) -> {rock, paper}\[2\]' again.limn; then echo "ok json: names of labels"; else echo "not ok json: names of labels"; cat log again.limn; fi
# Constants of the program stay constants, of numbers and of labels; `--weights` need not have them.
cat >fixed.limn <<'P'
const k : R[3] = [1, 2, 3]
const at : {3}[2] = [2, 0]
learn f(x: R[3]) -> R[2] {
  learn w : R[3] = 0.5
  y = x * k * w
  return y[at[i]]
}
P
"$LIMN" export fixed.limn f --as json -o fixed.json >log 2>&1 && "$LIMN" export fixed.limn f --as safetensors -o w.safetensors >log 2>&1 &&
  "$LIMN" read fixed.json --weights w.safetensors -o fixed_again.limn >log 2>&1
if [ "$(grep -c '^const \(k : R\[3\]\|at : {3}\[2\]\) = ' fixed_again.limn)" = 2 ] && [ "$("$LIMN" eval fixed_again.limn f --weights fixed_again.safetensors --in '[2, 4, 6]' 2>&1)" = '[9, 1]' ]
then echo "ok json: constants stay constants"; else echo "not ok json: constants stay constants"; cat log fixed_again.limn; fi
"$LIMN" export own.limn θ --as json -o own.json >log 2>&1 && "$LIMN" read own.json -o again.limn >log 2>&1
if grep -q 'box θ(α: R\[4\])' again.limn; then echo "ok json: names beyond ASCII"; else echo "not ok json: names beyond ASCII"; cat log again.limn; fi
for box in running weighed cums front θ scattered names; do
  x='[1, 2, 3, 4]'
  [ $box != weighed ] || x='[1, 2, 3]'
  "$LIMN" export own.limn $box --as json -o own.json >log 2>&1 && "$LIMN" read own.json -o again.limn >log 2>&1
  if [ "$("$LIMN" eval own.limn $box --in "$x" 2>&1)" = "$("$LIMN" eval again.limn $box --in "$x" 2>&1)" ]; then echo "ok json: $box"; else echo "not ok json: $box"; sed 's/^/    /' log; cat again.limn; fi
done
# Labels that are written as numbers, places as labels, what counts steps, one of several weights, names of results; weights of a box that
# becomes a learner.
cat >more.limn <<'P'
axis n = 2
learn p[n] : R[3] = normal
box cell(at: {4}, h: R[], last: {5}) -> R[], {5} = (h + number(at), last)
box walked(x: R[]) -> R[4], {5}[4] {
  h, last = scan[t, cell](positions[t:4], x)
  return h, last
}
box faded(rate: R[]) -> R[] = rate * (1 - step / steps)
box members(x: R[3]) -> (first: R[3], second: R[3]) = (x * p[0], x * p[1])
box pooled(x: R[h w]) -> R[h//2 w//2] = max[p:2 q:2](x[2*i+p 2*j+q])
box framed(x: R[2]) -> R[3] {
  learn edge : R[1] = normal
  return concat(x, edge)
}
P
for box in faded members pooled framed; do
  "$LIMN" export more.limn $box --as json -o more.json >log 2>&1 && "$LIMN" export more.limn $box --as safetensors -o more_w.safetensors >>log 2>&1
  weights=
  [ $box != framed ] && [ $box != members ] || weights="--weights more_w.safetensors"
  # shellcheck disable=SC2086 # two words
  "$LIMN" read more.json -o more_again.limn $weights >>log 2>&1 && "$LIMN" export more_again.limn $box --as json -o more2.json >>log 2>&1 && "$LIMN" read more2.json -o more_third.limn >>log 2>&1
  if [ -s more_again.limn ] && cmp -s more_again.limn more_third.limn; then echo "ok json: $box is read back as itself"; else echo "not ok json: $box is read back as itself"; cat log more_again.limn more_third.limn; fi
  rm -f more_again.limn more_third.limn
done
"$LIMN" export more.limn framed --as safetensors -o more_w.safetensors >log 2>&1; "$LIMN" export more.limn framed --as json -o more.json >log 2>&1; "$LIMN" read more.json -o framed.limn --weights more_w.safetensors >log 2>&1
if [ "$("$LIMN" eval more.limn framed --in '[1, 2]' --weights more_w.safetensors 2>&1)" = "$("$LIMN" eval framed.limn framed --in '[1, 2]' --weights framed.safetensors 2>&1)" ]; then echo "ok json: the weights of a box"; else echo "not ok json: the weights of a box"; cat log framed.limn; fi
refused "names for some results" "d['results'] = []" '"results" are names, one for each of its 1 outputs'
refused "names that are none" "d['results'] = ['']" '"results" are names, one for each of its 1 outputs'
refused "a clock of another name" "d['params'] = [{'name': 'w', 'type': {'base': 'R', 'axes': []}, 'role': 'clock', 'path': 'w', 'rooted': True, 'init': {'kind': 'const', 'value': 0}}]" 'only `step` and `steps` can be read back'
refused "a label that is none" "b['out'][0]['type'] = {'base': 'label', 'count': 3, 'axes': []}; b['in'] = []; b['indices'] = []; b['body'] = [['const', 3, 'label']]" "a label that is constant is one of those that it gives"
# Weights begin as they did: how many come in and go out is said where names of axes said it, and what was drawn is drawn.
cat >begin.limn <<'P'
axis many = 300
learn table : R[many 4] = 0.02 * normal[many 4]
learn words(t: {many}) -> R[3 2] {
  learn u : R[4 4] = 0.1 * uniform[4 4] - 0.05
  learn k : R[3] = [1, 2, 3]
  x[j] = table[t i] u[i j]
  y = dense[3 2](x)
  return z[a b] = y[a b] * k[a]
}
P
"$LIMN" export begin.limn words --as json -o begin.json >log 2>&1 && "$LIMN" read begin.json -o begin_again.limn >log 2>&1
if "$LIMN" diff begin.limn begin_again.limn --of words >>log 2>&1 && grep -q 'learn W : R\[4 3 2\] = glorot\[4, 6\]' begin_again.limn && grep -q 'learn k : R\[3\] = \[1, 2, 3\]' begin_again.limn && grep -q 'normal\[300 4\]' begin_again.limn
then echo "ok json: weights begin as they did"; else echo "not ok json: weights begin as they did"; cat log begin_again.limn; fi
# A size of which only the whole is seen, as half of something, is a variable where it comes in; so it can be read a second time.
cat >halves.limn <<'P'
box wide(x: R[h w]) -> R[h w] {
  m = sum[i j](x[i j]) / (size[h] * size[w])
  return y[i j] = x[i j] - m
}
box half(x: R[h w]) -> R[h//2 w//2] = max[p:2 q:2](x[2*i+p 2*j+q])
box halves(x: R[h w]) -> R[h//2//2 w//2//2] = (wide ; half ; wide ; half ; wide)(x)
P
"$LIMN" export halves.limn halves --as json -o h1.json >log 2>&1 && "$LIMN" read h1.json -o h1.limn >>log 2>&1 && "$LIMN" export h1.limn halves --as json -o h2.json >>log 2>&1 && "$LIMN" read h2.json -o h2.limn >>log 2>&1
x='[[1, 2, 3, 4, 9], [5, 6, 7, 8, 9], [2, 1, 4, 3, 1], [0, 5, 3, 2, 2]]'
if grep -q 'box wide_2(x: R\[h_2 w_2\]) -> R\[h_2 w_2\]' h1.limn && [ "$("$LIMN" eval halves.limn halves --in "$x" 2>&1)" = "$("$LIMN" eval h2.limn halves --in "$x" 2>&1)" ]
then echo "ok json: sizes of which only the whole is seen"; else echo "not ok json: sizes of which only the whole is seen"; cat log h1.limn h2.limn; fi
# LONG=1: boxes of random programs too.
whole=$here/../../${BUILD:-build}/tests/whole_test
[ -z "${LONG:-}" ] || [ ! -x "$whole" ] || /usr/bin/python3 "$here/boxes.py" "$LIMN" "$whole" 1 300
