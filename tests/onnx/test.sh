#!/bin/sh
# Import of ONNX models: small generated files (make.py), valid ones with their values, invalid ones with their messages; every
# file truncated at every length and with every byte changed; and Debian's node tests if installed (nodes.py has all).
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }
cd "$dir" || exit 1
if ! /usr/bin/python3 "$here/make.py" . 2>log; then echo "skipped: no python3"; exit 0; fi

# gives FILE WANTED INPUT…: imported, checked and evaluated
gives() {
  file=$1 want=$2
  shift 2
  if "$LIMN" import "$file.onnx" -o "$file.limn" >out 2>&1 && "$LIMN" check "$file.limn" >out 2>&1 && "$LIMN" eval "$file.limn" model "$@" >out 2>&1 &&
    [ "$(tr '\n' ' ' <out)" = "$want " ]; then ok "$file"; else not_ok "$file: wanted $want"; cat out "$file.limn"; fi
}
# text FILE WANTED: the program has this line
text() { if grep -qxF -- "$2" "$1.limn"; then ok "$1: $2"; else not_ok "$1: $2"; cat "$1.limn"; fi; }
# refuses FILE TEXT [ARGUMENT…]
refuses() {
  file=$1 words=$2
  shift 2
  "$LIMN" import "$file.onnx" -o refused.limn "$@" >out 2>&1
  status=$?
  if [ $status -eq 1 ] && grep -qF -- "$words" out && [ ! -e refused.limn ]; then ok "$words"; else not_ok "$words: status $status"; cat out; fi
}

