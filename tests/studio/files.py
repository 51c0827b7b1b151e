"""Files: listed, read, written as a whole, told when others change them; no character is lost by a kill."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from client import LIMN, SLOW, Studio, check

folder = sys.argv[1]
os.mkdir(folder + "/sub")
open(folder + "/a.limn", "w").write("axis m = 4\n")
open(folder + "/sub/b.limn", "w").write("")
open(folder + "/c.csv", "w").write("1,2\n")
os.symlink("/etc/hostname", folder + "/link.limn")
os.symlink("/etc", folder + "/etc")
os.mkfifo(folder + "/pipe.limn")
os.chmod(folder + "/a.limn", 0o600)

# -- beginning
studio = Studio(folder + "/blank.limn")
check("a program that is not there is made", open(folder + "/blank.limn").read() == "")
page, other = studio.page(), studio.page()
page.listen(), other.listen()
about = page.ask("host/about")
check("it says what it is", about["home"] == "studio" and about["open"] == "file:///blank.limn" and about["folder"] == os.path.realpath(folder) and "files" in about["can"], about)
check("it has examples", "iris.limn" in about["examples"] and page.ask("host/example", {"name": "iris.limn"})["text"] == open("examples/iris.limn").read())
check("and no others", page.refused("host/example", {"name": "../README.md"})[0] == "there is no example `../README.md`")
files = {f["path"]: f["kind"] for f in page.ask("host/files")}
check("files are listed, and nothing that is a link", files == {"a.limn": "program", "blank.limn": "program", "sub/b.limn": "program", "c.csv": "data", "pipe.limn": None} or files == {"a.limn": "program", "blank.limn": "program", "sub/b.limn": "program", "c.csv": "data"}, files)

# -- reading and writing
read = page.ask("host/read", {"path": "a.limn"})
check("a file is read", read["text"] == "axis m = 4\n", read)
stamp = page.ask("host/write", {"path": "a.limn", "text": "axis m = 5\n", "stamp": read["stamp"]})["stamp"]
check("and written", open(folder + "/a.limn").read() == "axis m = 5\n")
check("it keeps who may read it", os.stat(folder + "/a.limn").st_mode & 0o777 == 0o600)
check("other pages are told", other.told("host/changed", lambda p: p == {"path": "a.limn", "stamp": stamp}))
said, data = page.refused("host/write", {"path": "a.limn", "text": "mine", "stamp": read["stamp"]})
check("an old stamp is refused with what is there", said == "a.limn was changed by another program" and data == {"text": "axis m = 5\n", "stamp": stamp}, (said, data))
open(folder + "/a.limn", "w").write("axis m = 6\n")
wanted = page.ask("host/read", {"path": "a.limn"})["stamp"]
changed = page.told("host/changed", lambda p: p["path"] == "a.limn" and p["stamp"] == wanted, 5)
check("what another program writes is told, to a page that has read it too", changed, page.events[-3:])
check("with a stamp that can be written to", changed and page.ask("host/write", {"path": "a.limn", "text": "axis m = 7\n", "stamp": changed["stamp"]}))
enough = threading.Event()


def write_again_and_again():
    k = 100
    while not enough.wait(0.02):
        open(folder + "/a.limn", "w").write(f"axis m = {k}\n")
        k += 1


writer = threading.Thread(target=write_again_and_again)
writer.start()
restless = page.told("host/changed", lambda p: p["path"] == "a.limn" and p["stamp"] not in (stamp, wanted), 10)
enough.set(), writer.join()
check("a file that never comes to rest is told", restless)
wanted = page.ask("host/read", {"path": "a.limn"})["stamp"]
check("and what it is in the end", page.told("host/changed", lambda p: p == {"path": "a.limn", "stamp": wanted}, 5))
os.remove(folder + "/a.limn")
check("a file that goes is told", page.told("host/changed", lambda p: p == {"path": "a.limn", "stamp": None}, 5))
check("and not made again by mistake", page.refused("host/write", {"path": "a.limn", "text": "x", "stamp": stamp}) == ("a.limn was removed by another program", {"text": None, "stamp": None}))
check("a new one wants no stamp", page.ask("host/write", {"path": "a.limn", "text": "", "stamp": None})["stamp"])
check("and is not one that is there", "was changed by another program" in page.refused("host/write", {"path": "a.limn", "text": "x", "stamp": None})[0])
check("a new file in a new folder", page.ask("host/new", {"path": "deep/er/n.limn"})["stamp"] and os.path.exists(folder + "/deep/er/n.limn"))
check("once", "cannot make deep/er/n.limn: there is something of this name" == page.refused("host/new", {"path": "deep/er/n.limn"})[0])
check("renamed", page.ask("host/rename", {"path": "deep/er/n.limn", "to": "m.limn"}) == {"path": "m.limn"} and os.path.exists(folder + "/m.limn"))
check("onto nothing that is there", "cannot rename m.limn: there is something called a.limn" == page.refused("host/rename", {"path": "m.limn", "to": "a.limn"})[0])
open(folder + "/binary.limn", "wb").write(b"\xff\xfe")
check("what is no text is not read", "cannot read binary.limn: it is not text (UTF-8)" == page.refused("host/read", {"path": "binary.limn"})[0])
open(folder + "/huge.limn", "w").write("# " + "x" * (4 << 20))
check("a text that is too large is not read", "cannot read huge.limn: it is larger than 4194304 bytes" == page.refused("host/read", {"path": "huge.limn"})[0])
check("nor written", "cannot write new.limn: it would be larger than 4194304 bytes" == page.refused("host/write", {"path": "new.limn", "text": "x" * (4 << 20) + "x", "stamp": None})[0])
check("one as large as can be is, whatever JSON makes of it", page.ask("host/write", {"path": "new.limn", "text": '"\n' * (2 << 20), "stamp": None})["stamp"] and os.path.getsize(folder + "/new.limn") == 4 << 20 and len(page.ask("host/read", {"path": "new.limn"})["text"]) == 4 << 20)
os.remove(folder + "/huge.limn"), os.remove(folder + "/new.limn")
latin = page.ask("host/write", {"path": "latin.limn", "text": "axis q = 1\n", "stamp": None})["stamp"]
open(folder + "/latin.limn", "wb").write(b"# caf\xe9\n")
check("what is no text any more is not offered as one", "it was changed by another program, and is not text (UTF-8)" in page.refused("host/write", {"path": "latin.limn", "text": "", "stamp": latin})[0])
os.remove(folder + "/latin.limn")
open(folder + "/fixed.limn", "w").write("axis q = 1\n")
os.chmod(folder + "/fixed.limn", 0o444)
check("what nobody may write is not written", "cannot write fixed.limn: Permission denied" == page.refused("host/write", {"path": "fixed.limn", "text": "", "stamp": page.ask("host/read", {"path": "fixed.limn"})["stamp"]})[0] and open(folder + "/fixed.limn").read() == "axis q = 1\n")
os.remove(folder + "/fixed.limn")
check("a text is wanted", "`text` is wanted: what is to be in a.limn" == page.refused("host/write", {"path": "a.limn"})[0])
check("a path is wanted", "`path` is wanted: a path below the folder" == page.refused("host/read")[0])

# -- paths that lead elsewhere
for path in ("../x", "/etc/hostname", "sub/../../x", "a//b", "./a.limn", ".hidden", "sub/", "", "a\nb", "x" * 1001):
    said = page.refused("host/read", {"path": path})[0]
    check(f"not below the folder: {path[:20]!r}", " is not below the folder: " in said, said)
for path in ("link.limn", "etc/hostname"):
    said = [page.refused(m, {"path": path, "text": "x", "stamp": None})[0] for m in ("host/read", "host/write", "host/new", "host/rename")]
    check(f"no link is followed: {path}", page.refused("host/read", {"path": path})[0].find("is a link") > 0 and not any(s.startswith("not refused") for s in said), said)
begin = time.time()
check("a pipe is not waited for", "it is not a regular file" in page.refused("host/read", {"path": "pipe.limn"})[0] and time.time() - begin < 5)
check("a folder is no file", "it is a folder" in page.refused("host/read", {"path": "sub"})[0])
check("nor compared", "is a link" in page.refused("host/diff", {"a": "link.limn", "b": "a.limn"})[0])
page.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///eval.limn", "languageId": "limn", "version": 1, "text": "box f(x: R[]) -> R[] = x\n"}})
check("nor is a model taken from behind one", "is a link" in page.refused("limn/eval", {"textDocument": {"uri": "file:///eval.limn"}, "name": "f", "in": {"x": 1}, "from": "etc"})[0])
check("nor is a text opened there", "is not open" in page.refused("limn/summary", {"textDocument": {"uri": "file:///etc/x.limn"}})[0])
for address, wanted in (("a.limn", 200), ("link.limn", 404), ("..%2f..%2fetc%2fhostname", 403), ("%2e%2e/x", 403), ("/etc/hostname", 403), ("etc/hostname", 404), ("pipe.limn", 404), ("sub", 404), ("nothing", 404), ("a%00b", 403), ("a.limn%00b", 403)):
    status = studio.http("GET", "/file?path=" + address)[0]
    check(f"GET /file of {address}", status == wanted or (wanted == 404 and status == 403), status)
heads = studio.http("GET", "/file?path=a.limn")[2]
check("nothing in a file runs", "sandbox" in heads["content-security-policy"] and heads["content-type"].startswith("text/plain"), heads)

# -- a link called data, which the folder brings, is no place for data; nor do paths of the environment name it
with tempfile.TemporaryDirectory() as away:
    os.mkdir(away + "/here")
    os.mkdir(away + "/kept")
    open(away + "/kept/k.csv", "w").write("1,2\n")
    os.symlink("/", folder + "/data")
    for env in ({}, {"LIMN_DATA": "data"}, {"LIMN_READ": "data:data"}, {"XDG_DATA_HOME": "data"}):
        second = Studio(folder, env={**os.environ, **env}, cwd=away + "/here")
        at = second.page()
        at.open("data.limn", f'const K : R[2] from "{os.path.realpath(away)}/kept/k.csv"\nbox f(x: R[2]) -> R[2] {{ return y[i] = x[i] + K[i] }}\n')
        said = at.refused("limn/eval", {"textDocument": {"uri": "file:///data.limn"}, "name": "f", "in": {"x": [1, 2]}})[0]
        check(f"nothing is read through a link called data: {env}", "it is not below the folder of the program" in said, said)
        second.end()
    os.unlink(folder + "/data")


# -- where it cannot begin
def fails(path, words, *options):
    run = subprocess.run([LIMN, "studio", path, "--no-browser", *options], capture_output=True, text=True, timeout=20 * SLOW)
    check(f"refused: {words}", run.returncode in (1, 2, 3) and words in run.stderr, run.stderr)


fails(folder, f"cannot listen on port {studio.port}: Address already in use", "--port", str(studio.port))
port, second = studio.port, Studio(folder)
check("two studios of a folder do not meet", second.port != port)
second.end()
status, said = studio.end()
check("ends", status == 0 and not said, said)
studio = Studio(folder)
check("a folder has the same port each time, where a browser finds what it kept", studio.port == port, (studio.port, port))
studio.end()
fails(folder + "/nowhere/x.limn", "No such file or directory")
fails(folder + "/c.csv", "a program (NAME.limn) or a folder is wanted")
fails(folder + "/link.limn", "is a link")
fails("/", "a folder below it is wanted, not the whole disk")
fails(folder, "--port wants a whole number from 1024 to 65535", "--port", "80")

# -- a browser is opened, unless it is not wanted
bin_ = folder + "/bin"
os.mkdir(bin_)
open(bin_ + "/xdg-open", "w").write(f'#!/bin/sh\necho "$@" >{bin_}/opened\n')
os.chmod(bin_ + "/xdg-open", 0o755)
run = subprocess.Popen([LIMN, "studio", folder], stdout=subprocess.PIPE, env={**os.environ, "PATH": bin_ + ":" + os.environ["PATH"]})
line = run.stdout.readline().decode()
until = time.time() + 10 * SLOW
while not (os.path.exists(bin_ + "/opened") and open(bin_ + "/opened").read()) and time.time() < until:
    time.sleep(0.05)
check("a browser is opened at the address", sys.platform == "darwin" or open(bin_ + "/opened").read() == line, line)
run.terminate()
check("a word ends it", run.wait(10 * SLOW) == 0)
run.stdout.close()

# -- killed while it writes: the file is as one of the messages had it, whole, and not older than the last answer
lost = 0
rounds = int(os.environ.get("KILLS", "6"))
for k in range(rounds):
    studio = Studio(folder + "/kill.limn")
    page = studio.page()
    stamp, answered, sent = page.ask("host/read", {"path": "kill.limn"})["stamp"], 0, 0
    how = signal.SIGKILL if k % 3 else signal.SIGTERM
    threading.Timer(random.uniform(0.02, 0.25), studio.process.send_signal, (how,)).start()
    try:
        for i in range(1, 10**6):
            sent = i
            stamp = page.ask("host/write", {"path": "kill.limn", "text": f"# {i}\n" * 3000, "stamp": stamp})["stamp"]
            answered = i
    except Exception:
        pass
    studio.process.wait(10)
    text = open(folder + "/kill.limn").read()
    whole = any(text == f"# {i}\n" * 3000 for i in range(max(answered, 1), sent + 1)) or (answered == 0)
    lost += not whole
check(f"{rounds} kills during writes, no character lost", lost == 0, lost)
open(folder + "/kill.limn.999999999.part", "w").write("half")  # no process has this number
open(folder + f"/kill.limn.{os.getpid()}.part", "w").write("half")
studio = Studio(folder)
studio.page().ask("host/read", {"path": "kill.limn"})
left = sorted(f for f in os.listdir(folder) if f.endswith(".part"))
check("what a killed server was writing is swept away, and nothing that is still written", left == [f"kill.limn.{os.getpid()}.part"], left)
studio.end()

# -- a name of a file that is not below the folder
other = tempfile.mkdtemp()
open(other + "/parts.limn", "w").write("box half(x: R[n]) -> R[n] = x / 2\n")
text = f'use "{other}/parts.limn"\nbox twice(x: R[n]) -> R[n] = half(half(x))\n'
open(folder + "/outside.limn", "w").write(text)
studio = Studio(folder, "--read", other)
page = studio.page()
page.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///outside.limn", "languageId": "limn", "version": 1, "text": text}})
said = page.refused("textDocument/rename", {"textDocument": {"uri": "file:///outside.limn"}, "position": {"line": 1, "character": 30}, "newName": "another"})[0]
check("is not renamed", said == "`half` is declared outside of the folder that is open", said)
studio.end()
shutil.rmtree(other)
