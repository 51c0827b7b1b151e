#!/bin/sh
# Pictures of each construct: the words of its glyphs, the number of lines, stable names, the description.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cp "$here/constructs.limn" p.limn

# draw NAME [FILE [OPTIONS]]: x.svg
draw() {
  name=$1
  file=${2:-p.limn}
  [ $# -gt 2 ] && shift 2 || shift $#
  "$LIMN" draw "$file" "$name" -o x.svg "$@" >/dev/null 2>err || cat err
}
count() { grep -c "$1" x.svg; }
# has WHAT N PATTERN: the picture has N lines with it
has() { if [ "$(count "$3")" -eq "$2" ]; then ok "$name: $1"; else not_ok "$name: $1: $(count "$3"), not $2"; fi; }
glyph() { has "$1" "$2" "class=\"glyph\".*<title>$3</title>"; }
# lines that come in and go out
wires() { if [ "$(grep -c 'class="wire"' x.svg)" -eq "$1" ]; then ok "$name: $1 lines"; else not_ok "$name: $(grep -c 'class="wire"' x.svg) lines, not $1"; fi; }

# what a formula calls its wires, unless it is a sign that has them in order
says() { if [ "$(grep -c "aria-label=\"$2\"" x.svg)" -eq "$1" ]; then ok "$name: says $2"; else not_ok "$name: says $2 $(grep -c "aria-label=\"$2\"" x.svg) times, not $1"; fi; }
printf 'box f(p, q: R[t]) = q - p\nbox g(p, q: R[t]) = p - q\nbox h(p, q: R[t]) = relu(p) * tanh(q)\nbox k(p, q: R[t]) = q + p\n' >names.limn
# A part of a formula that an axis is not in is copied along it, and not multiplied.
printf 'box f(x: R[5 3], b: R[2 3]) -> R[5 3] {\n  y[i k] = x[i k] + (b[1 k] when (k < 2) else 0)\n  return y\n}\n' >copied.limn
draw f copied.limn; has 'no product' 0 '\*5'
draw f names.limn; says 1 ' − '; says 3 p; says 3 q
draw g names.limn; says 1 −; says 1 p; says 1 q
draw h names.limn; says 3 p; says 3 q
draw k names.limn; says 1 +; says 1 p; says 1 q
# an index that the result has twice
printf 'box unit(r: R[a]) -> R[a 3 3] { return Y[i j j] = r[i] }\nbox diag(V: R[x]) -> R[x x] { return W[x x] = V[x] }\n' >twice.limn
draw unit twice.limn; glyph "a cap" 1 unit; wires 4
draw diag twice.limn; has "a dot" 1 'class="dot"'; wires 4
# wires alone
draw outer; wires 4; has "no glyph" 0 'class="glyph"'
draw inner; wires 3; has "a cup" 1 'class="cup"'
draw trace; has "a cup" 1 'class="cup"'
draw turned; wires 4; has "no glyph" 0 'class="glyph"'
draw diagonal; has "both meet" 2 'class="dot"'
draw spread; has "no glyph" 0 'class="glyph"'; has "a dot" 1 'class="dot"'
draw unit; glyph "a unit" 1 'unit'
draw last_of; has "an end" 1 'class="dot"'
draw keep_dims; wires 5

# places, tables, joins
draw second; glyph "an index" 1 'n at 1'
draw row; glyph "a row at a label" 1 'a row at x'
draw rows; glyph "rows at labels" 1 'a row at x'
draw vocab; glyph "an embedding" 1 'embed: a label to 16'
draw both; glyph "a bar" 1 'concatenation'
draw classify "$root/examples/digits_conv.limn"; glyph "a bar" 1 'joining into 512'; glyph "options" 1 'layer (16): 28 by 28 by 1 to 12 by 12 by o'
draw noisy; glyph "noise" 1 'normal noise'
draw sorted; glyph "sorting" 1 'order'

# masks, scales, means
draw looks_back; glyph "a mask" 1 'mask: only places up to it'
grep -v id= x.svg >back
draw looks_ahead; glyph "a mask" 1 'mask: only places up to it'
if grep -v id= x.svg | cmp -s - back; then not_ok "a mask is turned round"; else ok "a mask is turned round"; fi
draw scaled; glyph "a scale" 1 '\*k^−1/2'
draw half; glyph "a scale" 1 '\*0.5'
draw softmax "$root/examples/attention.limn"
glyph "Max" 1 'largest over x'; glyph "a sum" 1 'sum over x'; has "no guard" 0 '1e[-+]300'; glyph "a stop" 1 'stop'
draw layer_norm "$root/examples/attention.limn"; glyph "means" 2 'mean over m'
draw lstm_cell "$root/examples/attention.limn"; has "no nameless function" 0 '<title>f</title>'

# convolutions, tandem axes
draw strided; glyph "one tensor" 1 'windows along h, stride 2, from −1'; has "tandem" 1 '<title>h of X and w of X</title>'
draw wide; glyph "dilation" 1 'windows along t, dilation 2, from −2'
draw net; glyph "a star" 1 'strided: convolution, window 3, stride 2'; wires 8; glyph "a norm" 1 'batch_norm over 8'; has "touched" 1 'class="touch"'
draw deep; glyph "one mean" 1 'mean over .*'
draw conv_up "$root/examples/attention.limn"; has "tandem" 1 '<title>h of X and w of X</title>'
draw attend "$root/examples/attention.limn"; has "no tandem" 0 '<title>[a-z]* of . and [a-z]* of .</title>'
draw max_pool "$root/examples/attention.limn"; glyph "a pool" 1 'windows along h, stride 2'; glyph "Max" 1 'largest over p'

# blocks: what they were called with, by whom
draw heads; glyph "options" 1 'self_attention (4, 16) over x by m'
draw heads p.limn --open self_attention; glyph "options" 1 'multihead (4, 16.*'; has "a frame" 1 'class="frame".*<title>self_attention (4, 16)</title>'
draw named; glyph "a learner by its name" 1 'mix: n to 4'; glyph "its norm" 1 'tidy over 4'
draw multihead "$root/examples/attention.limn"
for q in Q K V; do glyph "linear $q" 1 "linear $q: m to h by k"; done
draw multihead "$root/examples/attention.limn" --open attend; glyph "softmax and its axis" 1 'softmax over x'
has "a block" 1 'data-id="multihead/attend" class="block"'
has "names by path" 1 'data-id="multihead/attend/softmax"'
has "lines of one wire" 3 'data-id="multihead/Q"'
if grep -o ' id="[^"]*"' x.svg | sort | uniq -d | grep -q .; then not_ok "ids are used once"; else ok "ids are used once"; fi
if grep -q '<desc>multihead (h, k) takes Y (y by m) and X (x by m) and gives y by m: Y goes through linear Q: m to h by k, which gives Q; .*; inside attend, .*softmax over x, which gives W; .*</desc>' x.svg; then ok "a sentence"; else not_ok "a sentence"; grep '<desc' x.svg; fi

# a box that needs a use
"$LIMN" draw "$root/examples/resnet.limn" unit -o unit.svg >out 2>&1
if [ $? -eq 0 ] && grep -q 'resnet.limn:15:46: warning: .unit. needs a use to be drawn' out && grep -q '<title>unit (16' unit.svg; then ok "the first use"; else not_ok "the first use"; cat out; fi
if "$LIMN" draw p.limn add -o add.svg >out 2>&1; then ok "a box without types"; else not_ok "a box without types"; cat out; fi
if "$LIMN" draw p.limn any_bits -o any.svg >out 2>&1; then not_ok "no use at all"; elif grep -q "only a use gives" out; then ok "no use at all"; else not_ok "no use at all"; cat out; fi

# the order of declarations says nothing
awk '/^(box|axis)/ { n++ } { d[n] = d[n] $0 "\n" } END { for (i = n; i > 0; i--) printf "%s", d[i] }' p.limn >q.limn
for name in deep heads looks_back; do
  "$LIMN" draw p.limn $name -o one.svg >/dev/null && "$LIMN" draw q.limn $name -o two.svg >/dev/null
  if cmp -s one.svg two.svg; then ok "$name: in any order"; else not_ok "$name: in any order"; fi
done

# nothing is wrong with any of these pictures
faults=""
for name in $(sed -n 's/^box \([a-z_0-9]*\).*/\1/p' p.limn); do
  "$LIMN" draw p.limn "$name" --check >out 2>&1 || faults="$faults $name: $(head -1 out);"
done
if [ -z "$faults" ]; then ok "no faults"; else not_ok "faults:$faults"; fi