gives relu '[[0, 0, 1],  [2, 0, 3]]' --in '[[-1, 0, 1], [2, -3, 3]]'
if /usr/bin/python3 -c "import numpy" 2>/dev/null; then /usr/bin/python3 "$here/attention.py" "$LIMN" . ${FULL:+100}; else echo "skipped: no numpy"; fi
gives gemm '[[11, 22]]' --in '[[1, 0, 0]]'
text gemm 'learn model(x: R[3]) -> R[2] {'
text gemm '  y = dense[2](x)'
# Two weights that start alike are written once, and are two.
gives alike '[[1, 1]]' --in '[[0, 0]]'
text alike '  learn a_weight : R[2] = 0'
text alike '  learn b_weight : R[2] = 0'
# What goes along values step by step is a scan, of any length: weights around it are the same in each step.
gives stepped '[4.75, 6.5] [[105, 202],  [105.5, 205],  [104.75, 206.5]]' --in '[[1, 2], [3, 4], [2, 4]]'
text stepped '  last, y = scan[i, last_step](x_2, weight_2, start)'
gives stepped_open '[4.75, 6.5] [[105, 202],  [105.5, 205],  [104.75, 206.5]]' --in '[[1, 2], [3, 4], [2, 4]]'
gives stepped_back '[4.75, 4.5] [[104.75, 105.5, 106],  [204.5, 205, 204]]' --in '[[2, 2.5, 2], [2, 3, 4]]'
"$LIMN" import stepped_long.onnx -o stepped_long.limn >out 2>&1
if [ "$(wc -l <stepped_long.limn)" -le 16 ]; then ok "five thousand steps in 16 lines"; else not_ok "five thousand steps"; cat out stepped_long.limn; fi
# Which numbers of a file are learned: not what is only compared, never finite or a step of quantised numbers; of a file of ours, all.
learned() { # FILE LEARNED CONSTANT [ARGUMENT…]: and nothing else is learned
  file=$1 weights=$2 consts=$3
  shift 3
  "$LIMN" import "$file.onnx" -o "$file.limn" "$@" >out 2>&1
  [ "$(sed -n 's/^  learn \([a-z]*\).*/\1/p' "$file.limn" | sort | tr '\n' ' ')" = "$weights " ] && [ "$(sed -n 's/^const \([a-z]*\).*/\1/p' "$file.limn" | sort | tr '\n' ' ')" = "$consts " ]
  if [ $? -eq 0 ]; then ok "$file $*: $weights"; else not_ok "$file $*: wanted $weights, and $consts"; cat out "$file.limn"; fi
}
said() { if grep -qF -- "$1" out; then ok "$1"; else not_ok "$1"; cat out; fi; }
learned learned0 'half table' 'hide never q steps'
said 'warning: single numbers that may have been learned are constants: `off`, `scale`'
said 'warning: `twin` and `turned` hold the same numbers, and are two weights'
said '`limn import --learned NAME` says otherwise'
learned learned0 'half scale' 'hide never q steps table' --learned scale --fixed 'ta*'
learned learned2 'half table' 'hide never q steps'
if grep -q 'single numbers' out; then not_ok "others call single numbers as they like"; else ok "others call single numbers as they like"; fi
refuses learned0 'the model has no initializer that is called `tables`' --fixed half,tables
learned learned1 'half mask never off scale steps table' q
# A file of numbers is no program: one sentence, and what to do with it.
"$LIMN" check gemm.onnx >out 2>&1
if [ $? -eq 1 ] && [ "$(wc -l <out)" -eq 2 ] && grep -qF 'gemm.onnx is no text, which a program is' out && grep -qF '`limn import gemm.onnx` makes a program of an ONNX model' out; then ok "a model as a program"; else not_ok "a model as a program"; cat out; fi
"$LIMN" check gemm.safetensors >out 2>&1
if grep -qF 'weights go with a program: `limn … FILE.limn --from gemm.safetensors`' out; then ok "weights as a program"; else not_ok "weights as a program"; cat out; fi
# Its weights are those of the file beside it; the model is not written over.
if "$LIMN" diff gemm.limn gemm.onnx >out 2>&1 && ! grep -q 'has any' out; then ok "diff: weights that a program has from a file"; else not_ok "diff: weights that a program has from a file"; cat out; fi
cp gemm.onnx kept.onnx
"$LIMN" import kept.onnx -o ./kept.onnx >out 2>&1
if [ $? -eq 2 ] && grep -qF 'kept.onnx is what this is made from: the result wants a file of its own' out && cmp -s gemm.onnx kept.onnx; then ok "the model is not written over"; else not_ok "the model is not written over"; cat out; fi
"$LIMN" import gemm.onnx -o gemm_flat.limn --flat >out && cp gemm_flat.limn flat.limn
text flat 'learn model(x: R[batch_2 3]) -> R[batch_2 2] {'
text flat '  y[i j] = x[i k] weight[k j] + bias[j]'
gives repeat '[[24, -1],  [0, 0]]' --in '[[1, -1], [0, 0]]'
text repeat 'box layers(x: R[2]) -> R[2] {'
text repeat '  act = (dense[2] ; relu)(x)'
text repeat '  y = (layers ^ 3)(x)'
[ "$(wc -l <repeat.limn)" -eq 9 ] && ok "three layers, one box" || { not_ok "three layers, one box"; cat repeat.limn; }
gives grouped '[[[0.6666666666666667, 0.6666666666666667, 0.6666666666666667],   [1.6666666666666667, 1.6666666666666667, 1.6666666666666667]]]' --in '[[[1, 1, 1], [2, 2, 2]]]'
text grouped 'box model(x: R[2 3]) -> R[2 3] {'
gives mixed '[[2, 5],  [5, 8]]' --in '[[1, 2], [3, 4]]'
text mixed 'box model(x: R[N 2]) -> R[N 2] {'
gives turned '[[1, 3],  [2, 4]]' --in '[[1, 2], [3, 4]]'
# A part of what was turned, with a line for each node too.
gives turned_cut '[[5, 13],  [7, 15]]' --in '[[1, 2, 3, 4], [5, 6, 7, 8]]'
if "$LIMN" import turned_cut.onnx -o turned_cut_flat.limn --flat >out 2>&1 && [ "$("$LIMN" eval turned_cut_flat.limn model --in '[[1, 2, 3, 4], [5, 6, 7, 8]]' 2>&1 | tr '\n' ' ')" = '[[5, 13],  [7, 15]] ' ]
then ok "a part of what was turned, flat"; else not_ok "a part of what was turned, flat"; cat out turned_cut_flat.limn; fi
gives lonely 6 --in '[1, 2]'
text turned 'box model(x: R[N 2]) -> R[2 N] {'
# What the library has is said by its boxes.
for file in attends causal almost stages; do
  in='[[[1, 2, 0, 1], [0, 1, 3, 1], [2, 0, 0, 1]]]'
  if [ $file = stages ]; then in='[[1, 2], [-3, 4]]'; fi
  if "$LIMN" import $file.onnx -o $file.limn >out 2>&1 && "$LIMN" import $file.onnx -o "$file"_flat.limn --flat >out 2>&1 && "$LIMN" eval $file.limn model --in "$in" >short 2>&1 &&
    "$LIMN" eval "$file"_flat.limn model --in "$in" >long 2>&1 && cmp -s short long; then ok "$file is what it is when flat"; else not_ok "$file is what it is when flat"; cat out short long $file.limn; fi
