"""The attacks. Each is a class with `line`, the line of the promises that it is about, `space`, the list of all it can do, and `one`,
which does one of them and says what was wrong: "" is nothing. A job is a tuple of plain values, so that it can be printed and repeated."""
import errno
import html.parser
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from ground import HERE, NET, REFERENCE, ROOT, VERBS, faults_of, goes_on, result, run_hash

FOREVER = 1 << 40


def counts_of(g, name):
    """How many calls of each kind a verb makes."""
    work = g.copy()
    path = os.path.join(work, "counts")
    g.run(work, VERBS[name], {"TORTURE_COUNTS": path})
    with open(path) as f:
        counts = {k: int(n) for k, n in (line.split() for line in f)}
    g.drop(work)
    return counts


class Memory:
    """The k-th allocation fails, once or with all that come after it; memory and stacks are small; threads cannot be had."""
    line, title = 1, "allocations, threads, limits"
    small = 160  # so many in `make test`
    verbs = ["check", "draw", "eval", "measure", "train", "resume", "predict", "run", "report", "fmt", "print", "sample", "data", "runs",
             "check json", "draw json", "print json", "predict json", "report json"]
    sizes = [8 << 20, 12 << 20, 16 << 20, 24 << 20, 32 << 20, 48 << 20, 64 << 20, 96 << 20, 128 << 20, 256 << 20, 1 << 30]

    def allocations(self, g, name):
        """The largest k that still fails."""
        low, high = 1, 1 << 20
        while low + 1 < high:
            k = (low + high) // 2
            work = g.copy()
            bad = g.run(work, VERBS[name], {"LIMN_FAIL_ALLOC": str(k)}, limn=g.guard).status != 0
            g.drop(work)
            low, high = (k, high) if bad else (low, k)
        return high

    def space(self, g, small):
        for name in self.verbs:
            if small:
                rng = random.Random(name)
                ks = [int(1.08 ** i) for i in range(120)] + [rng.randrange(1, 30000) for _ in range(60)]
            else:
                ks = range(1, self.allocations(g, name) + 2)
            for k in ks:
                yield from (("arena", name, k, n) for n in (1, FOREVER))
            calls = counts_of(g, name)
            for k in range(1, calls["alloc"] + 1, 7 if small else 1):
                yield from (("block", name, k, n) for n in (1, FOREVER))
            yield from (("thread", name, k, n) for k in range(1, calls["pthread_create"] + 1) for n in (1, FOREVER))
            if g.san:  # which takes much of both
                continue
            yield from (("join", name, k, 1) for k in (1, 2, 3))
            yield from (("memory", name, n, 0) for n in self.sizes)
            yield from (("stack", name, n << 10, 0) for n in (128, 192, 256, 512, 1024, 8192))

    def one(self, g, job):
        kind, name, k, n = job
        work, env, limn, before = g.copy(), {}, None, None
        if kind == "arena":
            env, limn = {"LIMN_FAIL_ALLOC": "%d:%d" % (k, n)}, g.guard
        elif kind == "join":  # on a small stack the command itself is in a thread
            env = {"TORTURE": "pthread_join:%d:%d:%d" % (errno.EINVAL, k, n)}
            before = lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
        elif kind in ("block", "thread"):
            code = errno.ENOMEM if kind == "block" else errno.EAGAIN
            env = {"TORTURE": "%s:%d:%d:%d" % ("alloc" if kind == "block" else "pthread_create", code, k, n)}
        else:
            what = resource.RLIMIT_AS if kind == "memory" else resource.RLIMIT_STACK
            before = lambda: resource.setrlimit(what, (k, k))
        done = g.run(work, VERBS[name], env, limn, before)
        # The loader needs memory too: what does not come to its first line is not ours.
        if kind == "memory" and done.status and (b"shared librar" in done.err or b"cannot allocate TLS" in done.err):
            g.drop(work)
            return ""
        fault = faults_of(g, work, name, done) or self.blamed(kind, done)
        if not fault and name == "resume":
            fault = goes_on(g, work)
        g.drop(work)
        return fault

    def blamed(self, kind, done):
        """The machine failed, and not the user's text: 3, and the reason. Without threads the same is done by fewer."""
        said = (done.out + done.err).decode(errors="replace").strip()[-200:]
        if done.status not in (0, 3) or (kind == "thread" and done.status):
            return "status %s: %s" % (done.status, said)
        if kind == "join" and done.status == 3 and "cannot be waited for" not in said:
            return "status 3 of something that was done twice: " + said
        return "" if done.status == 0 or kind in ("stack", "join") or "memory" in said else "status 3, and not a word of memory: " + said


