#!/bin/sh
# Failures of the C compiler, its folder or its disk: training ends with the interpreter's results, within a time limit, with a warning, and leaves no process and no
# folder behind.
set -u
dir=$(mktemp -d)
trap 'chmod -R u+rwx "$dir" 2>/dev/null; rm -rf "$dir"' EXIT
cp tests/compiler/small.limn "$dir"
cc=$(command -v gcc || command -v clang || command -v cc) || { echo "skipped there is no C compiler"; exit 0; }
case $cc in */ccache/*) cc=$(PATH=/usr/local/bin:/usr/bin:/bin command -v gcc || echo "$cc") ;; esac
mkdir "$dir/quick" # how fast the code is, is nothing to test
printf '#!/bin/sh\nexec "%s" "$@" -O0\n' "$cc" >"$dir/quick/${cc##*/}"
cc="$dir/quick/${cc##*/}"
chmod +x "$cc"
export REAL_CC="$cc"
cd "$dir" || exit 1

"$LIMN" train small.limn --reference --out reference --plain >/dev/null || { echo "not ok compiler reference"; exit 1; }
LIMN_CACHE="$dir/cache" LIMN_CC="$cc" "$LIMN" train small.limn --out compiled --plain >/dev/null || { echo "not ok compiler compiled"; exit 1; }

# near A B: the columns of metrics.csv that are losses agree to five digits
near() {
  paste -d, "$1/metrics.csv" "$2/metrics.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fit") { c[++n] = i } next }
    { a = $c[1]; b = $c[2]; d = a - b; if (d < 0) d = -d; if (n != 2 || d > 1e-5 * (a < 0 ? -a : a) + 1e-9) bad = 1; rows++ }
    END { exit bad || rows < 3 }'
}

# falls NAME WORD COMMAND…: the command trains into NAME, says WORD on standard error, and the numbers are right
falls() {
  name=$1 word=$2 work="$dir/cache.$1" # where it compiles; others may be at work in theirs
  case $name in cache_* | no_home) work="$dir/passing" ;; esac
  shift 2
  timeout 60 "$@" train small.limn --out "$name" --plain >"$name.out" 2>"$name.err"
  status=$?
  if [ $status -ne 0 ]; then
    echo "not ok compiler $name: status $status"
    cat "$name.err"
  elif ! grep -qF -- "$word" "$name.err"; then
    echo "not ok compiler $name: no \"$word\""
    cat "$name.err"
  elif [ "$(grep -c . "$name.err")" -ne 1 ]; then
    echo "not ok compiler $name: more than one word"
    cat "$name.err"
  elif ! near reference "$name"; then
    echo "not ok compiler $name: other numbers"
  elif [ -n "$(find "$work" -name 'work.*' -o -name 'limn.*' 2>/dev/null)" ]; then
    echo "not ok compiler $name: a folder was left"
  else
    echo "ok compiler $name"
  fi
}

if near reference compiled; then echo "ok compiler the numbers of compiled code"; else echo "not ok compiler the numbers of compiled code"; fi

# -- compilers that do something else -----------------------------------------------------------------
fake() { # NAME: a script from standard input
  { echo '#!/bin/sh'; cat; } >"$1.sh"
  chmod +x "$1.sh"
}
out='for a do case $last in -o) out=$a ;; esac; last=$a; done'
fake silent <<'X'
exit 1
X
fake loud <<'X'
while :; do echo 'error: no'; echo 'error: no' >&2; done
X
fake escapes <<'X'
printf '\033]0;title\007\033[31mred\n\n\n' >&2
exit 1
X
fake nothing <<'X'
exit 0
X
fake empty <<X
last=; $out; : >"\$out"
X
fake garbage <<X
last=; $out; head -c 5000 /dev/zero >"\$out"; printf '\177ELFgarbage' >>"\$out"
X
fake truncated <<X
"\$REAL_CC" "\$@" || exit 1
last=; $out; head -c \$((\$(wc -c <"\$out") / 2)) "\$out" >"\$out.1"; mv "\$out.1" "\$out"
X
fake symbols <<X
last=; $out; echo 'int other;' >"\$out.c"; $cc -shared -fPIC -o "\$out" "\$out.c"
X
fake link <<X
last=; $out; ln -s "$dir/victim" "\$out"
X
fake elsewhere <<X
last=; $out; "\$REAL_CC" "\$@"; ln "\$out" "\$out.2"
X
fake forever <<'X'
sleep 600
X
fake children <<'X'
(sleep 601; sleep 601) &
exit 1
X
fake killed <<'X'
kill -9 $$
X
printf 'no program' >nothing_at_all.sh
chmod +x nothing_at_all.sh
printf 'kept' >victim
with_fake() { falls "$1" "prebuilt kernels do its work" env LIMN_CACHE="$dir/cache.$1" LIMN_CC="$dir/$1.sh" LIMN_CC_SECONDS=${2:-3} REAL_CC="$cc" "$LIMN"; }