done
text stages 'box block[o](x) {'
text stages '  y = (block[3] ; block[4])(x)'
text stages '  h = relu(s0_b + s0_r)'
text attends '  y = attend(x[i j], x[k j], x[k l])'
text causal '  y = causal(x[i j], x[k j], x[k l])'
if grep -q attend almost.limn; then not_ok "scores divided by something else are no attention"; cat almost.limn; else ok "scores divided by something else are no attention"; fi
gives clipped '[[-0.5, 0.5, 6]]' --in '[[-3, 0.5, 9]]'
text clipped '  y = (clamp[(-1), 6] ; leaky_relu[0.5])(x)'
# Sizes with a name stay variables, or are numbers.
gives open '[[[[3, 5],    [3, 5]]]]' --in '[[[[0, 1, 2, 3], [1, 1, 3, 3], [4, 5, 6, 7], [5, 5, 7, 7]]]]'
text open 'box model(x: R[1 H W]) -> R[1 H//2 W//2] {'
if "$LIMN" import open.onnx -o open.limn --set h=4 --set w=5 >out 2>&1; then text open 'box model(x: R[1 4 5]) -> R[1 2 2] {'; else not_ok "--set"; cat out; fi
refuses open 'no input of the model has a size that is called `k`' --set k=4
grep -qF -- 'there are `n`, `h`, `w`' out && ok "and which there are" || not_ok "and which there are"
refuses open '`--set h=none`: a size is a whole number from 1 to 9007199254740992' --set h=none
gives grown '[[[[2, 2, 4]]]]' --in '[[[[1, 2]]]]'
text grown 'learn model(x: R[1 H W]) -> R[1 2*H-1 2*W-1] {'
gives mirrored '[[2, 1, 2, 3, 2],  [5, 4, 5, 6, 5]]' --in '[[1, 2, 3], [4, 5, 6]]'
refuses skipped 'node `skip` (Concat): sizes H and 2*(H//2) do not fit together'
grep -qF -- '`--set NAME=NUMBER` gives sizes at import; the model has `n`, `h`' out && ok "and that sizes may be said" || not_ok "and that sizes may be said"
"$LIMN" import skipped.onnx -o skipped.limn --set h=4 >out 2>&1 && ok "which then fit" || { not_ok "which then fit"; cat out; }
gives steps '[0, 3, 8]' --in '[2, 3, 4]'
gives alone '[[6, 8]]'
text alone 'learn w_2 : R[1 2] = 0 from "alone.safetensors"'
if "$LIMN" import together.onnx -o together.limn --in 'to=[3]' >out 2>&1; then :; fi
refuses together '`to` is int64[1], but the model says int64[n]' --in 'to=[3]' --set n=2
gives misnamed '[4, 6]' --in '[[1, 2], [3, 4]]'
"$LIMN" import misnamed.onnx -o misnamed.limn >out 2>&1
if grep -qF -- 'warning: node `sum` (ReduceSum): `y` is float[2], but the model says float[n]' out; then ok "a size with the name of another"; else not_ok "a size with the name of another"; cat out; fi
gives two '[0.5, 0.5, 0.5] [1, 1, 1]' --in '[0, 0, 0]'
"$LIMN" eval two.limn model --in '[0, 1, 2]' --out y.npy && [ -s y.0.npy ] && [ -s y.1.npy ] && [ ! -e y.npy ] && ok "two results, two files" || not_ok "two results, two files"
gives function '[-1, 0, 2]' --in '[-1, 0, 1]'
gives plumbing '[[1, 2, 3, 4, 5, 6]]' --in '[[[1, 2, 3], [4, 5, 6]]]'
gives parted '[[1, 2, 3, 4, 5, 6]]' --in '[[[1, 2, 3], [4, 5, 6]]]'
text plumbing '  y[(j k)] = x[j k]'
gives table '[[5, 6],  [1, 2],  [1, 2],  [3, 4]]' --in '[2, 0, 0, 1]'
text table 'learn model(x: {3}[4]) -> R[4 2] {'
gives lstm '[[[[0.18169974219452625]]],  [[[0.2700837043101229]]]]' --in '[[[1]], [[1]]]'
gives long_lstm '[[[[0.18169974219452625]]],  [[[0.2700837043101229]]]]' --in '[[[1]], [[1]]]'
text lstm '  learn W : R[4 1 1] = 0'
"$LIMN" import long.onnx -o long.limn >out 2>&1 && "$LIMN" eval long.limn model --in 1 >out 2>&1
[ "$(cut -c 1-12 <out)" = '[1, 2, 3, 4,' ] && ok "a long constant" || { not_ok "a long constant"; cat out; }
text long 'const c : R[2000] from "long.safetensors"'
# … and compared, where there is no file beside the model; the weights of a model are in it.
if "$LIMN" diff long.onnx long.limn >out 2>&1 && grep -qx 'model: the same, 1 box' out; then ok "diff: a long constant"; else not_ok "diff: a long constant"; cat out; fi
if "$LIMN" diff gemm.onnx gemm_flat.limn >out 2>&1 && grep -qF 'model: gives the same on random inputs, to 0; 1 box, 2 boxes' out && grep -qF 'weights: 2 the same, 0 not' out; then ok "diff: a model and itself, flat"; else not_ok "diff: a model and itself, flat"; cat out; fi
sed 's/+ bias/- bias/' gemm_flat.limn >gemm_other.limn
"$LIMN" diff gemm.onnx gemm_other.limn >out 2>&1
if grep -qF '+ sub  R[batch_2 2], behind sum mul' out && grep -qF 'weights: 2 the same, 0 not' out && ! grep -qF 'learn model' out; then ok "diff: a model and another by their boxes"; else not_ok "diff: a model and another by their boxes"; cat out; fi
refuses sized 'node `flat` (Reshape): input 2 decides about sizes, and its numbers are not known before it runs'
grep -qF -- '`--in to=V` gives it at import' out && ok "and which input that is" || not_ok "and which input that is"
refuses cut_to 'node `part` (Slice): input 3 is the size T, and a number is wanted there'
grep -qF -- '`--set NAME=NUMBER` gives sizes at import; the model has `t`' out && ok "and how to say it" || not_ok "and how to say it"
if "$LIMN" import cut_to.onnx -o cut_to.limn --set t=2 >out && "$LIMN" eval cut_to.limn model --in '[[1, 2], [3, 4]]' >out && grep -qF '[4, 5.5]]' out
then ok "a size given at import"; else not_ok "a size given at import"; cat out; fi
mkdir -p own && cp lstm.onnx own/model.onnx && echo theirs >own/model.safetensors
"$LIMN" import own/model.onnx -o own/model.limn >out 2>&1
if [ $? -eq 1 ] && grep -q 'own/model.safetensors is there already, and no own/model.limn that it belongs to' out && [ "$(cat own/model.safetensors)" = theirs ] && rm own/model.safetensors &&
  "$LIMN" import own/model.onnx -o own/model.limn >out 2>&1 && "$LIMN" import own/model.onnx -o own/model.limn >out 2>&1
