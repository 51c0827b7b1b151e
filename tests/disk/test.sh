#!/bin/sh
# What limn does to a disk: which files it writes and which it leaves alone, whatever stands in a run folder or is named on the
# command line; what it reads; and how a run ends when it is told to, or when a file is not what it was.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }
# status NAME WANTED COMMAND…
status() {
  name=$1
  want=$2
  shift 2
  "$@" >out 2>err
  have=$?
  if [ $have -eq "$want" ]; then ok "$name"; else not_ok "$name: status $have, wanted $want"; cat out err; fi
}
# says NAME FILE TEXT
says() { if grep -qF -- "$3" "$2"; then ok "$1"; else not_ok "$1: \"$3\" is not in $2"; cat "$2"; fi; }
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
is() { name=$1; shift; if "$@" >/dev/null 2>&1; then ok "$name"; else not_ok "$name"; fi; }

echo 'box half(x: R[n]) -> R[n] = x / 2' >half.limn
cat >net.limn <<'END'
use "half.limn"
given x, label from iris
learn net : R[4] -> R[3] = half ; dense[3]
goal fit : net(x) ~ label   by cross_entropy
show net(x) every 2
train 4 steps, batch 8, adam(0.01)
END
grep -v '^show' net.limn >plain.limn
echo 'show net(x)' >>plain.limn
cat >room.limn <<'END'
machine Room -> (warmth: R[]) {
  state warmth = 20
  warmth' = 15 - warmth
}
run Room to 1
END

# -- links in a run folder: each file and folder in its turn becomes a link of each kind, every verb that writes there is run, and
# nothing outside the folder changes
victims() {
  rm -rf outside away
  mkdir outside
  echo precious >outside/file
  mkdir outside/folder
  echo precious >outside/folder/file
}
untouched() { [ "$(cat outside/file outside/folder/file 2>&1)" = "precious
precious" ] && [ "$(find outside | sort | tr '\n' ' ')" = "outside outside/file outside/folder outside/folder/file " ] && [ ! -e away ]; }
# put KIND FILE: a link of that kind in the place of FILE
put() {
  rm -rf "$2"
  case $1 in
    soft) ln -s "$dir/outside/file" "$2" ;;
    hard) ln "$dir/outside/file" "$2" ;;
    dangling) ln -s "$dir/away" "$2" ;;
    folder) ln -s "$dir/outside/folder" "$2" ;;
    pipe) mkfifo "$2" ;;
  esac
}
# links PROGRAM FOLDER COMMAND…: the command is run on a copy of FOLDER, called hurt
links() {
  program=$1 from=$2 bad="" tried=0
  shift 2
  for file in $(cd "$from" && find . -mindepth 1 | sed 's,^./,,' | sort); do
    for kind in soft hard dangling folder pipe; do
      [ $kind = hard ] && [ -d "$from/$file" ] && continue
      victims
      rm -rf hurt
      cp -r "$from" hurt
      put $kind "hurt/$file"
      timeout 5 "$@" >out 2>&1
      have=$?
      tried=$((tried + 1))
      untouched && [ $have -le 3 ] || bad="$bad $file by $kind ($have);"
    done
  done
  if [ -z "$bad" ] && [ $tried -ge 20 ]; then ok "$tried links, $program"; else not_ok "$tried links, $program:$bad"; fi
}
"$LIMN" train plain.limn --reference --out whole >out 2>&1 || cat out
"$LIMN" train net.limn --reference --plain --out part --pause 2 >out 2>&1 || cat out
"$LIMN" run room.limn --reference --out room >out 2>&1 || cat out
mkdir bare # a folder that was made before training: what training would write is there already
for f in lock metrics.csv program.limn model.safetensors shown used; do : >bare/$f; done
links "a run that goes on" part "$LIMN" train net.limn --reference --plain --resume hurt
links "a report" whole "$LIMN" report plain.limn --reference --from hurt
links "a report of machines" room "$LIMN" report room.limn --from hurt
links "a new run" bare "$LIMN" train net.limn --reference --plain --out hurt
cp -r part linked
ln -sf "$dir/outside/file" linked/metrics.csv
status "a link that would be written to is refused" 3 "$LIMN" train net.limn --reference --resume linked
says "with its name" err "cannot write linked/metrics.csv: linked/metrics.csv is a link, and links in a folder of limn's are not followed"
rm linked/metrics.csv
ln outside/file linked/metrics.csv
"$LIMN" train net.limn --reference --resume linked >out 2>err
says "and so is a second name" err "cannot write linked/metrics.csv: it has another name elsewhere (a hard link)"
mkdir real
ln -s real byname
status "the run folder itself may be a link" 0 "$LIMN" train net.limn --reference --plain --quiet --out byname
is "which is followed" test -f real/state.safetensors
echo mine >real/movie.part
"$LIMN" train net.limn --reference --plain --quiet --resume byname --steps 5 >out 2>&1
is "only what a run left half-written is swept" test -f real/movie.part