# What mostly waits goes beside the rest, and says at the end what it has found: `beside FUNCTION`.
beside() { "$1" >"said.$1" 2>&1 & }
slow_trainings() {
  with_fake forever
  if grep -qF 'took longer than 3 s' forever.err; then echo "ok compiler forever says why"; else echo "not ok compiler forever says why"; fi
  if grep -q 'compiling [0-9]* kernels* with ' forever.out; then echo "ok compiler says that it compiles"; else echo "not ok compiler says that it compiles"; fi
  LIMN_CACHE="$dir/cache.quiet" LIMN_CC="$dir/forever.sh" LIMN_CC_SECONDS=3 "$LIMN" train small.limn --out quiet --quiet >quiet.out 2>/dev/null
  if [ -s quiet.out ]; then echo "not ok compiler quiet"; else echo "ok compiler quiet"; fi
}
beside slow_trainings
for name in silent escapes nothing empty garbage truncated symbols link elsewhere children killed nothing_at_all; do with_fake $name; done
with_fake loud 1
if [ "$(cat victim)" = kept ]; then echo "ok compiler a link is not followed"; else echo "not ok compiler a link is not followed"; fi
if LC_ALL=C grep -q "$(printf '\033')" escapes.err; then echo "not ok compiler escapes reach the terminal"; else echo "ok compiler escapes do not reach the terminal"; fi

# Every verb that compiles says so when it takes long: with its answer on standard output, on standard error.
printf 'machine Room -> (warmth: R[]) {\n  state warmth = 20\n  warmth'"'"' = 15 - warmth + sin(20 * time)\n}\nrun Room to 400\n' >room.limn
printf 'given x, y from iris\nlearn f : R[4] -> R[3] = dense[8] ; tanh ; dense[3]\ngoal fit : f(x) ~ y   by cross_entropy\nmeasure fit by hits on iris.test\n' >judged.limn
slow() { name=$1; shift; LIMN_CACHE="$dir/cache.$name" LIMN_CC="$dir/forever.sh" LIMN_CC_SECONDS=3 "$LIMN" "$@" >"$name.out" 2>"$name.err" & }
verbs() {
  slow predict predict small.limn f --from compiled --in '[1, 2, 3, 4]'
  slow measure eval judged.limn --from compiled
  slow sample sample small.limn f --from compiled --n 2
  slow run run room.limn --plain
  slow runjson run room.limn --plain --json
  wait
  for name in predict measure sample runjson; do
    if grep -q '^limn: compiling [0-9]* kernels* with ' $name.err && ! grep -q compiling $name.out; then echo "ok compiler $name says that it compiles"; else echo "not ok compiler $name says that it compiles"; cat $name.err; fi
  done
  if grep -q '^compiling ' run.out; then echo "ok compiler run says that it compiles"; else echo "not ok compiler run says that it compiles"; cat run.out run.err; fi
}
beside verbs