then ok "weights of others stay"; else not_ok "weights of others stay"; cat out; fi
refuses sized 'the model has no input `at`' --in 'at=[6]'
if "$LIMN" import sized.onnx -o sized.limn --in 'to=[6]' >out && "$LIMN" eval sized.limn model --in '[[1, 2, 3], [4, 5, 6]]' >out && grep -qx '\[1, 2, 3, 4, 5, 6\]' out
then ok "an input given at import"; else not_ok "an input given at import"; cat out; fi

refuses unknown 'node `odd` (Frobnicate): this operator is not known'
refuses loose 'node `bits` (Exp): input 1 is of type bool, which it does not take'
refuses fat 'what is computed before the program runs takes too much memory'
refuses wide 'node `y` (Sum): it has more than 4096 inputs or outputs'
refuses nowhere 'node `y` (Relu): nothing before it makes `q`'
refuses unmade 'nothing makes output `y`'
refuses silent 'the model has no outputs'
refuses old 'the model uses operator set 6, but 7 to 26 are known'
refuses sparse 'sparse initializers cannot be imported'
refuses sequence 'input `x` is a sequence, which a program has not'
refuses words 'input `x` has elements of type string'
refuses shapeless 'input `x` has no shape: how many axes it has must be known'
refuses empty 'axis 0 of output `y` has no places: an axis has at least one'
refuses misfit 'node `plus` (Add): sizes 3 and 4 do not fit together'
refuses far 'tensor `weight` is in `../secret`, which is not in the model'
refuses absent 'cannot read `w.bin`, where tensor `weight` is: '
refuses strings 'tensor `s` has elements of type string, which are no real numbers'
refuses short 'tensor `w` says that it has 5 numbers, but the file holds others'
refuses negative 'the sizes of tensor `w` are negative or too large'
refuses axes 'a tensor has more than 16 axes'
refuses large 'a whole number of a tensor is beyond 2^53, where not all have a place'
refuses deep 'graphs are nested more than 24 deep'
refuses deepest 'graphs are nested more than 24 deep'
refuses many 'the file has more than 200000 nodes, names and attributes'
refuses zero 'this is no ONNX file: a name has a 0 inside'
refuses graphless 'this is no ONNX file: it has no graph'
refuses cut 'this is no ONNX file: a field is longer than what is left of the file'
refuses noise 'this is no ONNX file: '
echo 12345678 >real.bin
ln -s real.bin w.bin
refuses absent 'cannot read `w.bin`, where tensor `weight` is: '
if /usr/bin/python3 "$here/refused.py" "$LIMN" . >out 2>&1; then ok "what operators refuse"; else not_ok "what operators refuse"; cat out; fi