# what is shown of a foreign folder is what is in it
cp -r whole foreign
echo 'box secret(x: R[3]) -> R[3] = x' >secret.limn
ln -sf "$dir/secret.limn" foreign/program.limn
"$LIMN" report plain.limn --reference --from foreign >out 2>&1
if grep -q secret foreign/report.html; then not_ok "a page follows no link"; else ok "a page follows no link"; fi

# -- what --out names
echo '{"old": 1}' >target.svg
ln -s target.svg link.svg
status "through a link" 0 "$LIMN" draw half.limn half --out link.svg
is "the link stays" test -L link.svg
is "its target is written" grep -q '<svg' target.svg
ln -s nowhere.svg dangling.svg
status "through a link to nothing" 0 "$LIMN" draw half.limn half --out dangling.svg
is "what it points at is made" grep -q '<svg' nowhere.svg
mkfifo pipe.svg
timeout 20 cat pipe.svg >fed.svg &
status "into a pipe" 0 timeout 20 "$LIMN" draw half.limn half --out pipe.svg
wait
is "the pipe stays" test -p pipe.svg
is "who reads it gets the picture" grep -q '<svg' fed.svg
status "to what is no file" 0 "$LIMN" eval half.limn half --in '[1, 2]' --out /dev/null
is "a device stays" test -c /dev/null
ln -s /dev/full full.npy
status "a device that is full" 3 "$LIMN" eval half.limn half --in '[1, 2]' --out full.npy
says "is said to be" err "cannot write full.npy: No space left on device"
is "and stays" test -c /dev/full
mkdir folder.svg
status "a folder is no file" 3 "$LIMN" draw half.limn half --out folder.svg
echo 'box f(x: R[3])->R[3]=x' >kept.limn
chmod 640 kept.limn
status "a file that is laid out anew" 0 "$LIMN" fmt kept.limn
same "keeps its mode" 640 "$(stat -c %a kept.limn)"

# -- signals: the run is saved and stops, the second one ends it at once
cat >long.limn <<'END'
given x, label from iris
learn net : R[4] -> R[3] = dense[3]
goal fit : net(x) ~ label   by cross_entropy
train 100000000 steps, batch 8, adam(0.01)
END
# trains FOLDER: it answers to signals as on a terminal, and ends after 20 s whatever happens
cat >trains.py <<'END'
import os, signal, sys
for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ): signal.signal(s, signal.SIG_DFL)
signal.alarm(20)
os.execv(os.environ["LIMN"], ["limn", "train", "long.limn", "--reference", "--plain", "--out", sys.argv[1]])
END
begun() { for i in $(seq 100); do [ -e "$1/state.safetensors" ] && break; sleep 0.05; done; }
for signal in HUP INT TERM PIPE XFSZ; do
  /usr/bin/python3 trains.py sig$signal >out 2>err &
  pid=$!
  begun sig$signal
  kill -$signal $pid
  wait $pid
  same "$signal stops" 0 $?
  is "$signal: it is saved" grep -q '"state": "stopped"' sig$signal/run.json