# Who stops it while it compiles does not wait for the compiler.
cat >stops.py <<'X'
import os, signal, subprocess, sys, time
env = dict(os.environ, LIMN_CACHE="cache.stop." + sys.argv[2], LIMN_CC=os.path.abspath("forever.sh"), LIMN_CC_SECONDS="30")
p = subprocess.Popen([os.environ["LIMN"]] + sys.argv[2:], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
p.stdout.readline()  # it says that it compiles
begun = time.time()
p.send_signal(signal.SIGINT)
said = p.communicate()[1]
wanted = (130, b"") if sys.argv[2] == "run" else (1, b"stopped while compiling: nothing was computed")  # a run has come to its start
good = time.time() - begun < 5 and p.returncode == wanted[0] and wanted[1] in said and not os.path.exists("stop")
print(("ok compiler stops " if good else "not ok compiler stops ") + sys.argv[1] + ("" if good else ": %s %s %.1f s" % (p.returncode, said, time.time() - begun)))
X
stop_training() { /usr/bin/python3 stops.py training train small.limn --out stop; }
stop_run() { /usr/bin/python3 stops.py "a run" run room.limn --plain; }
beside stop_training
beside stop_run

# -- none, and no way to start one -------------------------------------------------------------------
if LIMN_CC=/nowhere/cc LIMN_CACHE="$dir/cache.none" "$LIMN" train small.limn --out none --plain >none.out && grep -q 'no C compiler found' none.out && near reference none; then
  echo "ok compiler none"
else echo "not ok compiler none"; fi

# -- a run stays what it was -------------------------------------------------------------------------
# Sums of both kinds of kernels differ in their last bits: what began without a compiler ends without it, to the same bits.
export LIMN_CACHE="$dir/cache"
sums() { sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p' "$1/run.json"; }
LIMN_CC= "$LIMN" train small.limn --steps 9 --out straight --quiet
LIMN_CC="$dir/silent.sh" "$LIMN" train small.limn --steps 4 --out resumed --quiet 2>/dev/null
LIMN_CC="$cc" "$LIMN" train small.limn --steps 9 --resume resumed --plain >resumed.out 2>&1
if grep -q 'prebuilt kernels' resumed.out && [ -n "$(sums straight)" ] && [ "$(sums straight)" = "$(sums resumed)" ]; then echo "ok compiler goes on as it began"; else
  echo "not ok compiler goes on as it began: $(sums straight) $(sums resumed)"
  cat resumed.out
fi
LIMN_CC="$cc" "$LIMN" train small.limn --steps 4 --out turned --quiet
LIMN_CC="$dir/silent.sh" "$LIMN" train small.limn --steps 9 --resume turned --plain >turned.out 2>&1
if grep -q 'the run began with compiled code: without it, the last digits may differ' turned.out; then echo "ok compiler says that it cannot go on as it began"; else
  echo "not ok compiler says that it cannot go on as it began"
  cat turned.out
fi

# -- long programs ------------------------------------------------------------------------------------
# Equal layers are the same few functions. Different ones are compiled in several files, and those that were done in time are kept.
sed 's/dense\[8\] ; tanh/(dense[16] ; relu) ^ 200/' small.limn >deep.limn
LIMN_CC="$dir/silent.sh" LIMN_DUMP="$dir/deep.c" "$LIMN" train deep.limn --out deep --quiet >/dev/null 2>&1
functions=$(grep -c '^void limn_k' deep.c)
if [ "$functions" -gt 3 ] && [ "$functions" -lt 40 ]; then echo "ok compiler equal layers"; else echo "not ok compiler equal layers: $functions functions"; fi
awk 'BEGIN { for (i = 0; i < 60; i++) printf "dense[%d] ; tanh ; ", 20 + i }' >layers
sed "s/dense\[8\] ; tanh ; /$(cat layers)/" small.limn >long.limn
fake half <<X
case "\$*" in */0.c) ;; *) [ ! -e "$dir/hang" ] || sleep 600 ;; esac
exec "$cc" "\$@" -O0
X
in_pieces() {
  : >hang
  LIMN_CACHE="$dir/cache.long" LIMN_CC="$dir/half.sh" LIMN_CC_SECONDS=10 "$LIMN" train long.limn --out long.1 --quiet 2>long.err
  rm hang
  kept=$(find cache.long -name '*.code' | wc -l)
  LIMN_CACHE="$dir/cache.long" LIMN_CC="$dir/half.sh" "$LIMN" train long.limn --out long.2 --plain >long.out
  "$LIMN" train long.limn --reference --out long.3 --quiet
  if grep -q 'took longer than 10 s' long.err && [ "$kept" -eq 1 ] && grep -q 'compiled by' long.out && [ "$(find cache.long -name '*.code' | wc -l)" -gt 1 ] && near long.3 long.1 && near long.3 long.2; then
    echo "ok compiler in pieces"
  else echo "not ok compiler in pieces: kept $kept of $(find cache.long -name '*.code' | wc -l): $(cat long.err)"; fi
}
beside in_pieces