class Calls:
    """The k-th system call of a kind fails, once or for good; or does less than it was asked."""
    line, title = 2, "system calls that fail, bad places"
    small = 70  # so many in `make test`
    E = errno
    errors = {
        "open": (E.EIO, E.EMFILE, E.ENOSPC, E.EACCES), "read": (E.EIO, E.EINTR, 0), "write": (E.EIO, E.ENOSPC, E.EINTR, 0),
        "pread": (E.EIO, E.EINTR, 0), "fsync": (E.EIO, E.ENOSPC), "rename": (E.EIO, E.ENOSPC, E.EACCES), "close": (E.EIO, E.EINTR),
        "mkdir": (E.EIO, E.ENOSPC, E.EACCES), "mmap": (E.ENOMEM, E.EIO), "ftruncate": (E.EIO, E.ENOSPC), "stat": (E.EIO, E.EACCES),
        "unlink": (E.EIO,), "opendir": (E.EMFILE, E.EIO), "flock": (E.EIO, E.EINTR), "fork": (E.EAGAIN, E.ENOMEM),
        "execve": (E.ENOENT, E.ENOMEM), "pthread_create": (E.EAGAIN,),
    }
    places = ["no HOME", "no TMPDIR", "no cache", "no PATH", "readonly", "no /proc", "no /dev/shm", "no /tmp", "no /dev/null", "full", "bare"]

    def space(self, g, small):
        for name in list(VERBS):
            counts = counts_of(g, name)
            for kind, errors in self.errors.items():
                for k in range(1, counts[kind] + 1):
                    for e in errors:
                        # What is interrupted for ever has no end, whatever one does.
                        for n in (1, 2) if e == errno.EINTR else (1, FOREVER):
                            yield ("call", name, kind, e, k, n)
            for k in range(1, counts["any"] + 1):
                yield from (("call", name, "any", e, k, FOREVER) for e in (errno.EIO, errno.EMFILE))
            yield from (("place", name, place, 0, 0, 0) for place in self.places)
            yield from (("streams", name, "", 0, closed, 0) for closed in range(1, 8))
            yield from (("files", name, "", 0, n, 0) for n in (0, 3, 4, 5, 6, 8, 12))
            yield from (("size", name, "", 0, n, 0) for n in (0, 1, 100, 600, 2000, 5000, 20000))

    def attack(self, g, work, job):
        kind, name, what, e, k, n = job
        env, before, out = {}, None, None
        if kind == "call":
            env = {"TORTURE": "%s:%d:%d:%d" % (what, e, k, n)}
        elif kind == "streams":
            before = lambda: [os.close(fd) for fd in range(3) if k >> fd & 1]
        elif kind == "files":
            before = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (k, k))
        elif kind == "size":
            before = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (k, k))
        elif what == "full":
            out = open("/dev/full", "w")
        elif what == "readonly":
            env = {"TORTURE_READONLY": "1"}
        elif what.startswith("no /"):
            env = {"TORTURE_HIDE": what[3:]}
        elif what == "bare":
            env = {"TORTURE_HIDE": "/proc:/dev:/sys:/tmp:/etc"}
        else:
            env = {{"no HOME": "HOME", "no TMPDIR": "TMPDIR", "no cache": "LIMN_CACHE", "no PATH": "PATH"}[what]: None}
        done = g.run(work, VERBS[name], env, before=before, stdout=out)
        if out:
            out.close()
        return done

    def one(self, g, job):
        kind, name, what, e, k, n = job
        work = g.copy()
        done = self.attack(g, work, job)
        muted = kind == "streams" and k & 6  # what was said went nowhere
        if kind == "files" and b"shared librar" in done.err:
            fault = ""
        elif muted and done.status is not None and 0 <= done.status <= 3:
            fault = ""
        elif kind == "size" and done.status == -signal.SIGXFSZ:
            fault = "" if name not in ("train", "resume") else "is killed by SIGXFSZ"
        else:
            leaves = what in ("unlink", "any", "readonly", "bare") or kind == "files"
            fault = faults_of(g, work, name, done, swept=not leaves)
            if what == "full" and name in ("check", "eval", "measure", "print", "data", "runs"):
                fault = "" if done.status == 3 else "status %s though nothing could be said" % done.status
        if not fault:
            fault = goes_on(g, work)
        g.drop(work)
        return fault