done
/usr/bin/python3 trains.py piped 2>err | head -1 >out
is "nobody listens any more: it is saved" grep -q '"state": "stopped"' piped/run.json
sed 's/train 1.* steps/train 20000 steps/' long.limn >grows.limn
(ulimit -f 8; timeout 20 "$LIMN" train grows.limn --reference --plain --every 200 --out limited) >out 2>err
same "a file that may not grow: it stops" 0 $?
is "and is saved" grep -q '"state": "stopped"' limited/run.json
status "which can go on" 0 "$LIMN" train grows.limn --reference --plain --quiet --resume limited --pause 10

# -- the first checkpoint is there before the first report
mkfifo lines
/usr/bin/python3 trains.py early >lines 2>err &
pid=$!
{ while read -r line; do case $line in step*) break ;; esac; done; ls early >seen; } <lines
kill -9 $pid 2>/dev/null # it may have ended, since nobody reads
wait $pid 2>/dev/null
is "before the first report there is a checkpoint" grep -q state.safetensors seen
mkdir nothing
status "a run that was killed before it" 0 "$LIMN" train net.limn --reference --plain --resume nothing
says "begins anew, and says so" out "there is no checkpoint in nothing: the run begins anew"

# -- standard streams
"$LIMN" check net.limn >&- 2>&-
same "closed streams are none to fail" 0 $?
for verb in "check net.limn" "print half.limn half" "ops" "help" "--version" "cost half.limn half" "data" "runs ." "train net.limn --plan" "data iris"; do
  [ -w /dev/full ] || break
  "$LIMN" $verb >/dev/full 2>err
  same "a full disk is noticed: $verb" 3 $?
done

# -- a damaged checkpoint is refused, wherever the damage is
cp -r part broken
/usr/bin/python3 - <<'END'
b = bytearray(open("part/state.safetensors", "rb").read())
for name, at in (("first", 40), ("last", len(b) - 1)):
    c = bytearray(b)
    c[at] ^= 1
    open(name + ".safetensors", "wb").write(c)
END
for f in first last; do
  cp $f.safetensors broken/state.safetensors
  status "a byte that is another one ($f)" 1 "$LIMN" train net.limn --reference --plain --resume broken
  says "is found ($f)" err "broken/state.safetensors: its check sum is not that of its bytes: it is damaged"
done
cp -r whole noted
echo '{"program": ' >noted/run.json
status "a damaged run.json is wrong data" 1 "$LIMN" report plain.limn --reference --from noted

# -- data that are none
printf 'a,b\n1,2\n0x10,3\n' >hex.csv
printf '0x10,1\n5,2\n6,3\n' >hexfirst.csv
printf 'a\n1\n1e400\n' >beyond.csv
printf 'a\n1\n%s\n' "$(printf '%0400d' 0 | tr 0 9)" >digits.csv
printf 'id,b\n0x10,1\n0xff,2\n' >ids.csv
/usr/bin/python3 - <<'END'
import os, struct, zlib
h = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
h += b" " * (117 - len(h)) + b"\n"
open("nan.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(h)) + h + struct.pack("<6f", 1, 2, 3, 4, float("nan"), 6))
chunk = lambda t, b: struct.pack(">I", len(b)) + t + b + struct.pack(">I", zlib.crc32(t + b))
os.mkdir("pics")
open("pics/a.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 0, 8, 0, 0, 0, 0)) + chunk(b"IEND", b""))
END
# refused FILE TEXT
refused() { status "$1" 1 timeout 20 "$LIMN" data "./$1"; says "$1 says why" err "$2"; }
refused hex.csv 'line 3, column 1: found `0x10`, where a finite number was wanted'
refused hexfirst.csv 'line 1, column 1: found `0x10`, where a finite number was wanted'
refused beyond.csv 'line 3, column 1: found `1e400`, where a finite number was wanted'
refused digits.csv 'line 3, column 1: found `9999'
refused nan.npy "row 2 of x, counted from 0, has nan, where finite numbers were wanted"
refused pics "pics/a.png has 0×0 pixels: there is nothing in it"
status "words that look like numbers" 0 "$LIMN" data ./ids.csv
says "are words where nothing is a number" out 'label `id` with 2 names'