# -- what it is given ---------------------------------------------------------------------------------
fake looks <<X
env >"$dir/looks.env"
ls -l /proc/self/fd >"$dir/looks.fd" 2>/dev/null
cat >"$dir/looks.in"
exit 1
X
falls looks "prebuilt kernels do its work" env CPATH=/nowhere LD_AUDIT= SECRET=1 LIMN_CACHE="$dir/cache.looks" LIMN_CC="$dir/looks.sh" "$LIMN" 9<small.limn
if grep -q '^PATH=.' looks.env && grep -q '^TMPDIR=.*/work\.' looks.env && ! grep -q 'SECRET\|CPATH' looks.env; then echo "ok compiler its environment"; else echo "not ok compiler its environment"; fi
if grep -q ' 9 ->' looks.fd || [ -s looks.in ]; then echo "not ok compiler its descriptors"; else echo "ok compiler its descriptors"; fi
falls no_path "prebuilt kernels do its work" env -u PATH LIMN_CACHE="$dir/cache.looks" LIMN_CC="$dir/looks.sh" "$LIMN"
if grep -q '^PATH=.' looks.env; then echo "ok compiler has a path"; else echo "not ok compiler has a path"; fi

# -- it ends with us ----------------------------------------------------------------------------------
fake stays <<X
sleep 700 & echo \$! >"$dir/stays.pid"
sleep 700
X
for signal in KILL TERM; do
  rm -f stays.pid
  LIMN_CACHE="$dir/cache.stays" LIMN_CC="$dir/stays.sh" "$LIMN" train small.limn --out stays.$signal --quiet >/dev/null 2>&1 &
  limn=$!
  for i in $(seq 200); do [ -s stays.pid ] && break; sleep 0.2; done
  kill -$signal $limn 2>/dev/null
  [ $signal = TERM ] && kill -$signal $limn 2>/dev/null # the second ends it at once
  wait $limn 2>/dev/null
  for i in $(seq 200); do kill -0 "$(cat stays.pid)" 2>/dev/null || break; sleep 0.1; done
  if kill -0 "$(cat stays.pid)" 2>/dev/null; then echo "not ok compiler ends after $signal"; else echo "ok compiler ends after $signal"; fi
done

# -- folders ------------------------------------------------------------------------------------------
mkdir open passing && chmod 755 open
: >file
mkdir -m 700 target && ln -s target linked
for kind in open file linked; do
  falls "cache_$kind" "cannot be the cache" env TMPDIR="$dir/passing" LIMN_CACHE="$dir/$kind" LIMN_CC="$cc" "$LIMN"
  if grep -q 'compiled by' "cache_$kind.out"; then echo "ok compiler $kind: code all the same"; else echo "not ok compiler $kind: no code"; fi
done
if [ -n "$(find open target -type f)" ]; then echo "not ok compiler wrote into a folder that is not closed"; else echo "ok compiler writes only into closed folders"; fi
falls no_home "cannot be the cache" env -u LIMN_CACHE -u XDG_CACHE_HOME HOME=/proc/nowhere TMPDIR="$dir/passing" LIMN_CC="$cc" "$LIMN"
falls no_folder "prebuilt kernels do its work" env LIMN_CACHE="$dir/file/x" TMPDIR="$dir/file" LIMN_CC="$cc" "$LIMN"
for mask in 000 777; do
  (umask $mask && LIMN_CACHE="$dir/cache.$mask" LIMN_CC="$cc" "$LIMN" train small.limn --out "$dir/mask.$mask" --quiet >/dev/null 2>&1)
  if [ "$(stat -c %a "$dir/cache.$mask")" = 700 ] && [ "$(stat -c %a "$dir/cache.$mask"/*.code)" = 600 ]; then echo "ok compiler umask $mask"; else
    echo "not ok compiler umask $mask: $(ls -la "$dir/cache.$mask")"
  fi
