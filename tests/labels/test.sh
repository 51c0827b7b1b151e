#!/bin/sh
# Invalid labels (too large, negative, fractional, not a number, infinite) are refused from every source and in every engine.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cat >p.limn <<'END'
given a, b : R[], y : {3} from "good.csv"
learn e : {3} -> R[2] = embed[2]
learn f : R[2] -> R[3] = dense[3]
goal fit : f([a, b]) ~ y   by cross_entropy
goal emb : e(y) ~ [a, b]   by l2
train 2 steps, batch 2
END
sed 's/^train.*/measure fit by hits on "other.csv"/' p.limn >m.limn
{ echo "a,b,y"; for i in 0 1 2 0 1 2 0 1 2 0 1 2; do echo "$i,1,$i"; done; } >good.csv
/usr/bin/python3 - <<'END'
import io, struct, zipfile
for name, bad in [("3", 3.0), ("-1", -1.0), ("0.5", 0.5), ("nan", float("nan")), ("inf", float("inf")), ("1e300", 1e300), ("99999999999", 99999999999.0)]:
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
    head += " " * ((64 - (10 + len(head) + 1) % 64) % 64) + "\n"
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<3d", 0, bad, 1)
    open(name + ".npy", "wb").write(npy)
    with zipfile.ZipFile(name + ".npz", "w") as z:
        z.writestr("y.npy", npy)
    open(name + "-idx1-double", "wb").write(b"\x00\x00\x0e\x01" + struct.pack(">I3d", 3, 0, bad, 1))
END
"$LIMN" train p.limn --out r --plain --quiet --reference >said 2>&1 || { echo "not ok labels: no run"; cat said; exit 1; }

# refused NAME ARGUMENT…: status 1, and what is wrong
refused() {
  name=$1
  shift
  timeout 60 "$LIMN" "$@" >said 2>&1
  status=$?
  if [ $status -eq 1 ] && grep -q "error: " said && ! grep -q "wanted .from" said; then echo "ok $name"; else
    echo "not ok $name: status $status"
    head -3 said
  fi
}
for bad in 3 -1 0.5 nan inf 1e300 99999999999; do
  refused "label $bad, as a number" predict p.limn e --from r --in "$bad"
  refused "label $bad in npy, compiled" predict p.limn e --from r --in "$bad.npy"
  LIMN_CC=/nonexistent refused "label $bad in npy, prebuilt" predict p.limn e --from r --in "$bad.npy"
  refused "label $bad in npy, interpreted" predict p.limn e --from r --in "$bad.npy" --reference
  refused "label $bad, eval" eval p.limn e --from r --in "$bad"
  { cat good.csv; echo "1,1,$bad"; } >other.csv
  refused "label $bad, measure" eval m.limn --from r
  sed "s/good.csv/other.csv/" p.limn >t.limn
  refused "label $bad, train" train t.limn --out t --plain --reference
  for kind in .npy .npz -idx1-double; do
    printf 'given y : {3} from "%s"\nlearn e : {3} -> R[2] = embed[2]\ngoal g : e(y) ~ 0 by l2\nshow e(y)\ntrain 2 steps, batch 2\n' "$bad$kind" >n.limn
    refused "label $bad in $kind, train" train n.limn --out n --plain --reference
    refused "label $bad in $kind, show" report n.limn --from r --reference
  done
done
refused "labels are not noise" sample p.limn e --from r

# what is wrong is said: the row, or the word
{ cat good.csv; echo "1,1,0.5"; } >other.csv
refused "a fraction elsewhere" eval m.limn --from r
grep -qF '`y` is read as {3}, but in other.csv, row 12, counted from 0, holds 0.5' said && echo "ok its row" || { echo "not ok its row"; cat said; }
{ cat good.csv; echo "1,1,one"; } >other.csv
refused "a word elsewhere" eval m.limn --from r
grep -qF 'line 14: `one` is no number' said && echo "ok its line" || { echo "not ok its line"; cat said; }

# numbers that are not finite are none, whatever the file and the verb
printf 'box twice(x: R[3]) -> R[3] = 2 * x\n' >twice.limn
for bad in nan inf; do
  for verb in eval predict; do
    refused "$bad, $verb" $verb twice.limn twice --in $bad.npy
    grep -qF "$bad.npy: row 1, counted from 0, has $bad, where finite numbers were wanted" said && echo "ok its row, $verb" || { echo "not ok its row, $verb"; cat said; }
  done
done
"$LIMN" eval twice.limn twice --in '[1, inf, 2]' >said 2>&1 && echo "ok what is typed may be infinite" || { echo "not ok what is typed may be infinite"; cat said; }

# Labels are known by their names: a result type that names them in another order is another type, even where only the result does.
{ echo "a,kind"; for i in 0 1 2 0 1 2; do echo "$i,k$i"; done; } >kinds.csv
cat >kinds.limn <<'EOF'
given a : R[], kind : {3} from "kinds.csv"
learn f : R[1] -> R[3] = dense[3]
box guess(x: R[1]) -> {k0, k1, k2} = argmax(f(x))
goal fit : f([a]) ~ kind by cross_entropy
train 2 steps, batch 2
EOF
sed 's/{k0, k1, k2}/{k2, k1, k0}/' kinds.limn >turned.limn
"$LIMN" train kinds.limn --out kinds --plain --quiet --reference >said 2>&1 || { echo "not ok labels: no run"; cat said; }
if "$LIMN" predict kinds.limn guess --from kinds --in '[1]' --reference >said 2>&1; then echo "ok a result by its labels"; else echo "not ok a result by its labels" && cat said; fi
refused "a result whose labels stand in another order" predict turned.limn guess --from kinds --in '[1]' --reference