class Kills:
    """A signal before the k-th change of a file, or at a random moment; then the run goes on, to the end that it would have had."""
    line, title = 3, "kill -9 and other signals"
    small = 30  # so many in `make test`
    signals = ["KILL", "HUP", "INT", "TERM", "PIPE", "XFSZ", "QUIT"]

    def space(self, g, small):
        for name in ("resume", "train"):
            n = counts_of(g, name)["changes"]
            yield from (("write", name, s, k) for s in self.signals for k in range(1, n + 1))
        yield from (("moment", name, "KILL", k) for k in range(60 if small else 4000) for name in ("resume", "train"))

    def one(self, g, job):
        kind, name, sig, k = job
        work = g.copy()
        number = getattr(signal, "SIG" + sig)
        if kind == "write":
            done = g.run(work, VERBS[name], {"TORTURE_SIGNAL": "%d:%d" % (number, k)})
        else:
            done = g.run(work, VERBS[name], timeout=random.Random(k).uniform(0.002, 0.06))
        if kind == "write" and done.status is None:
            fault = "hangs"
        elif kind == "write" and done.status not in (0, 1, 3, -number):
            fault = "status %d" % done.status
        else:
            fault = goes_on(g, work)
            if not fault and name == "train":
                fault = self.new_goes_on(g, work)
        g.drop(work)
        return fault

    def new_goes_on(self, g, work):
        """It goes on to the same end, or says that there is nothing to go on with."""
        done = g.run(work, ["train", "net.limn", "--steps", "2", "--resume", "new", "--quiet"] + REFERENCE)
        if done.status == 0 and run_hash(os.path.join(work, "new")) != g.expected["train"]:
            return "goes on to another end"
        if done.status not in (0, 1) or (done.status and not done.err.strip()):
            return "cannot go on, status %s: %s" % (done.status, done.err[-200:])
        return ""


class Resume:
    """Stopped after every step, once and again, with other numbers of threads; and with clocks that jump."""
    line, title = 4, "resume at every step, threads, clocks"
    small = 12  # so many in `make test`
    steps = 19

    def space(self, g, small):
        yield from (("stop", k, a, b) for k in range(1, self.steps) for a in (1, 2, 3, 5) for b in (1, 2, 3, 5))
        yield from (("often", seed, 1 + seed % 4, 0) for seed in range(40 if small else 2000))
        yield from (("clock", seed, 0, 0) for seed in range(40 if small else 2000))

    def prepare(self, g):
        shutil.copy(os.path.join(ROOT, "tests/train/noisy.limn"), g.base)
        g.must("train", "noisy.limn", "--out", "noisy", "--quiet", *REFERENCE)
        g.noisy = run_hash(os.path.join(g.base, "noisy"))

    def train(self, g, work, threads, how, env=None):
        return g.run(work, ["train", "noisy.limn", "--quiet", "--threads", str(threads)] + how + REFERENCE, env)

    def one(self, g, job):
        kind, k, a, b = job
        work = g.copy()
        rng = random.Random(k)
        first = ["--out", "made"]
        if kind == "stop":
            done = self.train(g, work, a, first + ["--pause", str(k)])
            if done.status == 0:
                done = self.train(g, work, b, ["--resume", "made"])
        elif kind == "often":
            done = self.train(g, work, a, first + ["--pause", str(rng.randrange(1, 5))])
            for _ in range(self.steps):
                if done.status == 0:
                    done = self.train(g, work, rng.randrange(1, 5), ["--resume", "made", "--pause", str(rng.randrange(1, 4))])
        else:
            done = self.train(g, work, 2, first + ["--every", "1s"], {"TORTURE_CLOCK": str(k)})
        have = run_hash(os.path.join(work, "made"))
        g.drop(work)
        if done.status != 0:
            return "status %s: %s" % (done.status, done.err[-200:])
        return "" if have == g.noisy else "another end: %s, wanted %s" % (have, g.noisy)


