#!/bin/sh
# Files that limn writes, and files that it must not change, whatever a run folder contains or the
# command line names; files that it reads; how a run ends if it is stopped, or if a file has changed.
set -u
. "$(dirname "$0")/../say.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

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

# -- links in a run folder: each file and folder in its turn becomes a link, and something of another kind that goes round; every verb
# that writes there is run, and nothing outside the folder changes
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
others="hard dangling folder pipe"
links() {
  program=$1 from=$2 bad="" tried=0
  shift 2
  for file in $(cd "$from" && find . -mindepth 1 | sed 's,^./,,' | sort); do
    for kind in soft ${others%% *}; do
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
    others="${others#* } ${others%% *}"
  done
  if [ -z "$bad" ] && [ $tried -ge 11 ]; then ok "$tried links, $program"; else not_ok "$tried links, $program:$bad"; fi
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
status "a link that would be written to is refused" 1 "$LIMN" train net.limn --reference --resume linked
says "with its name" err "cannot write linked/metrics.csv: linked/metrics.csv is a link, and links in a folder of limn's are not followed"
# nor is one followed to read: the numbers of another run would be taken for those of this one
# linked FILE COMMAND…: it stands elsewhere, and a link in its place
linked() {
  rm -rf elsewhere && cp -r whole elsewhere && mkdir -p outside && mv "elsewhere/$1" "outside/$1"
  ln -s "../outside/$1" "elsewhere/$1"
  which=$1
  shift
  "$LIMN" "$@" >out 2>err
  have=$?
  if [ $have -ne 0 ] && grep -q "elsewhere/*$which.* is a link, and links in a folder of limn's are not followed\|it is a link, and links in a folder of limn's are not followed" err; then
    ok "$1 follows no link to $which"
  else not_ok "$1 follows no link to $which: status $have"; cat err; fi
  rm "outside/$which"
}
linked model.safetensors predict plain.limn net --reference --from elsewhere --in '[1, 2, 3, 4]'
linked model.safetensors eval plain.limn net --from elsewhere --in '[1, 2, 3, 4]'
linked model.safetensors export plain.limn net --as onnx --from elsewhere -o net.onnx
linked model.safetensors export plain.limn --as c --train --from elsewhere -o step.c
linked state.safetensors train plain.limn --reference --resume elsewhere
for file in model.safetensors run.json metrics.csv program.limn; do linked $file diff elsewhere whole; done
rm linked/metrics.csv
ln outside/file linked/metrics.csv
"$LIMN" train net.limn --reference --resume linked >out 2>err
says "and so is a second name" err "cannot write linked/metrics.csv: it has another name elsewhere (a hard link)"
# a folder of second names, as backups are made, is read like any other
rm -rf second && cp -Rl whole second
status "second names are read" 0 "$LIMN" predict plain.limn net --reference --from second --in '[1, 2, 3, 4]'
"$LIMN" predict plain.limn net --reference --from whole --in '[1, 2, 3, 4]' >first 2>&1
cp out second.out
is "to the same" cmp first second.out
# stands NAME FILE KIND COMMAND…: on a copy of FILE's folder, what cannot be written is wrong data, and not a broken machine
stands() {
  name=$1 from=${2%%/*} file=${2#*/} kind=$3
  shift 3
  victims
  rm -rf hurt
  cp -r "$from" hurt
  put "$kind" "hurt/$file"
  status "$name" 1 "$@"
}
for kind in soft hard pipe; do stands "a lock that is no file ($kind)" part/lock $kind "$LIMN" train net.limn --reference --resume hurt; done
stands "copies elsewhere" bare/used folder "$LIMN" train net.limn --reference --plain --out hurt
stands "pictures elsewhere" whole/shown folder "$LIMN" report plain.limn --reference --from hurt
stands "pictures of machines elsewhere" room/shown folder "$LIMN" report room.limn --from hurt
stands "frames elsewhere" part/shown folder "$LIMN" train net.limn --reference --plain --resume hurt
says "are missing at the end" err "some shown values could not be written to hurt"
mkdir real
ln -s real byname
status "the run folder itself may be a link" 0 "$LIMN" train net.limn --reference --plain --quiet --out byname
is "which is followed" test -f real/state.safetensors
echo mine >real/movie.part
sleep 60 &
other=$!
for who in $other 99999999; do echo half >real/report.html.$who.part; done
"$LIMN" train net.limn --reference --plain --quiet --resume byname --steps 5 >out 2>&1
is "only what a run left half-written is swept" test -f real/movie.part
is "what somebody is still writing stays" test -f real/report.html.$other.part
is "what somebody killed was writing is swept" test ! -e real/report.html.99999999.part
kill $other
rm real/report.html.$other.part

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
timeout 100 cat pipe.svg >fed.svg &
status "into a pipe" 0 timeout 100 "$LIMN" draw half.limn half --out pipe.svg
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
# trains FOLDER [STEPS]: it answers to signals as on a terminal, and ends after 20 s whatever happens
cat >trains.py <<'END'
import os, signal, sys
for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ): signal.signal(s, signal.SIG_DFL)
signal.alarm(100)
os.execv(os.environ["LIMN"], ["limn", "train", "long.limn", "--reference", "--plain", "--out", sys.argv[1]] + [w for n in sys.argv[2:] for w in ("--steps", n)])
END
begun() { for i in $(seq 1000); do [ -e "$1/state.safetensors" ] && break; sleep 0.05; done; }
for signal in HUP INT TERM PIPE XFSZ; do
  /usr/bin/python3 trains.py sig$signal >out 2>err &
  pid=$!
  begun sig$signal
  kill -$signal $pid
  wait $pid
  same "$signal stops" 0 $?
  is "$signal: it is saved" grep -q '"state": "stopped"' sig$signal/run.json
