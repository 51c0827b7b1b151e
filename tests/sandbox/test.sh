#!/bin/sh
# Training in a sandbox: it works, with the compiler; files outside cannot be read; and it is on by default for code from other folders.
# (tests/sandbox_test.c tests what is refused.)
set -u
unset LIMN_DATA
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir -p own away home cache
chmod 700 cache
export LIMN_CACHE="$dir/cache" HOME="$dir/home"

case $BUILD in */san) export ASAN_OPTIONS=detect_leaks=0 ;; esac # they would be looked for by a trace, which a sandbox forbids

# status NAME WANTED COMMAND…
status() {
  name=$1 want=$2
  shift 2
  "$@" >out 2>err
  have=$?
  if [ $have -eq "$want" ]; then ok "$name"; else not_ok "$name: status $have, wanted $want"; cat out err; fi
}
says() { if grep -qF -- "$3" "$2"; then ok "$1"; else not_ok "$1: \"$3\" is not in $2"; cat "$2"; fi; }
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
hash() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1/run.json"; }

cat >own/net.limn <<'END'
given x, label from iris
learn net : R[4] -> R[3] = dense[3]
goal fit : net(x) ~ label by cross_entropy
train 3 steps, batch 16, adam(0.01)
END
{ echo 'use "../away/parts.limn"'; sed 's/= dense\[3\]/= inner/' own/net.limn; } >own/uses.limn
echo 'box inner : R[4] -> R[3] = dense[3]' >away/parts.limn
printf 'a,b\n1,2\n3,4\n' >away/secret.csv
cat >own/reads.limn <<'END'
given x : R[2] from "../away/secret.csv"
learn f : R[2] -> R[2] = dense[2]
goal g : f(x) ~ x by l2
train 2 steps, batch 2, adam(0.1)
END
cat >own/lag.limn <<'END'
machine Lag(u: R[]) -> (x: R[]) {
  state x = 1
  x' = u - x
}
run Lag(u: 0) to 1 every 0.25
END

# -- links at the places of data, which a folder from elsewhere may bring: nothing outside is read through them
mkdir -p kept/far kept/far/digits theirs/program theirs/shared
echo '1,2' >kept/far/k.csv
echo 'box leak(x: R[]) -> R[] = x' >kept/far/s.limn
printf '%s\n' u,v 1,2 3,4 5,6 7,8 >kept/far/t.csv
for i in $(seq 20); do printf '1,%.0s' $(seq 64); echo 1; done >kept/far/digits/digits.csv
"$LIMN" train own/net.limn --out kept/run --quiet --reference >out 2>err && mv kept/run/model.safetensors kept/far
cat >places.txt <<END
weights learn net : R[4] -> R[3] = dense[3] from "$dir/kept/far/model.safetensors"
uses use "$dir/kept/far/s.limn"
constant const K : R[2] from "$dir/kept/far/k.csv"
given given u, v : R[] from "$dir/kept/far/t.csv"
found given u, v : R[] from "far/t.csv"
named given image, label from digits
table machine M(u, v: R[]) -> (s: R[]) { state s = 0; next s = s + u + v }; run M for 3 ticks on "$dir/kept/far/t.csv"
END
forms="weights uses constant given table"
while read -r name text; do echo "$text" | sed 's/; /\n  /g; s/{ /{\n  /; s/ }/\n}/; s/  run/run/' >"theirs/program/$name.limn"; done <places.txt
echo 'measure m : mean[batch](u + v)' | tee -a theirs/program/given.limn >>theirs/program/found.limn
echo 'measure m : mean[batch](number(label))' >>theirs/program/named.limn
echo 'box f(x: R[2]) -> R[2] { return y[i] = x[i] + K[i] }' >>theirs/program/constant.limn