done

# -- files in the cache -------------------------------------------------------------------------------
code=$(ls "$dir"/cache/*.code)
cp "$code" whole
if [ "$(wc -c <whole)" -lt 40000 ]; then echo "ok compiler what is kept is small"; else echo "not ok compiler what is kept has $(wc -c <whole) bytes"; fi
again() { # NAME: what is in the cache is not loaded, but made anew, and then it is
  LIMN_CACHE="$dir/cache" LIMN_CC="$cc" "$LIMN" train small.limn --out "again.$1" --plain >again.out 2>again.err
  if grep -q 'compiled by' again.out && near reference "again.$1" && cmp -s "$code" whole && [ ! -s again.err ]; then echo "ok compiler $1"; else
    echo "not ok compiler $1"
    cat again.out again.err
  fi
}
LIMN_CACHE="$dir/cache" LIMN_CC="$cc" "$LIMN" train small.limn --out found --plain >found.out
if grep -q 'from the cache' found.out && cmp -s compiled/metrics.csv found/metrics.csv || [ "$(cut -d, -f1,4 compiled/metrics.csv)" = "$(cut -d, -f1,4 found/metrics.csv)" ]; then echo "ok compiler found again"; else echo "not ok compiler found again"; fi
mkdir wrapper behind
printf '#!/bin/sh\nexec "%s" "$@"\n' "$cc" >behind/wrapped && printf '#!/bin/sh\nexec "%s" "$@"\n' "$cc" >wrapper/wrapped && chmod +x */wrapped
wrapped() { PATH="$dir/wrapper:$dir/behind:$PATH" LIMN_CC=wrapped LIMN_CACHE="$dir/cache.wrapped" "$LIMN" train small.limn --out "wrapped.$1" --plain | grep -o 'compiled by\|from the cache'; }
first=$(wrapped 1) second=$(wrapped 2)
echo '# newer' >>behind/wrapped
if [ "$first, $second, $(wrapped 3)" = "compiled by, from the cache, compiled by" ]; then echo "ok compiler another one behind a wrapper"; else echo "not ok compiler another one behind a wrapper"; fi
size=$(wc -c <whole)
for at in 0 $((size / 3)) $((size / 2)) $((size - 41)) $((size - 1)); do
  printf '\245' | dd of="$code" bs=1 seek="$at" conv=notrunc 2>/dev/null
  again "byte $at of $size flipped"
done
head -c $((size / 2)) whole >"$code"
again "half a file"
chmod 666 "$code" && again "a file open to others"
ln "$code" second && again "a file with two names"
rm -f "$code" && ln -s "$dir/whole" "$code" && again "a link"
mkdir -p cache/work.999999.abc && : >cache/work.999999.abc/0.c && : >cache/old.so && touch -d '3 days ago' cache/work.999999.abc cache/old.so
rm -f "$code" && again "swept"
if [ "$(ls cache)" = "$(basename "$code")" ]; then echo "ok compiler what was left is swept"; else echo "not ok compiler what was left is swept: $(ls cache)"; fi

# -- disks that are full, or allow no programs --------------------------------------------------------
cat >mounted.sh <<'X'
#!/bin/sh
# mounted.sh OPTIONS FOLDER COMMAND…: with a disk of its own there
exec unshare -rm sh -c 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"' sh "$@"
X
chmod +x mounted.sh
mkdir -m 700 mount
if ./mounted.sh size=1m "$dir/mount" true 2>/dev/null; then
  falls disk_full "prebuilt kernels do its work" ./mounted.sh size=16k,mode=700 "$dir/mount" env LIMN_CACHE="$dir/mount/c" TMPDIR="$dir/mount" LIMN_CC="$cc" "$LIMN"
  ./mounted.sh noexec,mode=700 "$dir/mount" env LIMN_CACHE="$dir/mount/c" LIMN_CC="$cc" "$LIMN" train small.limn --out noexec --plain >noexec.out 2>&1
  if grep -q 'compiled by' noexec.out && near reference noexec; then echo "ok compiler disk without programs"; else echo "not ok compiler disk without programs"; fi
else
  echo "skipped disks of its own: this user may not mount"
fi

wait
cat said.*
