#!/bin/sh
# The language server: recorded sessions, malformed input, completion of keywords, and a real client
# (npm's vscode-languageserver-protocol, in $LIMN_LSP_CLIENT or build/lsp-client, installed by tools/npm.sh; otherwise skipped).
# A session is a file with a message in each line; a second file has the responses, one in each line. BLESS=1 rewrites those.
set -u
here=tests/lsp
BUILD=${BUILD:-build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
LC_ALL=C
export LC_ALL

# verdict NAME STATUS
verdict() { if [ "$2" -eq 0 ]; then echo "ok lsp $1"; else echo "not ok lsp $1"; fi; }
frame() { awk '/^[^#]/ { printf "Content-Length: %d\r\n\r\n%s", length($0), $0 }' "$@"; }
unframe() { tr -d '\r' | sed 's/Content-Length: [0-9]*$//' | grep -v '^$'; }

for session in $here/*.session; do
  want=${session%.session}.out
  name=$(basename "$session" .session)
  for try in 1 2 3; do # pauses in typing are measured, so a loaded machine may check a text at another message
    frame "$session" | timeout 60 "$LIMN" lsp 2>"$out/error" | unframe >"$out/got"
    ! cmp -s "$out/got" "$want" || break
  done
  if [ -n "${BLESS:-}" ]; then cp "$out/got" "$want"; fi
  cmp -s "$out/got" "$want" && [ ! -s "$out/error" ]
  status=$?
  [ $status -eq 0 ] || { diff "$want" "$out/got" | cut -c 1-300 | head -20; cat "$out/error"; }
  verdict "session $name" $status
done

# What is no message ends with a word, and never hangs or crashes.
begin='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"limnDocuments":true}}}'
damaged() { # NAME WANTED-STATUS PATTERN: standard input
  timeout 100 "$LIMN" lsp >"$out/got" 2>&1
  status=$?
  [ $status -eq "$2" ] && { [ -z "$3" ] || tr -d '\r\n' <"$out/got" | grep -aq "$3"; }
  good=$?
  [ $good -eq 0 ] || { echo "status $status"; cut -c 1-300 "$out/got"; }
  verdict "$1" $good
}
printf 'Content-Length: 99999999999999999999\r\n\r\nx' | damaged 'a giant length is refused' 1 'a header could not be read'
printf 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx' | damaged 'two lengths are refused' 1 'a header could not be read'
printf 'Content-Length: 0\r\n\r\n' | damaged 'an empty message is answered' 1 '"code":-32700'
{ printf 'Content-Length: 67108865\r\n\r\n' && head -c 67108865 /dev/zero && printf '%s\n' "$begin" | frame; } | damaged 'a message that is too large is answered, and the next one too' 1 '64 MiB.*"id":1'
printf 'Content-Length: -5\r\n\r\nx' | damaged 'a negative length is refused' 1 'a header could not be read'
printf 'Content-Type: x\r\n\r\nx' | damaged 'a header without a length is refused' 1 'a header could not be read'
head -c 9000 /dev/zero | tr '\0' 'a' | damaged 'an endless header ends' 1 'a header could not be read'
printf '' | damaged 'nothing at all' 1 ''
printf 'Content-Length: 100\r\n\r\n{' | damaged 'a message that ends early' 1 'the input ended within a message'
printf 'Content-Length: 5\r\n\r\n{bad}' | damaged 'what is no JSON is answered' 1 '"code":-32700'
printf 'Content-Length: 4\r\n\r\n"\377\376"' | damaged 'what is no UTF-8 is answered' 1 '"code":-32700'
printf 'Content-Length: 2\r\n\r\n{}' | damaged 'a message without a method is answered' 1 '"code":-32600'
printf 'content-length: %d\r\n\r\n%s' "${#begin}" "$begin" | damaged 'headers are words in any case' 1 '"positionEncoding":"utf-16"'
printf '%s\n%s\n%s\n' "$begin" '{"jsonrpc":"2.0","id":2,"method":"shutdown"}' '{"jsonrpc":"2.0","method":"exit"}' | frame | damaged 'shutdown, then exit' 0 '"id":2,"result":null'
printf '%s\n%s\n' "$begin" '{"jsonrpc":"2.0","method":"exit"}' | frame | damaged 'exit alone' 1 '"id":1'
printf '%s\n%s\n%s\n' "$begin" '{"jsonrpc":"2.0","method":"exit"}' '{"jsonrpc":"2.0","id":3,"method":"shutdown"}' | frame | damaged 'messages behind exit' 1 '"id":1'

# A client that closes its output while it still writes: the server ends by itself, with a status.
/usr/bin/python3 - "$LIMN" "$begin" <<'END'
import os, subprocess, sys, time
bad = []
for wait in (True, False):
    p = subprocess.Popen([sys.argv[1], "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = sys.argv[2].encode()
    message = b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
    if wait:
        p.stdin.write(message)
        p.stdin.flush()
        p.stdout.read(1)
    p.stdout.close()
    try:
        for _ in range(100):
            p.stdin.write(message)
            p.stdin.flush()
            time.sleep(0.05)
            if p.poll() is not None: break
    except BrokenPipeError: pass
    try: status = p.wait(20)
    except subprocess.TimeoutExpired: p.kill(); status = "it goes on"
    if status != 3 or b"output was closed" not in p.stderr.read(): bad.append((wait, status))
print(*bad)
sys.exit(1 if bad else 0)
END
verdict 'a client that closes its output' $?

# Laws over whole programs. A library with sanitizers cannot be loaded by Python.
if [ -e "$BUILD/liblimn.so" ] && [ "${BUILD%/san}" = "$BUILD" ]; then
  /usr/bin/python3 $here/sweep.py "$BUILD/liblimn.so" examples/[a-i]*.limn tests/programs/*.limn >"$out/sweep" 2>&1
  status=$?
  [ $status -eq 0 ] || tail -3 "$out/sweep"
  verdict "laws of names" $status
else echo "skipped: there is no liblimn.so that Python can load"; fi

# Sessions that are damaged, for two seconds (FULL=1: a minute).
/usr/bin/python3 $here/damage.py "$LIMN" "$(if [ -n "${FULL:-}" ]; then echo 60; else echo 2; fi)" >"$out/damage" 2>&1
status=$?
cat "$out/damage"
verdict "damaged sessions" $status

# Programs that are wrong, for two seconds and longer (FULL=1: a minute).
root=$(cd "$here" && pwd)
(cd "$out" && /usr/bin/python3 "$root/programs.py" "$LIMN" "$(if [ -n "${FULL:-}" ]; then echo 60; else echo 2; fi)") >"$out/programs" 2>&1
status=$?
cat "$out/programs"
verdict "programs that are wrong" $status

# Names of one file in another.
/usr/bin/python3 $here/files.py "$LIMN" >"$out/files" 2>&1
status=$?
[ $status -eq 0 ] || tail -3 "$out/files"
verdict "names in other files" $status

# Each word of the language, and each box that is in no library, is described.
editors/words.sh | awk '$1 == "keyword" { print $2 }' | while read -r word; do
  grep -q "^WORD(\"$word\"," src/edit/known.def || echo "$word"
done >"$out/words"
awk '/const BuiltinBox / && /= {/ { on = 1 } on { print } on && /};/ { on = 0 }' $(find src/lang -name '*.c') | grep -o '{"[a-z_0-9]*"' | tr -d '{"' | while read -r box; do
  grep -q "^BOX(\"$box\"," src/edit/known.def || echo "$box"
done >>"$out/words"
cat "$out/words"
[ ! -s "$out/words" ]
verdict 'every word has a line' $?

# The files for editors: the extension with a stand-in for the editor, its package, Emacs' mode.
if command -v node >/dev/null; then
  packaging/share.sh "$out/share" 1.2.3 && node $here/extension.js "$LIMN" "$out/share/vscode" "$out"
  verdict 'the extension' $?
else echo "skipped: there is no node, so the extension for Visual Studio Code is not run"; packaging/share.sh "$out/share" 1.2.3; fi
/usr/bin/python3 editors/vscode/vsix.py "$out/share/vscode" "$out/limn.vsix" >/dev/null && /usr/bin/python3 - "$out/limn.vsix" <<'END'
import json, sys, zipfile, xml.dom.minidom
z = zipfile.ZipFile(sys.argv[1])
names = set(z.namelist())
package = json.loads(z.read("extension/package.json"))
assert package["version"] == "1.2.3" and "[Content_Types].xml" in names, names
assert 'Version="1.2.3"' in z.read("extension.vsixmanifest").decode()
for name in ("[Content_Types].xml", "extension.vsixmanifest"): xml.dom.minidom.parseString(z.read(name))
for path in [package["main"], package["contributes"]["grammars"][0]["path"], package["contributes"]["languages"][0]["configuration"]]:
    assert "extension/" + path.removeprefix("./") in names, path
END
verdict 'the package of the extension' $?
if command -v emacs >/dev/null; then
  printf 'box f(x: R[3]) -> R[3] {\nreturn relu(x)\n}\n' >"$out/a.limn"
  emacs -Q --batch -l "$out/share/emacs/limn-mode.el" "$out/a.limn" --eval '(progn (font-lock-ensure) (indent-region (point-min) (point-max)) (goto-char 1) (search-forward "relu") (princ (list major-mode (get-text-property 1 (quote face)) (current-indentation) (get-text-property (1- (point)) (quote face)))))' >"$out/emacs" 2>"$out/error"
  grep -q '(limn-mode font-lock-keyword-face 2 font-lock-builtin-face)' "$out/emacs"
  status=$?
  [ $status -eq 0 ] || cat "$out/emacs" "$out/error"
  verdict 'the mode for Emacs' $status
  mkdir "$out/bin" && ln -s "$LIMN" "$out/bin/limn"
  PATH=$out/bin:$PATH timeout 60 emacs -Q --batch -l "$out/share/emacs/limn-mode.el" -l $here/emacs.el "$out/a.limn" >"$out/emacs" 2>"$out/error"
  if ! grep '^skipped' "$out/emacs"; then
    [ "$(tr '\n' ' ' <"$out/emacs" | sed 's/messages [1-9]/messages/')" = 'hover relu(a) renamed box g(x: R[3]) -> R[3] { messages ended ' ]
    status=$?
    [ $status -eq 0 ] || cat "$out/emacs" "$out/error"
    verdict 'Emacs speaks with it' $status
  fi
else echo "skipped: there is no emacs, so its mode is not read"; fi
if command -v vim >/dev/null; then
  printf 'box f(x: R[3]) -> R[3] {\n    return relu(x)   # why\n}\n' >"$out/b.limn"
  SHARE=$out/share FILE=$out/b.limn SAID=$out/vim timeout 60 vim -V1 -es -u NONE -i NONE -S $here/vim.vim >"$out/error" 2>&1
  printf '%s\n' 'filetype limn, indent 2, comment # %s' 'box is limnDeclaration' 'relu is limnFunction' '# why is limnComment' >"$out/want"
  grep '^skipped' "$out/vim" || printf '%s\n' 'renames 1' 'hover relu(a)' 'messages 0' 'ended 0' >>"$out/want"
  grep -v '^skipped' "$out/vim" | cmp -s - "$out/want"
  status=$?
  [ $status -eq 0 ] || cat "$out/vim" "$out/error"
  verdict 'Vim reads its files, and speaks with it' $status
else echo "skipped: there is no vim, so its files are not read"; fi

client=${LIMN_LSP_CLIENT:-$PWD/build/lsp-client}
if command -v node >/dev/null && [ -d "$client/node_modules/vscode-languageserver-protocol" ]; then
  NODE_PATH=$client/node_modules timeout 100 node $here/client.js "$LIMN" "$out"
  [ $? -eq 0 ] || echo "not ok lsp client"
else
  echo "skipped: there is no vscode-languageserver-protocol (see $here/test.sh)"
fi