done
if [ -n "${FULL:-}" ]; then # ten seconds
  /usr/bin/python3 trains.py piped 2>err | head -1 >out
  is "nobody listens any more: it is saved" grep -q '"state": "stopped"' piped/run.json
fi
sed 's/train 1.* steps/train 20000 steps/' long.limn >grows.limn
(ulimit -f 8; timeout 100 "$LIMN" train grows.limn --reference --plain --every 200 --out limited) >out 2>err
same "a file that may not grow: it stops, and rows are missing" 3 $?
says "which is said" err "the last rows of limited/events could not be written"
is "and is saved" grep -q '"state": "stopped"' limited/run.json
status "which can go on" 0 "$LIMN" train grows.limn --reference --plain --quiet --resume limited --pause 10

# -- a disk that fails: each call that writes fails once, in its turn, and either all is there or the end says what is not
case $BUILD in
*/san) echo "skipped: writes that fail, since the sanitizers' own library does not stand one in front of it" ;;
*) shim=1 ;;
esac
if [ -n "${shim:-}" ] && ${CC:-cc} -std=gnu11 -O1 -shared -fPIC -o shim.so "$ROOT/tests/torture/shim.c" -ldl 2>err; then
  fails() { LD_PRELOAD=./shim.so TORTURE=$1 TORTURE_COUNTS=counts "$LIMN" train net.limn --reference --quiet --plain --out failed >out 2>err; }
  bad="" tried=0
  fails rename:5:1000
  for kind in rename fsync ftruncate; do
    for k in $(seq "$(sed -n "s/^$kind //p" counts)"); do
      rm -rf failed
      fails $kind:5:$k:1
      have=$?
      tried=$((tried + 1))
      [ $have -eq 0 ] && grep -q '"hash"' failed/run.json && [ -e failed/shown/1.000000004.safetensors ] && continue
      [ $have -eq 3 ] && grep -q "error: " err || bad="$bad $kind $k ($have);"
    done
  done
  if [ -z "$bad" ] && [ $tried -ge 15 ]; then ok "$tried writes that fail"; else not_ok "$tried writes that fail:$bad"; fi
  rm -rf failed many
  mkdir many
  cp -r part room many
  for kind in open stat; do
    LD_PRELOAD=./shim.so TORTURE_COUNTS=counts "$LIMN" runs many >whole.out
    for k in $(seq "$(sed -n "s/^$kind //p" counts)"); do
      LD_PRELOAD=./shim.so TORTURE=$kind:24:$k:1 "$LIMN" runs many >out 2>err
      [ $? -ne 0 ] || cmp -s out whole.out || bad="$bad $kind $k;"
    done
  done
  if [ -z "$bad" ]; then ok "runs that cannot be read are not left out"; else not_ok "runs that cannot be read are left out:$bad"; fi
else
  echo "skipped: no C compiler for what fails"
fi
mkdir -p several/torn
cp -r room several
echo '{"program": ' >several/torn/run.json
status "a run that cannot be read" 1 "$LIMN" runs several
says "is listed with the reason" out "several/torn: unreadable: several/torn/run.json: the text ends after 13 bytes, where a value was wanted"
says "beside the others" out "several/room: room.limn"
says "and said" err "1 of the runs in several cannot be read, or not all of it"
is "as it is in JSON" sh -c '"$LIMN" runs several --json | grep -q "{\"dir\": \"several/torn\", \"unreadable\": "'

# -- the first checkpoint is there before the first report
mkfifo lines
/usr/bin/python3 trains.py early 20000 >lines 2>err &
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
same "an answer that nobody can get" 3 $?
"$LIMN" check net.limn >&- 2>err
says "is told" err "Bad file descriptor"
"$LIMN" train net.limn --reference --quiet --plain --out unheard >&- 2>&- <&-
same "what says nothing needs no streams" 0 $?
for verb in "check net.limn" "print half.limn half" "ops" "help" "--version" "cost half.limn half" "data" "runs room" "train net.limn --plan" "data iris"; do
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
refused() { status "$1" 1 timeout 100 "$LIMN" data "./$1"; says "$1 says why" err "$2"; }
refused hex.csv 'line 3, column 1: found `0x10`, where a finite number was wanted'
refused hexfirst.csv 'line 1, column 1: found `0x10`, where a finite number was wanted'
refused beyond.csv 'line 3, column 1: found `1e400`, where a finite number was wanted'
refused digits.csv 'line 3, column 1: found `9999'
refused nan.npy "row 2 of x, counted from 0, has nan, where finite numbers were wanted"
refused pics "pics/a.png has 0×0 pixels: there is nothing in it"
status "words that look like numbers" 0 "$LIMN" data ./ids.csv
says "are words where nothing is a number" out 'label `id` with 2 names'

# -- what a program may read: what is below its own folder, after links are resolved, and what the command line allows
mkdir -p own/below away2/run
cp half.limn own/below
cp half.limn away2
printf 'a,b\n1,2\n3,4\n5,6\n' >away2/t.csv
cp away2/t.csv own/below
cp -r pics away2/pics
ln -s "$dir/away2/half.limn" own/link.limn
ln -s "$dir/away2/t.csv" own/link.csv
mkdir own/faces
ln -s "$dir/pics/a.png" own/faces/a.png
# reads NAME WANTED PROGRAM: as a program in own/, with and without --read
reads() {
  printf "$3" >own/p.limn
  status "$1" "$2" "$LIMN" check own/p.limn
  [ "$2" -eq 0 ] && return
  says "$1: it says what would allow it" err "it is not below the folder of the program; --read $dir"
  status "$1, allowed" 0 "$LIMN" check own/p.limn --read "$dir"
  status "$1, allowed for all" 0 env LIMN_READ="/nowhere:$dir" "$LIMN" check own/p.limn
}
dir=$(cd "$dir" && pwd -P)
table='given a, b from "%s"\nlearn f : R[] -> R[] = sin\ngoal g : f(a) ~ b by l2\n'
reads "a file that is used, below" 0 'use "below/half.limn"\n'
reads "a file that is used, elsewhere" 1 'use "../away2/half.limn"\n'
reads "a file that is used, by its full name" 1 "use \"$dir/away2/half.limn\"\n"
reads "a file that is used, through a link" 1 'use "link.limn"\n'
reads "data below" 0 "$(printf "$table" below/t.csv)"
reads "data elsewhere" 1 "$(printf "$table" ../away2/t.csv)"
reads "data through a link" 1 "$(printf "$table" link.csv)"
printf 'given image from "faces"\ngoal g : image ~ 0 by l2\n' >own/p.limn
status "pictures through links" 1 "$LIMN" check own/p.limn
says "are refused too" err "own/faces/a.png: it is not below the folder of the program"
printf 'given x, label from iris\nlearn net : R[4] -> R[3] = half ; dense[3] from "../whole"\nbox half(x: R[n]) -> R[n] = x / 2\ngoal fit : net(x) ~ label by cross_entropy\ntrain 1 step, batch 8, adam(0.01)\n' >own/p.limn
status "weights elsewhere" 1 "$LIMN" train own/p.limn --reference --plain --out weighed
says "are refused" err "cannot read own/../whole/model.safetensors: it is not below the folder of the program"
status "and allowed" 0 "$LIMN" train own/p.limn --reference --plain --quiet --out weighed --read whole
mkdir -p sets/here
cp away2/t.csv sets/here
printf "$table" here/t.csv >own/p.limn
status "the folders for data may be read" 0 env LIMN_DATA="$dir/sets" "$LIMN" check own/p.limn
printf "$table" here/../../away2/t.csv >own/p.limn
status "but not what is beside them" 1 env LIMN_DATA="$dir/sets" "$LIMN" check own/p.limn

# -- files of the user in a folder that is no run's: what the run would write over is refused before it begins
printf 'box half(x: R[n]) -> R[n] = x / 2\n' >part.limn
printf 'use "part.limn"\nmachine M(u: R[]) -> (s: R[]) {\n  state s = 0\n  next s = s + u\n}\nrun M for 3 ticks on "table.csv"\nrun M(u: 1) for 3 ticks\nshow s\n' >mine.limn
printf 'use "part.limn"\ngiven x, label from iris\nlearn net : R[4] -> R[3] = half ; dense[3]\ngoal fit : net(x) ~ label by cross_entropy\ntrain 2 steps, batch 8, adam(0.01)\nshow net(x)\n' >mine_too.limn
both="lock metrics.csv changes.csv changes.asked report.html program.limn model.safetensors used/part.limn shown/01-s.svg shown/01-s.png shown/1.000300.safetensors"
printf 'u\n1\n1\n1\n' >table.csv
for file in M.csv M.happened.csv M.safetensors M.state.safetensors M.2.csv M.2.state.safetensors $both; do
  for how in "run mine.limn" "train mine_too.limn --reference"; do
    case $how$file in train*M.*) continue ;; esac
    rm -rf mine
    mkdir -p mine/shown mine/used
    echo mine >mine/$file
    find mine -type f -exec md5sum {} + | sort >before
    # shellcheck disable=SC2086
    status "a file that $how would write over, $file" 1 "$LIMN" $how --quiet --out mine
    says "is named, $file" err "mine/$file exists already and belongs to no run: it would be overwritten; --out names another folder"
    find mine -type f -exec md5sum {} + | sort >after
    same "and nothing was written ($how, $file)" "$(cat before)" "$(cat after)"
  done
done
rm -rf mine
mkdir -p mine/shown mine/used
echo mine | tee mine/shown/photo.png mine/used/other.limn mine/notes.txt >mine/N.csv
status "other files are not in the way" 0 "$LIMN" run mine.limn --quiet --out mine
same "and stay" "mine mine mine mine" "$(echo $(cat mine/shown/photo.png mine/used/other.limn mine/notes.txt mine/N.csv))"
rm -rf mine && mkdir -p mine/used && : >mine/lock && cp mine_too.limn mine/program.limn && cp part.limn mine/used
status "a run that was killed when it began is begun again" 0 "$LIMN" train mine_too.limn --reference --plain --quiet --out mine

# -- a file of data that gets shorter while it is used
/usr/bin/python3 - <<'END'
import struct
n = 200000
h = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4), }" % n).encode()
h += b" " * (117 - len(h)) + b"\n"
open("long.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(h)) + h + b"\0" * (16 * n))
END
printf 'given x : R[4] from "long.npy"\nlearn f : R[4] -> R[4] = dense[4]\ngoal g : f(x) ~ x by l2\ntrain 400000 steps, batch 8, adam(0.01)\n' >shrinks.limn
timeout 100 "$LIMN" train shrinks.limn --reference --plain --out shrinks --steps 2000 >out 2>err &
pid=$!
begun shrinks
: >long.npy
wait $pid
same "a file that gets shorter kills no run" 0 $?

# -- a program from a pipe: it is read where somebody writes, even a little later, and not waited for where nobody does
mkfifo idle.limn
status "a pipe that nobody writes to is refused" 1 timeout 100 "$LIMN" check idle.limn
says "with a sentence" err "cannot read idle.limn: it is a pipe that nobody writes to"
(sleep 0.2 && cat half.limn >idle.limn) &
status "a pipe is read" 0 timeout 100 "$LIMN" check idle.limn
wait $!