# reads NAME WANTED [OPTIONS]: each program, where it reads
reads() {
  for p in $forms; do
    case $p in
    weights) what="eval weights.limn net --in [1,2,3,4]" ;;
    uses) what="eval uses.limn leak --in 1" ;;
    constant) what="eval constant.limn f --in [1,2]" ;;
    table) what="run table.limn --plain" ;;
    *) what="eval $p.limn" ;;
    esac
    # shellcheck disable=SC2086
    (cd theirs/program && "$LIMN" $what ${3-}) >out 2>err
    have=$?
    if [ $have -ne "$2" ]; then not_ok "$1: $p: status $have, wanted $2" err
    elif [ "$2" -ne 0 ] && ! grep -q 'it is not below the folder of the program; --read' err; then not_ok "$1: $p: another message" err
    else ok "$1: $p"; fi
  done
}
ln -s / theirs/program/data
reads "a link called data to the root" 1
"$LIMN" train own/net.limn --out probe --sandbox --quiet --reference >out 2>err && reads "in a sandbox too" 1 --sandbox
reads "the flag allows it" 0 "--read $dir/kept"
forms="$forms found named" # these are found in ./data only
rm theirs/program/data
ln -s "$dir/kept" theirs/program/data
mv kept/far/digits kept
reads "a link called data to elsewhere" 1
reads "which the flag allows" 0 "--read $dir/kept"
rm theirs/program/data
ln -s "$dir/kept" theirs/shared/data
reads "a link in ../shared" 1
rm -r theirs/shared && mkdir away/shared && ln -s "$dir/kept" away/shared/data && ln -s ../away/shared theirs/shared
reads "a link called ../shared" 1
rm theirs/shared
mkdir -p theirs/shared theirs/program/inner theirs/program/data
ln -s "$dir/kept/digits" theirs/program/data/digits
ln -s "$dir/kept/far" theirs/program/data/far
reads "links in data" 1
rm -r theirs/program/data/digits
mkdir theirs/program/data/digits && ln -s "$dir/kept/digits/digits.csv" theirs/program/data/digits/digits.csv
reads "links to files in data" 1
rm -r theirs/program/data
cp -r kept/digits kept/far theirs/program/inner && ln -s inner theirs/program/data
(cd theirs/program && "$LIMN" eval named.limn && cd inner && ln -s ../inner data && "$LIMN" eval ../named.limn) >out 2>err
if [ $? -eq 0 ]; then ok "a link within the folder is a place for data"; else not_ok "a link within the folder is a place for data" err; fi
mkdir theirs/shared/data && rm theirs/program/data && mv theirs/program/inner/digits theirs/shared/data
status "so is a folder of that name beside it" 0 sh -c 'cd theirs/program && "$LIMN" eval named.limn'
status "and a link that the user names" 0 sh -c 'ln -s shared theirs/link && mv theirs/shared/data/digits theirs/shared && cd theirs/program && LIMN_DATA=../link "$LIMN" eval named.limn'
rm -r probe

# -- not everywhere
if "$LIMN" train own/net.limn --out probe --sandbox --quiet --reference >out 2>err; then ok "training in a sandbox"
elif grep -q 'there is no sandbox here' err; then echo "skipped: $(cat err)"; exit 0
else not_ok "training in a sandbox"; cat out err; fi

