#!/bin/sh
# The GPU engine on an emulated GPU: a replacement of the driver (fake_cuda.c) runs kernels on the CPU. Training
# has the CPU's results, resumes with the same bytes, moves between CPU and GPU, and reports errors. FULL=1: also tests that take seconds.
set -u
say='gpu '
. tests/gpu/here.sh
cp tests/gpu/*.limn "$dir"
awk 'BEGIN { print "at,u,v"; for (i = 0; i < 200; i++) print "r" i % 37 "," i % 7 "," i % 5 }' >"$dir/rows.csv"
awk 'BEGIN { for (k = 0; k < 64; k++) printf "a%d,", k; print "kind"; for (i = 0; i < 313; i++) { for (k = 0; k < 64; k++) printf "%d,", (i * k + i) % 11; print "k" i % 5 } }' >"$dir/large.csv"
cd "$dir" || exit 1
export LIMN_CC='' # the CPU's numbers by prebuilt loops: what is compiled for it has tests of its own

train() { "$LIMN" train small.limn --plain "$@" >"$said" 2>&1; }
# near A B [FAR]: all losses of two runs agree to four digits, or so
near() {
  paste -d, "$1/metrics.csv" "$2/metrics.csv" | awk -F, -v far="${3:-1e-4}" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fit" || $i == "near") c[++n] = i; next }
    { a = $c[1]; b = $c[2]; d = a - b; if (d < 0) d = -d; if (!(d <= far * a + 1e-9)) bad = 1; rows++ }
    END { exit bad || n != 2 || rows < 3 }'
}
same() { cmp -s "$1/model.safetensors" "$2/model.safetensors"; }

train --out cpu && train --device cuda --out gpu && near cpu gpu && ok "training gives the CPU's numbers" || not_ok "training gives the CPU's numbers"
train --device cuda --out again && same gpu again && ok "the same seed gives the same bytes" || not_ok "the same seed gives the same bytes"
train --device cuda --pause 5 --out paused && train --device cuda --resume paused && same gpu paused && ok "it goes on with the same bytes" || not_ok "it goes on with the same bytes"
train --pause 5 --out begun && train --device cuda --resume begun && near cpu begun && ok "a run of the CPU goes on on the GPU" || not_ok "a run of the CPU goes on on the GPU"
train --device cuda --pause 5 --out left && train --resume left && near cpu left && ok "a run of the GPU goes on on the CPU" || not_ok "a run of the GPU goes on on the CPU"
(FAKE_CUDA=backwards train --device cuda --out backwards) && same gpu backwards && ok "lanes in any order" || not_ok "lanes in any order"
for what in many turns held; do
  for on in cpu cuda; do "$LIMN" train $what.limn --plain --device $on --out $what.$on >"$said" 2>&1; done
  near $what.cpu $what.cuda && ok "small steps: $what" || not_ok "small steps: $what"
done
# a warp beside the others, lanes that go on with their own cells, a batch that is not full, more than one launch
for what in iris nash; do
  small() { "$LIMN" train "$here/bench/$what.limn" --plain --steps 70 --out "$@" >"$said" 2>&1; }
  small $what.cpu --device cpu && small $what.on --device cuda && (FAKE_CUDA=backwards small $what.back --device cuda) && same $what.on $what.back &&
    { [ $what = nash ] || near $what.cpu $what.on; } && ok "small steps: $what, lanes in any order" || not_ok "small steps: $what, lanes in any order"
  (FAKE_CUDA=backwards small $what.half --device cuda --pause 33) && "$LIMN" train "$here/bench/$what.limn" --plain --resume $what.half >"$said" 2>&1 && same $what.on $what.half && ok "… and stopped on the way" || not_ok "… and stopped on the way"
done
"$LIMN" train many.limn --plain --device cuda --pause 12345 --out many.on >"$said" 2>&1 && "$LIMN" train many.limn --plain --device cuda --resume many.on >"$said" 2>&1 && same many.cuda many.on && ok "small steps go on with the same bytes" || not_ok "small steps go on with the same bytes"
"$LIMN" train rows.limn --plain --out rows.cpu >"$said" 2>&1 && "$LIMN" train rows.limn --plain --device cuda --out rows.gpu >"$said" 2>&1 && near rows.cpu rows.gpu && ok "what is added up in slices" || not_ok "what is added up in slices"
for what in large episodes again; do
  for on in cpu cuda; do "$LIMN" train $what.limn --plain --device $on --out $what.$on >"$said" 2>&1; done
  near $what.cpu $what.cuda && ok "kernels of their own: $what" || not_ok "kernels of their own: $what"
done
for on in cpu cuda; do "$LIMN" train products.limn --plain --device $on --out wide.$on >"$said" 2>&1; done
near wide.cpu wide.cuda && ok "products by a library, a short batch among them" || not_ok "products by a library, a short batch among them"
FAKE_CUDA=products "$LIMN" train products.limn --plain --device cuda --out wide.own >"$said" 2>&1 && near wide.cpu wide.own && ! same wide.cuda wide.own && ok "products that the library does not take" || not_ok "products that the library does not take"
FAKE_CUDA=memory=3900000 LIMN_SEARCH=0 "$LIMN" train products.limn --plain --device cuda --out wide.room >"$said" 2>&1 && near wide.cpu wide.room && same wide.room wide.own && ok "products that have no room for what the library puts down" || not_ok "products that have no room for what the library puts down"
# the fastest way of the library: looked for once, kept, and taken again
product() { env "$1" LIMN_CACHE="$2" "$LIMN" train products.limn --plain --device cuda --out "$3" >"$said" 2>&1; }
mkdir -m 700 ways
product FAKE_CUDA=searches "$dir/ways" ways.1 && searches=$(grep -c 'a search' "$said") && [ "$searches" -gt 0 ] && near wide.cpu ways.1 && ok "ways are searched for" || not_ok "ways are searched for"
product FAKE_CUDA=searches "$dir/ways" ways.2 && ! grep -q 'a search' "$said" && same ways.1 ways.2 && ok "… once" || not_ok "… once"
product LIMN_SEARCH=0 "$dir/ways" ways.3 && near wide.cpu ways.3 && ! same ways.1 ways.3 && ok "… not if nobody wants it" || not_ok "… not if nobody wants it"
product FAKE_CUDA=searches "$dir/rows.csv/there" ways.4 && ! grep -q 'a search' "$said" && same ways.3 ways.4 && ok "… nor if it cannot be kept" || not_ok "… nor if it cannot be kept"
product FAKE_CUDA=changed "$dir/ways" ways.5 && same ways.3 ways.5 && ok "a way that is refused later" || not_ok "a way that is refused later"
for file in ways/*.code; do [ "$(wc -c <"$file")" -gt 200 ] || printf x | dd of="$file" bs=1 seek=9 conv=notrunc 2>"$said"; done
product FAKE_CUDA=searches "$dir/ways" ways.6 && [ "$(grep -c 'a search' "$said")" -eq "$searches" ] && near wide.cpu ways.6 && ok "ways that are damaged" || not_ok "ways that are damaged"
product FAKE_CUDA=searches "$dir/ways" ways.7 && ! grep -q 'a search' "$said" && same ways.6 ways.7 && ok "… are replaced" || not_ok "… are replaced"
for on in cpu cuda; do LIMN_STRIPES=0 "$LIMN" train products.limn --plain --device $on --precision bf16 --out narrow.$on >"$said" 2>&1; done
near narrow.cpu narrow.cuda 3e-3 && ! near wide.cuda narrow.cuda 1e-6 && ok "factors in bfloat16" || not_ok "factors in bfloat16"
for way in tf32 bf16; do "$LIMN" train products.limn --plain --device cuda --precision $way --out stripes.$way >"$said" 2>&1; done
near wide.cpu stripes.tf32 1e-2 && ! near wide.cpu stripes.tf32 1e-6 && near narrow.cpu stripes.bf16 3e-3 && ! same narrow.cuda stripes.bf16 && ok "small products by stripes" || not_ok "small products by stripes"
LIMN_STRIPES=0 FAKE_CUDA=products "$LIMN" train products.limn --plain --device cuda --precision bf16 --out narrow.own >"$said" 2>&1 && near narrow.cpu narrow.own 3e-3 && ! same narrow.cuda narrow.own && ok "… multiplied by our own" || not_ok "… multiplied by our own"
if [ -n "${FULL:-}" ]; then # seconds each
  for on in cpu cuda; do "$LIMN" train huge.limn --plain --quiet --device $on --out huge.$on >"$said" 2>&1; done
  near huge.cpu huge.cuda && ok "slices of a very long sum" || not_ok "slices of a very long sum"
fi
FAKE_CUDA=askew "$LIMN" train products.limn --plain --device cuda --out askew >"$said" 2>&1 && same wide.cuda askew && LIMN_CHAIN=1 "$LIMN" train products.limn --plain --device cuda --out chain >"$said" 2>&1 && same wide.cuda chain && ok "kernels in any order that they may run in" || not_ok "kernels in any order that they may run in"
for on in cpu cuda; do "$LIMN" train pictures.limn --plain --device $on --precision bf16 --out pictures.$on >"$said" 2>&1; done
"$LIMN" train pictures.limn --plan --device cuda --precision bf16 >"$said" 2>&1
near pictures.cpu pictures.cuda 3e-3 && grep -q '\] bf16 in [.0-9]* = ' "$said" && ok "convolutions in bfloat16" || not_ok "convolutions in bfloat16"
# sums whose terms are kept, and a product that reads a picture in its border; kernels in another order
if [ -n "${FULL:-}" ]; then # seconds each
  kept() { LIMN_STRIPES=0 FAKE_CUDA=askew "$LIMN" train kept.limn --precision bf16 "$@" >"$said" 2>&1; }
  for on in cpu cuda; do kept --plain --device $on --out terms.$on; done
  kept --plan --device cuda
  near terms.cpu terms.cuda 1e-2 && grep -q '\[32\] = [^=]*32\] bf16 [^ ]* 8 8 32\] bf16$' "$said" && grep -q 'product [^ ]* 8 8 32\] bf16 in ' "$said" && ! grep -q '8 8 32\] = vb[^%]*%[^ ]* 8 8 32\]$' "$said" && ok "what is kept for the way back" || not_ok "what is kept for the way back"
fi
for on in cpu cuda; do "$LIMN" train mean.limn --plain --device $on --out mean.$on >"$said" 2>&1; done
"$LIMN" train mean.limn --plan >"$said" 2>&1
near mean.cpu mean.cuda && ! grep -q scatter "$said" && ok "the gradient of a mean through a convolution" || not_ok "the gradient of a mean through a convolution"
awk 'BEGIN { for (i = 0; i < 900; i++) printf "%s", substr("abcdefghijklmnop", (i * 7 + int(i / 5)) % 16 + 1, 1); print "" }' >book.txt
for on in cpu cuda; do "$LIMN" train onto.limn --plain --device $on --out onto.$on >"$said" 2>&1; done
"$LIMN" train onto.limn --plan --device cuda >"$said" 2>&1
near onto.cpu onto.cuda && grep -q '+= scatter' "$said" && FAKE_CUDA=askew "$LIMN" train onto.limn --plain --device cuda --out onto.askew >"$said" 2>&1 && same onto.cuda onto.askew && ok "a scatter onto a product" || not_ok "a scatter onto a product"
# rows by their labels: many of one label, or of one bucket, or any; lanes of one warp, of two, of eight
LC_ALL=C awk 'function letter(k, file) { printf "%c%c", 196 + int(k / 64), 128 + k % 64 >file }
  BEGIN {
    for (i = 0; i < 16000; i++) {
      some = (i * 7919 + int(i * i / 7)) % 10
      letter(i < 300 ? i : int(i / 3000) == 1 || some < 3 ? 5 : some < 6 ? 7 + 128 * (i % 3) : i * 31 % 300, "labels.txt")
    }
    for (i = 0; i < 16000; i++) letter(i < 128 ? i : i % 1238 % 2 ? 127 : i % 1238 / 2 * 37 % 127, "order.txt")
  }'
labels() { out=$1; shift; "$LIMN" train labels.$m.limn --plain --out "labels.$m.$out" "$@" >"$said" 2>&1; }
labels_same() {
  labels cpu --device cpu "$@"
  (LIMN_DUMP=labels.text labels gpu --device cuda "$@"); (FAKE_CUDA=backwards labels back --device cuda "$@"); (FAKE_CUDA=askew labels askew --device cuda "$@")
  same labels.$m.cpu labels.$m.gpu && same labels.$m.gpu labels.$m.back && same labels.$m.gpu labels.$m.askew && grep -q "^// $lanes lanes, [0-9]*[1-9][0-9]* bytes" labels.text && grep -q 'place\[to++\]' labels.text
}
for m in 20 50 200; do
  case $m in 20) lanes=32 way=bf16 ;; 50) lanes=64 way=32 ;; *) lanes=256 way=64 ;; esac
  sed "s/m = 50/m = $m/" labels.limn >labels.$m.limn
  labels_same --precision $way && ok "rows by labels, $lanes lanes, $way" || not_ok "rows by labels, $lanes lanes, $way"
done
# … of each label not more than are added up at once: in the CPU's order, to the last bit. Every other row is 0, and has another label.
m=order lanes=64
sed 's/words = 300/words = 128/; s/labels.txt/order.txt/; s/= mod(words.*/= 0 * words * m/; s/= mod(2.*/= sqrt(2*t + 3*m + 1) when mod(t, 2) < 1 else 0/' labels.limn >labels.order.limn
labels_same --batch 1 --steps 1 && ok "… in order" || not_ok "… in order"
# an optimiser in parts, each where its gradient is there, and none in front of the look at the losses: the last step is not finite
for way in 32 tf32 bf16; do
  parts() { "$LIMN" train parts.limn --plain --device cuda --precision $way --out "parts.$@" >"$said" 2>&1; }
  parts whole; (LIMN_LAUNCHES=1 FAKE_CUDA=askew,late parts small); (LIMN_LAUNCHES=1 LIMN_CHAIN=1 parts chain); parts four --steps 4
  LIMN_LAUNCHES=1 "$LIMN" train parts.limn --plan --device cuda --precision $way >"$said" 2>&1
  same parts.whole parts.small && same parts.small parts.chain && same parts.small parts.four && [ "$(grep -c ' in \.[0-9]* = weights' "$said")" -ge 4 ] &&
    ok "an optimiser in parts, $way" || not_ok "an optimiser in parts, $way"
done
# … and none before all others have read the weights; nothing is copied for that
"$LIMN" train lead.limn --plain --out lead.cpu >"$said" 2>&1
for way in 32 tf32; do
  lead() { LIMN_LAUNCHES=1 "$LIMN" train lead.limn --plain --device cuda --precision $way --out "lead.$1" >"$said" 2>&1; }
  (LIMN_CHAIN=1 lead chain); (FAKE_CUDA=askew lead askew)
  LIMN_LAUNCHES=1 "$LIMN" train lead.limn --plan --device cuda --precision $way >"$said" 2>&1
  same lead.chain lead.askew && near lead.cpu lead.askew $([ $way = 32 ] && echo 1e-4 || echo 0.1) && grep -q ' in \.[0-9]* = weights' "$said" && ! grep -q ': copy' "$said" && ok "a player moves when others have read it, $way" || not_ok "a player moves when others have read it, $way"
done
# what the next step takes is brought ahead, where its slot is filled while this one runs
ahead() { LIMN_LAUNCHES=1 "$LIMN" train ahead.limn --plain --device cuda --out "ahead.$1" >"$said" 2>&1; }
ahead once; (FAKE_CUDA=late ahead late)
same ahead.once ahead.late && ok "a slot brought ahead" || not_ok "a slot brought ahead"
if [ -n "${FULL:-}" ]; then # seconds each
  for on in cpu cuda; do LIMN_DUMP=norms.$on.text "$LIMN" train norms.limn --plain --device $on --out norms.$on >"$said" 2>&1; done
  near norms.cpu norms.cuda && grep -q 'Bits32 kept' norms.cuda.text && grep -q 'BEGIN(Wires[0-9]*, 4,' norms.cuda.text && ok "rows in registers" || not_ok "rows in registers"
  for on in cpu cuda; do LIMN_DUMP=long.$on.text "$LIMN" train long.limn --plain --device $on --out long.$on >"$said" 2>&1; done
  near long.cpu long.cuda && grep -q 'limn_top(v' long.cuda.text && ok "a wide softmax in one walk" || not_ok "a wide softmax in one walk"
  awk 'BEGIN { print "u,v,word"; for (i = 0; i < 4201; i++) print i % 7 "," i % 5 ",w" i }' >classes.csv
  "$LIMN" train classes.limn --plain --out classes.cpu >"$said" 2>&1
  LIMN_LAUNCHES=1 LIMN_DUMP=classes.text "$LIMN" train classes.limn --plain --device cuda --out classes.cuda >"$said" 2>&1
  "$LIMN" train classes.limn --plan --device cuda >"$said" 2>&1
  near classes.cpu classes.cuda && grep -q ' m\.[0-9]*\[n\] tile = ' "$said" && grep -q '^KERNEL(limn_k.*, 512, 2)' classes.text && ok "its gradient where its sum is" || not_ok "its gradient where its sum is"
fi
for on in cpu cuda; do "$LIMN" train heads.limn --plain --device $on --precision bf16 --out heads.$on >"$said" 2>&1; done
paste -d, heads.cpu/metrics.csv heads.cuda/metrics.csv | awk -F, 'NR > 1 { for (i = 4; i <= 5; i++) { d = $i - $(i + 5); if (!(d * d <= 1e-6 * $i * $i)) bad = 1; rows++ } } END { exit bad || rows != 4 }' &&
  ok "a large and a small product of the same wire" || not_ok "a large and a small product of the same wire"
if [ -n "${FULL:-}" ]; then # seconds each
  for on in cpu cuda; do "$LIMN" train narrow.limn --plain --device $on --precision bf16 --out kept.$on >"$said" 2>&1; done
  "$LIMN" train narrow.limn --plan --device cuda --precision bf16 >"$said" 2>&1
  FAKE_CUDA=askew "$LIMN" train narrow.limn --plain --device cuda --precision bf16 --out kept.askew >"$said" 2>&1 && same kept.cuda kept.askew && ok "… in any order" || not_ok "… in any order"
  LIMN_STRIPES=0 "$LIMN" train narrow.limn --plan --device cuda --precision bf16 >"$said" 2>&1
  near kept.cpu kept.cuda 1e-2 && [ "$(grep -c '\[n 24 32\] bf16 = product' "$said")" -ge 9 ] && ok "results in bfloat16" || not_ok "results in bfloat16"
  FAKE_CUDA=products "$LIMN" train biased.limn --plain --device cuda --precision bf16 --out biased.own >"$said" 2>&1
  for on in cpu cuda; do FAKE_CUDA=searches "$LIMN" train biased.limn --plain --device $on --precision bf16 --out biased.$on >"$said" 2>&1; done
  near biased.cpu biased.cuda 1e-2 && near biased.cuda biased.own 1e-4 && grep -q 'a search, with a row' "$said" && ok "a product that adds a bias" || not_ok "a product that adds a bias"
fi
if [ -n "${FULL:-}" ]; then # seconds each
  for on in cpu cuda; do "$LIMN" train pairs.limn --plain --device $on --precision bf16 --out pairs.$on >"$said" 2>&1; done
  "$LIMN" train pairs.limn --plan --device cuda --precision bf16 >"$said" 2>&1
  near pairs.cpu pairs.cuda 3e-3 && [ "$(grep -c ': pairs over' "$said")" -eq 3 ] && ok "attention without scores in memory" || not_ok "attention without scores in memory"
  for on in cpu cuda; do "$LIMN" train pairs_odd.limn --plain --device $on --precision bf16 --out odd.$on >"$said" 2>&1; done
  "$LIMN" train pairs_odd.limn --plan --device cuda --precision bf16 >"$said" 2>&1
  near odd.cpu odd.cuda 3e-3 && [ "$(grep -c ': pairs over' "$said")" -eq 33 ] && ok "… in other words" || not_ok "… in other words"
fi
train --device cuda --precision 64 --out wide && ok "in doubles" || not_ok "in doubles"
for on in cpu cuda; do "$LIMN" predict small.limn f --from gpu --in x='[[5, 3, 1, 0], [6, 3, 5, 2]]' --device $on >$on.txt 2>"$said"; done
[ -s cpu.txt ] && awk '{ n = split($0, a, /[^-0-9.e]+/); for (i = 1; i <= n; i++) if (a[i] != "") printf "%.4f\n", a[i] }' cpu.txt >a && awk '{ n = split($0, a, /[^-0-9.e]+/); for (i = 1; i <= n; i++) if (a[i] != "") printf "%.4f\n", a[i] }' cuda.txt >b && cmp -s a b && ok "predict" || not_ok "predict"
# machines by ticks
follow() { "$LIMN" run ticks.limn --threads 1 "$@" >"$said" 2>&1; }
# close A B: the numbers of two runs agree, and there are some
close() {
  paste -d, "$1/Maps.csv" "$2/Maps.csv" | awk -F, 'NR > 1 { for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (!(d * d < 1e-12)) bad = 1 } rows++ } END { exit bad || rows < 40 }'
}
follow --out ticks.cpu && follow --device cuda --out ticks.cuda && close ticks.cpu ticks.cuda && ok "machines by ticks" || not_ok "machines by ticks"
grep -qxF 'machines with rates run on the CPU: Slow' "$said" && ok "what flows stays" || not_ok "what flows stays"
follow --device cuda --out ticks.again && cmp -s ticks.cuda/Maps.csv ticks.again/Maps.csv && ok "the same seed gives the same ticks" || not_ok "the same seed gives the same ticks"
follow --from ticks.cpu --set end=2 --device cuda --out ticks.on && follow --from ticks.cpu --set end=2 --out ticks.more && close ticks.on ticks.more && ok "ticks of the CPU go on on the GPU" || not_ok "ticks of the CPU go on on the GPU"
"$LIMN" devices >"$said" 2>&1 && grep -q '^cuda:0 .*emulated GPU' "$said" && ok "devices" || not_ok "devices"

# says NAME STATUS WORDS COMMAND…
says() {
  name=$1 status=$2 words=$3
  shift 3
  "$@" >"$said" 2>&1
  if [ $? -eq "$status" ] && grep -qF -- "$words" "$said"; then ok "$name"; else not_ok "$name"; fi
}

says "a step that is not finite" 1 "goal fit is not finite in step" "$LIMN" train bad.limn --plain --device cuda --out bad
"$LIMN" train bad.limn --plain --device cpu --every 1 --out bad.cpu >"$said" 2>&1
"$LIMN" train bad.limn --plain --device cuda --every 1 --out bad.cuda >"$said" 2>&1
same bad.cpu bad.cuda && same bad bad.cuda && ok "… changes nothing" || not_ok "… changes nothing"
sed 's/gd(/adam(/' bad.limn >bad_adam.limn
"$LIMN" train bad_adam.limn --plain --device cuda --out bad.adam >"$said" 2>&1
[ "$(tail -c 8 bad.adam/state.safetensors | od -An -tf8 | tr -d ' ')" = 3 ] && ok "… not even Adam's counter, which is made beside the loss" || not_ok "… not even Adam's counter, which is made beside the loss"
# … nor what a norm keeps, on a GPU or a CPU
norm() { "$LIMN" train bad_norm.limn --plain --device "$on" --out "norm.$@" >"$said" 2>&1; }
for on in cpu cuda; do
  norm $on.two --steps 2; norm $on.all
  grep -qF 'goal down is not finite in step 3' "$said" && same norm.$on.two norm.$on.all && ok "… nor what a norm keeps, $on" || not_ok "… nor what a norm keeps, $on"
done
(LIMN_LAUNCHES=1 FAKE_CUDA=askew norm launches.all); (LIMN_LAUNCHES=1 norm launches.two --steps 2)
same norm.launches.two norm.launches.all && ok "… nor what a norm keeps, kernel by kernel" || not_ok "… nor what a norm keeps, kernel by kernel"
says "no driver" 3 "there is no NVIDIA driver (libcuda.so.1) in $dir, which LIMN_CUDA names" env LIMN_CUDA="$dir" "$LIMN" train small.limn --device cuda
mkdir torn && echo nothing >torn/libcuda.so.1
says "a driver that is none" 3 "torn/libcuda.so.1, which LIMN_CUDA names, cannot be loaded: " env LIMN_CUDA="$dir/torn" "$LIMN" train small.limn --device cuda
says "no driver for machines" 3 "there is no NVIDIA driver" env LIMN_CUDA="$dir" "$LIMN" run ticks.limn --device cuda
mkdir -p far near && cp small.limn far && echo 'use "../far/small.limn"' >near/uses.limn
"$LIMN" train near/uses.limn --read far --device cuda --steps 1 --out in_sandbox >"$said" 2>&1
if grep -qF 'no sandbox could be had' "$said"; then skip "no sandbox here"; elif grep -qF 'in a sandbox there is no GPU; with --no-sandbox' "$said"; then ok "no GPU in a sandbox"; else not_ok "no GPU in a sandbox"; fi
says "a sandbox and a GPU at once" 2 "in a sandbox there is no GPU: without --sandbox, or with --device cpu" "$LIMN" train small.limn --sandbox --device cuda
mkdir half && cp "$LIMN_CUDA/libcuda.so.1" half
says "no compiler" 3 "there is no CUDA compiler library (libnvrtc.so.13) in $dir/half, which LIMN_CUDA names" env LIMN_CUDA="$dir/half" "$LIMN" train small.limn --device cuda
says "no GPU" 3 "no GPU can be used: the GPU's driver says \`no CUDA-capable device is detected\` (100)" env FAKE_CUDA=none "$LIMN" train small.limn --device cuda
says "a GPU that does not start" 3 "GPU 0 cannot be opened: the GPU's driver says \`out of memory\` (2)" env FAKE_CUDA=full "$LIMN" train small.limn --device cuda
FAKE_CUDA=full "$LIMN" devices 2>&1 | grep -q '^no GPU *GPU 0 cannot be opened' && ok "… is said to be none" || not_ok "… is said to be none"
says "an old driver" 3 "the NVIDIA driver is for CUDA 11.4: 12.0 or later is needed" env FAKE_CUDA=old "$LIMN" train small.limn --device cuda
says "another number" 3 "there is no GPU 3: this machine has 1, counted from 0" "$LIMN" train small.limn --device cuda:3
says "another name" 2 "a device is auto, cpu, cuda, or cuda:0, cuda:1, … for one of several GPUs, not tpu" "$LIMN" train small.limn --device tpu
says "a cache that cannot be used" 0 "/proc/nope cannot be the cache" env LIMN_CACHE=/proc/nope "$LIMN" train small.limn --plain --device cuda --out no_cache
says "too little memory" 3 "out of memory on emulated GPU 0: a step needs 0.0" env FAKE_CUDA=memory=9000 "$LIMN" train small.limn --device cuda --out m
says "a kernel that does not compile" 3 "the CUDA compiler refuses a kernel: limn.cu(7): error: expected a \`;\`" env FAKE_CUDA=compiler LIMN_CACHE="$dir/other" "$LIMN" train small.limn --device cuda --out c
says "a lost device" 3 "the GPU's driver says \`unspecified launch failure\` (719)" env FAKE_CUDA=lost=40 "$LIMN" train small.limn --device cuda --every 1 --out lost
train --resume lost && near cpu lost && ok "what a lost device left goes on on the CPU" || not_ok "what a lost device left goes on on the CPU"
train --device cpu --resume lost && near cpu lost && ok "and stays whole" || not_ok "and stays whole"

# a GPU that others use, and what would fit
says "a GPU that others use" 3 "MB, and 0.001 of its 4294.967 are free" env FAKE_CUDA=others=4294966000 "$LIMN" train small.limn --device cuda --out shared
says "what fits" 3 "fits in its memory; or use --device cpu" env FAKE_CUDA=memory=110000 "$LIMN" train wide.limn --device cuda --batch 64 --out wide1
# a measure that has no room there: for fewer samples at once, then on the CPU, which reads the newest weights
room() { FAKE_CUDA=$1 "$LIMN" train room.limn --plain --device cuda --out "$2" >"$said" 2>&1; cut -d, -f1,4- "$2/metrics.csv" >"$2.numbers"; }
room memory=100000000 room.all; room memory=90000 room.fewer; ! grep -q warning "$said" && cmp -s room.all.numbers room.fewer.numbers && ok "a measure for fewer samples at once" || not_ok "a measure for fewer samples at once"
room memory=68000 room.cpu; grep -q 'cuda:0 has too little memory for this: the CPU computes it' "$said" && cmp -s room.all.numbers room.cpu.numbers && ok "a measure on the CPU" || not_ok "a measure on the CPU"
says "nothing fits" 3 "no smaller batch fits in its memory either; --device cpu may work" env FAKE_CUDA=memory=9000 "$LIMN" train wide.limn --device cuda --batch 64 --out wide2

# --device auto, which is what nobody says
auto() { "$LIMN" train work.limn --plain --pause 1 "$@" >"$said" 2>&1; }
auto --out auto.1 && grep -q 'emulated GPU 0' "$said" && ok "auto: much work goes to the GPU" || not_ok "auto: much work goes to the GPU"
auto --device cpu --out auto.2 && ! grep -q emulated "$said" && ok "auto: unless the CPU is asked for" || not_ok "auto: unless the CPU is asked for"
train --device auto --out auto.3 && ! grep -q emulated "$said" && same cpu auto.3 && ok "auto: little work stays" || not_ok "auto: little work stays"
(FAKE_CUDA=none auto --device auto --out auto.4) && ! grep -q GPU "$said" && ok "auto: no GPU, no word" || not_ok "auto: no GPU, no word"
(FAKE_CUDA=memory=9000 auto --out auto.5) && grep -q 'the CPU computes: out of memory on emulated GPU 0' "$said" && ok "auto: what has no room stays" || not_ok "auto: what has no room stays"
auto --resume auto.1 && grep -q 'emulated GPU 0' "$said" && ok "auto: what began on the GPU goes on there" || not_ok "auto: what began on the GPU goes on there"
auto --resume auto.2 && ! grep -q emulated "$said" && ok "auto: what began on the CPU goes on there" || not_ok "auto: what began on the CPU goes on there"
(FAKE_CUDA=none auto --resume auto.1) && grep -q 'the run was on emulated GPU 0, and continues on the CPU, 32 bits, since no GPU can be used' "$said" && ok "auto: a GPU that is gone" || not_ok "auto: a GPU that is gone"
(FAKE_CUDA=full auto --out auto.6) && grep -q 'the CPU computes: GPU 0 cannot be opened' "$said" && ok "auto: a GPU that does not start" || not_ok "auto: a GPU that does not start"

# --precision auto: by what computes
precision() { sed -n 's/.*"precision": "\([^"]*\)".*/\1/p' "$1/run.json"; }
"$LIMN" train products.limn --plain --device cuda --precision auto --out by.gpu >"$said" 2>&1 && grep -qF -- '--precision auto is bf16: emulated GPU 0 (code 9.0) has matrix units for bfloat16' "$said" && same stripes.bf16 by.gpu && [ "$(precision by.gpu)" = bf16 ] && ok "precision auto: bf16 on a GPU" || not_ok "precision auto: bf16 on a GPU"
FAKE_CUDA=code=75 "$LIMN" train small.limn --plain --device cuda --precision auto --out by.old >"$said" 2>&1 && grep -qF -- '--precision auto is 32: emulated GPU 0 (code 7.5) has no matrix units for bfloat16' "$said" && same gpu by.old && [ "$(precision by.old)" = 32 ] && ok "precision auto: 32 on an older one" || not_ok "precision auto: 32 on an older one"
train --precision auto --device cpu --out by.cpu && grep -qF -- '--precision auto is 32: the CPU computes' "$said" && same cpu by.cpu && ok "precision auto: 32 on the CPU" || not_ok "precision auto: 32 on the CPU"
train --precision auto --reference --steps 2 --out by.hand && grep -qF -- '--precision auto is 32: the CPU computes' "$said" && ok "precision auto: 32 by the interpreter" || not_ok "precision auto: 32 by the interpreter"
auto --precision auto --out by.work && grep -qF -- '--precision auto is bf16: emulated' "$said" && ok "precision auto: after the device" || not_ok "precision auto: after the device"
(FAKE_CUDA=memory=9000 auto --precision auto --out by.room) && grep -qF -- '--precision auto is 32: the CPU computes' "$said" && [ "$(grep -c 'precision auto' "$said")" -eq 1 ] && [ "$(precision by.room)" = 32 ] && same auto.5 by.room && ok "precision auto: 32 where the GPU has no room" || not_ok "precision auto: 32 where the GPU has no room"
train --precision bf16 --pause 5 --out by.begun && train --resume by.begun --precision auto && grep -qF -- '--precision auto is bf16: the run began so' "$said" && [ "$(precision by.begun)" = bf16 ] && ok "precision auto: a run keeps what it has" || not_ok "precision auto: a run keeps what it has"
train --precision auto --device cpu --pause 5 --out by.other && says "precision auto: it was chosen" 1 "its precision is 32, not bf16" "$LIMN" train small.limn --resume by.other --precision bf16
train --resume by.other --device cpu && same cpu by.other && ok "precision auto: it goes on without" || not_ok "precision auto: it goes on without"
"$LIMN" predict small.limn f --from by.begun --in x='[[5, 3, 1, 0]]' --device cuda --precision auto >by.txt 2>"$said" && grep -qF 'limn: --precision auto is bf16: emulated' "$said" && "$LIMN" predict small.limn f --from by.begun --in x='[[5, 3, 1, 0]]' --device cuda --precision bf16 >bf16.txt 2>"$said" && cmp -s by.txt bf16.txt && ok "precision auto: predict" || not_ok "precision auto: predict"
"$LIMN" devices >"$said" 2>&1 && grep -q '^cpu .*; --precision auto is 32$' "$said" && grep -q '^cuda:0 .*; --precision auto is bf16$' "$said" && grep -q '^auto .*at least 20 million multiplications and the run 100 thousand million' "$said" && ok "devices say what auto is" || not_ok "devices say what auto is"
FAKE_CUDA=code=75 "$LIMN" devices --json >"$said" 2>&1 && grep -q '"cuda:0".*"precision_auto": "32"' "$said" && ok "… of an older one" || not_ok "… of an older one"

# to the last bit, where nothing is rounded
(cd "$here" && tests/gpu/exact.sh 30 3) >"$said" 2>&1 && ok "numbers that are exact" || not_ok "numbers that are exact"
exit $failed