/usr/bin/python3 "$here/operators.py"

# Small modules of PyTorch, with sizes that are 1 or equal, there and back.
if /usr/bin/python3 -c 'import torch' 2>log; then
  mkdir -p random
  if /usr/bin/python3 -W ignore "$here/random_models.py" random 3 8 11 18 27 43 56 111 286 306 >out 2>&1; then ok "random modules of PyTorch"; else not_ok "random modules of PyTorch"; cat out; fi
else
  echo "skipped: no PyTorch"
fi

# A model becomes a program or is refused, whatever is in it.
wrong=0
/usr/bin/python3 - <<'END'
for name in ("gemm", "function", "plumbing"):
    whole = open(name + ".onnx", "rb").read()
    step = 1 + len(whole) // 24
    for at in range(0, len(whole), step):
        open(f"broken.{name}.{at}.a.onnx", "wb").write(whole[:at])
        open(f"broken.{name}.{at}.b.onnx", "wb").write(whole[:at] + bytes([whole[at] ^ 0x91]) + whole[at + 1:])
END
for file in broken.*.onnx; do
  "$LIMN" import "$file" -o broken.limn >out 2>&1
  [ $? -le 1 ] || { wrong=1; echo "$file"; cat out; }
done
[ $wrong = 0 ] && ok "broken files" || not_ok "broken files"

# Tests that others wrote: a choice of ONNX's own, one or two of a family.
nodes=/usr/share/libonnx-testdata/data/node
choice='test_add_bcast test_attention test_averagepool_2d_same_lower test_batchnorm_example test_cast_FLOAT_to_FLOAT16 test_clip test_concat_3d_axis_1
  test_convtranspose_pads test_cumsum_2d_axis_1 test_depthtospace_example test_einsum_batch_matmul test_gather_elements_1 test_gemm_all_attributes
  test_gru_seq_length test_layer_normalization_4d_axis1 test_logsoftmax_axis_1 test_lstm_with_peepholes test_maxpool_2d_dilations test_mod_mixed_sign_int8
  test_pad test_qlinearconv test_quantizelinear_axis test_reduce_l2_keep_dims_random test_reshape_reordered_all_dims test_resize_upsample_sizes_cubic
  test_scatternd_add test_slice_neg_steps test_topk test_where_example'
if [ -d "$nodes" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  some=
  for name in $choice; do if [ -d "$nodes/$name" ]; then some="$some $name"; fi; done
  # shellcheck disable=SC2086
  /usr/bin/python3 "$here/nodes.py" "$nodes" $some >out 2>&1
  if tail -1 out | grep -q '(100.0 %)'; then ok "ONNX's own tests"; else not_ok "ONNX's own tests"; cat out; fi
  if /usr/bin/python3 "$here/damage.py" "$nodes" test_add_bcast test_concat_3d_axis_1 test_gemm_all_attributes test_lstm_with_peepholes test_maxpool_2d_dilations test_split_equal_parts_2d test_topk >out 2>&1
  then ok "damaged models: $(cat out)"; else not_ok "damaged models"; cat out; fi
else
  echo "skipped: libonnx-testdata or numpy is not there"
fi