# -- it works, compiler and all
status "compiled in a sandbox" 0 "$LIMN" train own/net.limn --out inside --sandbox
if [ -n "$(ls cache)" ]; then ok "the compiler has worked"; else not_ok "the compiler has worked"; cat out; fi
same "nothing is said of it" "" "$(cat err)"
status "and outside" 0 "$LIMN" train own/net.limn --out outside --quiet
same "to the same end" "$(hash outside)" "$(hash inside)"
"$LIMN" train own/net.limn --out part --pause 1 --sandbox --quiet >out 2>&1
status "resumed in a sandbox" 0 "$LIMN" train own/net.limn --resume part --sandbox --quiet
same "to the same end again" "$(hash outside)" "$(hash part)"
status "without a name for the folder" 0 "$LIMN" train own/net.limn --sandbox --quiet
same "it is the usual one" "$(hash outside)" "$(hash runs/net)"
status "measures" 0 "$LIMN" eval own/net.limn net --from inside --in '[1, 2, 3, 4]' --out y.npy --sandbox
status "predictions" 0 sh -c 'printf "a,b,c,d,e\n1,2,3,4,5\n" >away/t.csv; "$LIMN" predict own/net.limn net --from inside --in x=away/t.csv:a..d --out y.csv --sandbox'
status "a page" 0 "$LIMN" report own/net.limn --from inside --sandbox
status "machines" 0 "$LIMN" run own/lag.limn --out lag --sandbox --quiet
status "machines without a folder" 0 "$LIMN" run own/lag.limn --plain --sandbox --quiet

# -- what lies outside
status "data from outside that are allowed" 0 "$LIMN" train own/reads.limn --out free --quiet --reference --read away
status "in a sandbox too" 0 "$LIMN" train own/reads.limn --out free3 --quiet --reference --read away --sandbox
status "are refused otherwise" 1 "$LIMN" train own/reads.limn --out held --sandbox --quiet --reference
says "with their path" err "away/secret.csv"
if [ -e held ]; then not_ok "and leave no folder"; else ok "and leave no folder"; fi
status "so are other programs" 1 "$LIMN" train own/uses.limn --out held --sandbox --quiet --reference
says "by name" err "parts.limn"
if [ "$(id -u)" = 0 ]; then status "root too" 1 sh -c 'ln -s /etc/shadow own/shadow.csv; sed "s#../away/secret#shadow#" own/reads.limn >own/root.limn; "$LIMN" train own/root.limn --out held --sandbox --quiet --reference' && says "by the link" err shadow; fi

# -- on by itself
status "a program that uses what lies elsewhere" 0 "$LIMN" train own/uses.limn --out uses --quiet --reference --read away
same "is in a sandbox, and says so" 'limn: "own/../away/parts.limn" lies outside of the program'"'"'s folder: in a sandbox (see --no-sandbox)' "$(cat err)"
status "unless it should not" 0 "$LIMN" train own/uses.limn --out free2 --quiet --reference --read away --no-sandbox
same "silently" "" "$(cat err)"
same "it does the same" "$(hash free2)" "$(hash uses)"
status "what lies beside is no stranger" 0 sh -c 'mkdir own/lib; cp away/parts.limn own/lib; sed "s#../away#lib#" own/uses.limn >own/near.limn; "$LIMN" train own/near.limn --out near --quiet --reference'
same "nor spoken of" "" "$(cat err)"
status "both at once" 2 "$LIMN" train own/net.limn --sandbox --no-sandbox
says "are refused" err "either --sandbox or --no-sandbox is wanted, not both"

# an export is written where it stands, also where it is several files
status "an export without a name" 0 "$LIMN" export own/net.limn --as safetensors --sandbox
status "an export of two files" 0 "$LIMN" export own/net.limn net --as c --weights-beside --out own/out.c --sandbox
same "both are there" "own/out.bin own/out.c own/out.h" "$(echo own/out.*)"

# -- where there is none
case $BUILD in */san) export ASAN_OPTIONS=verify_asan_link_order=0 ;; esac
if ${CC:-cc} -shared -fPIC -o without.so "$here/without.c" 2>log; then ok "the shim compiles"; else not_ok "the shim compiles"; cat log; fi
status "a kernel that has none" 3 env LD_PRELOAD="$dir/without.so" "$LIMN" train own/net.limn --out none --sandbox --quiet --reference
says "is a reason" err "there is no sandbox here: this kernel has no Landlock"
status "but not where it is only careful" 0 env LD_PRELOAD="$dir/without.so" "$LIMN" train own/uses.limn --out careful --quiet --reference --read away
says "which is said" err "no sandbox could be had"