class Texts:
    """Programs with bytes, words and lines changed, through the commands that read them. (The fuzzers proper are `make fuzz`.)"""
    line, title = 5, "programs with changes, by the command"
    small = 80  # so many in `make test`

    def space(self, g, small):
        yield from ((i,) for i in range(400 if small else 200000))

    def prepare(self, g):
        folder = os.path.join(ROOT, "examples")
        g.texts = [open(os.path.join(folder, f), "rb").read() for f in sorted(os.listdir(folder)) if f.endswith(".limn")]
        g.texts = [t for t in g.texts if len(t) < 4000]
        g.words = sorted({w for t in g.texts for w in t.split()})

    def change(self, g, rng):
        text = bytearray(rng.choice(g.texts))
        for _ in range(rng.choice((1, 1, 2, 5))):
            at, kind = rng.randrange(len(text) + 1), rng.randrange(6)
            if kind == 0 and at < len(text):
                text[at] = rng.randrange(256)
            elif kind == 1:
                text[at:at] = b" " + rng.choice(g.words) + b" "
            elif kind == 2:
                del text[at:at + rng.randrange(1, 30)]
            elif kind == 3:
                lines = bytes(text).split(b"\n")
                lines.insert(rng.randrange(len(lines) + 1), rng.choice(rng.choice(g.texts).split(b"\n")))
                text = bytearray(b"\n".join(lines))
            elif kind == 4:
                words = bytes(text).split(b" ")
                i, j = rng.randrange(len(words)), rng.randrange(len(words))
                words[i], words[j] = words[j], words[i]
                text = bytearray(b" ".join(words))
            else:
                text = text.replace(rng.choice((b"1", b"2", b"10", b"32")), rng.choice((b"0", b"-1", b"4294967296", b"1e30", b"9" * 30)), 1)
        return bytes(text)

    def one(self, g, job):
        rng = random.Random(job[0])
        text = self.change(g, rng)
        work = os.path.join(g.top, "text.%d" % job[0])
        os.mkdir(work)
        with open(os.path.join(work, "p.limn"), "wb") as f:
            f.write(text)
        verb = rng.choice((["check", "p.limn"], ["draw", "p.limn", "-o", "-"], ["print", "p.limn"], ["fmt", "--check", "p.limn"],
                           ["check", "p.limn", "--who"], ["cost", "p.limn"], ["grad", "p.limn"], ["draw", "p.limn", "-o", "p.svg"]))
        done = g.run(work, verb)
        shutil.rmtree(work, ignore_errors=True)
        if done.status is None:
            return "hangs: limn %s" % " ".join(verb)
        if done.status not in (0, 1):
            return "status %d: limn %s: %s" % (done.status, " ".join(verb), done.err[-200:])
        silent = verb[0] == "fmt" or verb[-1] == "--who"  # a table of nobody
        return "" if silent or done.out.strip() or done.err.strip() else "says nothing: limn %s" % " ".join(verb)


class Files:
    """Every byte of every file is changed, and every file is cut at every length: a message or the right result."""
    line, title = 6, "bytes flipped, files cut"
    small = 100  # so many in `make test`
    # A file, the verb that reads it, and whether status 0 means the same result: not where no sum guards the numbers.
    files = [
        ("part/state.safetensors", "resume", True), ("part/run.json", "resume", True), ("part/metrics.csv", "resume", True),
        ("part/program.limn", "resume", True), ("part/model.safetensors", "resume", True), ("part/best.safetensors", "resume", True),
        ("whole/model.safetensors", "predict", False), ("whole/run.json", "predict", False), ("whole/run.json", "report", False),
        ("whole/metrics.csv", "report", False), ("whole/run.json", "runs", False), ("whole/program.limn", "runs", False),
        ("x.npy", "predict", False), ("set.npz", "npz", True), ("set.csv", "csv", False), ("set-idx3-ubyte", "idx", False),
        ("packed-idx3-ubyte.gz", "gz", True), ("pics/a/1.png", "data", True),
    ]
    verbs = {"npz": ["data", "set.npz"], "csv": ["data", "set.csv"], "idx": ["data", "set-idx3-ubyte"], "gz": ["data", "packed-idx3-ubyte.gz"]}

    def prepare(self, g):
        VERBS.update(self.verbs)

    def space(self, g, small):
        for path, verb, same in self.files:
            n = os.path.getsize(os.path.join(g.base, path))
            for at in range(0, n, max(1, n // 40) if small else 1):
                yield from (("flip", path, verb, same, at, bit) for bit in (1, 0x20, 0x80, 0xff))
                yield ("cut", path, verb, same, at, 0)

    def one(self, g, job):
        kind, path, name, same, at, bits = job
        work = g.copy()
        full = os.path.join(work, path)
        with open(full, "rb") as f:
            text = bytearray(f.read())
        if kind == "cut":
            del text[at:]
        elif at < len(text):
            text[at] ^= bits
        with open(full, "wb") as f:
            f.write(text)
        done = g.run(work, VERBS[name])
        fault = faults_of(g, work, name, done)
        if fault.startswith("status 0 and another") and not same:
            fault = ""
        g.drop(work)
        return fault


class Names:
    """Names and words that would be code elsewhere: nothing runs, and what is written is well-formed."""
    line, title = 9, "hostile names"
    small = 8  # so many in `make test`
    words = ["$(touch pwned)", "`touch pwned`", "a;touch pwned", "</script><script>alert(1)</script>", "\"onload=\"alert(1)", "]]>", "-->", "&lt;",
             "\\input{x}", "%s%n%s", "'||touch pwned||'", "\x1b[2J\x1b]0;x\x07", "\xff\xfe", "a\nb", "-rf", "--out", "é\u202eabc", "*/ system(1) /*",
             "\")); system(\"touch pwned", "con:aux", "a" * 200]

    def space(self, g, small):
        for i in range(len(self.words)):
            yield from ((kind, i) for kind in ("file", "folder", "comment", "label", "column", "cache", "set"))

    def script_free(self, text):
        """Tags and attributes that would run something, which a page of ours never has outside its own script."""
        found = []

        class Look(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                found.extend(k for k, v in attrs if k.startswith("on") or (v or "").strip().lower().startswith("javascript:"))

        Look().feed(text)
        return found, text.count("alert(1)</script>")

    def looked_at(self, work):
        for d, _, files in os.walk(work):
            for f in files:
                path = os.path.join(d, f)
                if f == "pwned":
                    return "ran a name"
                if f.endswith(".svg"):
                    try:
                        xml.etree.ElementTree.parse(path)
                    except xml.etree.ElementTree.ParseError as e:
                        return "%s is not well-formed: %s" % (f, e)
                if f.endswith(".html"):
                    found, raw = self.script_free(open(path, encoding="utf-8", errors="replace").read())
                    if found or raw:
                        return "%s would run %s" % (f, found or "a script")
        return ""

    def one(self, g, job):
        kind, i = job
        word, work = self.words[i], os.path.join(g.top, "names.%s.%d" % job)
        os.mkdir(work)
        raw = word.encode("utf-8", "surrogateescape") if "\xff" not in word else b"\xff\xfe"
        file = raw.replace(b"/", b"_").replace(b"\0", b"") + b".limn" if kind == "file" else b"p.limn"
        out = raw.replace(b"/", b"_") if kind == "folder" else b"made"
        text, env = NET.encode(), {}
        if kind == "comment":
            text = b"# " + raw.replace(b"\n", b" ") + b"\n" + text.replace(b"\n", b"  # " + raw.replace(b"\n", b" ") + b"\n", 2)
        elif kind in ("label", "column"):
            cell = raw.replace(b'"', b'""')
            with open(os.path.join(work, "d.csv"), "wb") as f:
                head = b'"' + cell + b'"' if kind == "column" else b"kind"
                f.write(b"a,b," + head + b"\n" + b"".join(b'%d,%d,"%s"\n' % (j, -j, cell if j % 2 and kind == "label" else b"q") for j in range(8)))
            text = b'given x, y from "d.csv"\nlearn net : R[2] -> R[2] = dense[2]\ngoal fit : net(x) ~ y by cross_entropy\ntrain 2 steps, batch 4, adam(0.1)\n' \
                   b'show confusion(net(x), y)\n'
        elif kind == "cache":
            env = {"LIMN_CACHE": os.path.join(work, word.replace("/", "_"))}
        elif kind == "set":
            text = b'given x from "' + raw.replace(b'"', b"_") + b'"\n' + text
        with open(os.path.join(os.fsencode(work), file), "wb") as f:
            f.write(text)
        how = [] if kind == "cache" and i % 4 == 0 and not g.small else REFERENCE  # one in four compiles
        fault = ""
        for argument in (["train", "--out", out, "--quiet", *how, "--", file], ["draw", "--notes", "-o", "d.svg", "--", file], ["check", "--json", "--", file]):
            done = g.run(work, argument, env, timeout=60)
            if done.status is None or done.status not in (0, 1, 2, 3):
                fault = "limn %s: status %s" % (argument[0], done.status)
            elif b"\x1b" in done.err + done.out:
                fault = "limn %s sends an escape to the terminal" % argument[0]
        fault = fault or self.looked_at(work)
        shutil.rmtree(work, ignore_errors=True)
        return fault


class Differences:
    """Random programs: interpreter, prebuilt kernels and compiled code agree, and the other laws of whole programs."""
    line, title = 10, "random programs by every engine"
    small = 0  # so many in `make test`, which has a test of its own for it
    each = 5

    def space(self, g, small):
        self.have = os.path.exists(os.path.join(g.build, "tests/whole_test"))
        yield from ((1 + self.each * i,) for i in range((2 if small else 4000) if self.have else 0))

    def one(self, g, job):
        p = subprocess.run([os.path.join(g.build, "tests/whole_test"), "all", str(job[0]), str(self.each)], capture_output=True, cwd=ROOT,
                           env={**os.environ, "LIMN_CACHE": g.cache})
        return "" if p.returncode == 0 else (p.stdout + p.stderr).decode(errors="replace")[-400:]


class Hurting:
    """Programs meant to hurt: an answer within seconds of a processor, in bounded memory."""
    line, title, seconds = 11, "programs meant to hurt", 10
    small = 0  # so many in `make test`, which has a test of its own for it

    def prepare(self, g):
        self.folder = os.path.join(g.top, "hostile")
        subprocess.run([sys.executable, os.path.join(ROOT, "tests/hostile/make.py"), self.folder], check=True)

    def space(self, g, small):
        for f in sorted(os.listdir(self.folder)):
            for verb in ("check", "print", "draw", "cost", "fmt", "grad", "find"):
                yield from ((f, verb, n) for n in (0, 128 << 10, 1 << 20))

    def one(self, g, job):
        f, verb, stack = job
        path = os.path.join(self.folder, f)
        argument = {"draw": ["draw", path, "-o", "-"], "fmt": ["fmt", "--check", path], "find": ["find", "dense ; relu", path]}.get(verb, [verb, path])

        def before():
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds))
            if stack:
                resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))

        begun = time.time()
        done = g.run(g.top, argument, before=before, timeout=30 * self.seconds)
        if done.status is None or -done.status in (signal.SIGXCPU, signal.SIGKILL):
            return "hangs"
        if done.status not in (0, 1) and not (done.status == 3 and b"memory" in done.err):
            return "status %d after %.1f s: %s" % (done.status, time.time() - begun, done.err[-200:])
        return "" if done.out.strip() or done.err.strip() or verb in ("fmt", "find") else "says nothing"


ALL = [Memory, Calls, Kills, Resume, Texts, Files, Names, Differences, Hurting]
# Lines of the promises for which there is nothing to attack yet.
ABSENT = {7: "devices: tests/gpu, tests/devices; there is no distributed run yet", 8: "servers: tests/studio/attacks.py, tests/lsp/damage.py"}
