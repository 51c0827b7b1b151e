"""What every attack stands on: a folder with programs, data, a run that was paused and one that is finished; the verbs that are
attacked; and the look at what is left afterwards."""
import dataclasses
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TIMEOUT = 20  # seconds: longer is a hang, also on a machine that does much besides

NET = """given x, label from iris
learn net : R[4] -> R[3] = dense[4] ; batch_norm ; tanh ; dropout[0.1] ; dense[3]
goal fit : net(x) ~ label by cross_entropy
measure fit by hits on iris.test
train 6 steps, batch 16, adam(0.01)
show confusion(net(x), label) on iris.test
"""
NOISE = """given n from normal[3]
learn gen : R[3] -> R[2 2] = dense[2 2]
goal small : minimise sum(gen(n) * gen(n))
train 3 steps, batch 8, adam(0.1)
show gen(n)
"""
MACHINE = """machine Lag(u: R[]) -> (x: R[]) {
  state x = 1
  x' = u - x
}

run Lag(u: 0) to 1 every 0.25
check last(x) = exp(-1)   within 1e-6
"""


@dataclasses.dataclass
class Outcome:
    status: int  # below 0: by that signal; None: it hung
    out: bytes
    err: bytes


def png(path, shade, size=4):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((shade + 16 * i + j) % 256 for j in range(size)) for i in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def npy(values, shape):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join("%d, " % n for n in shape)
    head = head.ljust((len(head) + 11 + 63) // 64 * 64 - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values)


class Ground:
    """A template folder, made once; each job works on a copy of it."""

    def __init__(self, limn, shim=None, guard=None):
        self.shim, self.guard = shim, guard
        quick = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a sync of a disk would take most of the time
        self.top = tempfile.mkdtemp(prefix="torture.", dir=quick)
        self.base = os.path.join(self.top, "base")
        self.limn = shutil.copy(limn, os.path.join(self.top, "limn"))  # whatever is built meanwhile
        self.cache = os.path.join(self.top, "cache")
        os.mkdir(self.base)
        os.mkdir(self.cache, 0o700)
        self.expected = {}

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def make(self):
        import gzip, io, zipfile
        self.write("net.limn", NET)
        self.write("noise.limn", NOISE)
        self.write("machine.limn", MACHINE)
        self.write("loose.limn", NET.replace(" : ", ":").replace("measure", "# a note\nmeasure"))
        rows = [((7 * i) % 11) / 4 - 1 for i in range(24)]
        self.write("x.npy", npy(rows[:8], (2, 4)))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr(zipfile.ZipInfo("x.npy"), npy(rows, (6, 4)))
            z.writestr(zipfile.ZipInfo("y.npy"), npy([i % 3 for i in range(6)], (6,)))
        self.write("set.npz", packed.getvalue())
        self.write("set.csv", "a,b,c,d,kind\n" + "".join("%g,%g,%g,%g,%s\n" % (*rows[4 * i:4 * i + 4], "pq"[i % 2]) for i in range(6)))
        images = bytes((5 * i) % 256 for i in range(6 * 16))
        self.write("set-idx3-ubyte", struct.pack(">IIII", 0x803, 6, 4, 4) + images)
        self.write("packed-idx3-ubyte.gz", gzip.compress(struct.pack(">IIII", 0x803, 6, 4, 4) + images, mtime=0))
        for kind in "ab":
            for i in range(3):
                os.makedirs(os.path.join(self.base, "pics", kind), exist_ok=True)
                png(os.path.join(self.base, "pics", kind, "%d.png" % i), 40 * i + ord(kind))
        self.must("train", "net.limn", "--out", "part", "--pause", "3", "--quiet", "--reference")
        self.must("train", "net.limn", "--out", "whole", "--quiet", "--reference")
        self.must("train", "noise.limn", "--out", "noise", "--quiet", "--reference")
        self.want = run_hash(os.path.join(self.base, "whole"))

    def must(self, *argument):
        done = self.run(self.base, argument)
        if done.status != 0:
            raise SystemExit("the ground cannot be laid: limn %s: %s %s" % (" ".join(argument), done.status, done.err.decode(errors="replace")))
        return done

    def copy(self):
        to = tempfile.mkdtemp(dir=self.top)
        work = os.path.join(to, "w")
        shutil.copytree(self.base, work)
        return work

    def drop(self, work):
        shutil.rmtree(os.path.dirname(work), ignore_errors=True)

    def run(self, work, argument, env=None, limn=None, before=None, timeout=TIMEOUT, stdout=None, **how):
        all_env = {"PATH": os.environ["PATH"], "HOME": self.top, "LIMN_CACHE": self.cache, "LC_ALL": "C.UTF-8"}
        for key, value in (env or {}).items():
            all_env.pop(key, None)
            if value is not None:
                all_env[key] = value
        if any(k.startswith("TORTURE") for k in all_env):
            all_env["LD_PRELOAD"] = self.shim
        p = subprocess.Popen([limn or self.limn, *argument], cwd=work, env=all_env, stdin=subprocess.DEVNULL, stdout=stdout or subprocess.PIPE,
                             stderr=subprocess.PIPE, preexec_fn=before, start_new_session=True, **how)
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            return Outcome(None, out or b"", err)
        return Outcome(p.returncode, out or b"", err)

    def expect(self, name):
        """What the verb gives when nobody attacks it."""
        work = self.copy()
        done = self.run(work, VERBS[name])
        if done.status != 0:
            raise SystemExit("%s: %s %s" % (name, done.status, done.err.decode(errors="replace")))
        self.expected[name] = result(work, name, done)
        self.drop(work)


# What is attacked: each verb, with what it leaves (see `result`).
REFERENCE = ["--reference"]
VERBS = {
    "check": ["check", "net.limn", "--who"],
    "draw": ["draw", "net.limn", "net", "-o", "made.svg"],
    "eval": ["eval", "net.limn", "net", "--in", "x.npy", "--from", "whole"],
    "measure": ["eval", "net.limn", "--from", "whole"] + REFERENCE,
    "train": ["train", "net.limn", "--steps", "2", "--out", "new", "--quiet"] + REFERENCE,
    "resume": ["train", "net.limn", "--resume", "part", "--every", "1", "--quiet"] + REFERENCE,
    "predict": ["predict", "net.limn", "net", "--from", "whole", "--in", "x=x.npy", "--out", "made.npy"] + REFERENCE,
    "run": ["run", "machine.limn", "--out", "new", "--quiet"] + REFERENCE,
    "report": ["report", "net.limn", "--from", "whole"] + REFERENCE,
    "fmt": ["fmt", "loose.limn"],
    "print": ["print", "net.limn", "--after", "gradient"],
    "sample": ["sample", "noise.limn", "gen", "--from", "noise", "--n", "3", "--out", "made.npy"] + REFERENCE,
    "data": ["data", "pics"],
    "runs": ["runs", "."],
    "check json": ["check", "net.limn", "--json"],
    "draw json": ["draw", "net.limn", "net", "-o", "-", "--json"],
    "print json": ["print", "net.limn", "net", "--json"],
    "predict json": ["predict", "net.limn", "net", "--from", "whole", "--in", "x=x.npy", "--json"] + REFERENCE,
    "report json": ["report", "net.limn", "--from", "whole", "--json"] + REFERENCE,
}


def run_hash(folder):
    try:
        with open(os.path.join(folder, "run.json")) as f:
            return json.load(f).get("hash")
    except (OSError, ValueError):
        return None


def digest(path):
    try:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    except OSError:
        return None


def page_digest(path):
    """A page without its times."""
    try:
        with open(path, "rb") as f:
            text = f.read()
    except OSError:
        return None
    return hashlib.sha256(re.sub(rb"\d[\d.:]* ?(s|ms|min|h)\b|\d{4}-\d\d-\d\d[^<]*", b"", text)).hexdigest()


def result(work, name, done):
    """What a verb answered, as far as it is the same each time."""
    at = lambda f: os.path.join(work, f)
    if name in ("train", "resume"):
        return run_hash(at("part" if name == "resume" else "new"))
    if name == "run":
        return digest(at("new/Lag.csv")) or sorted(f for f in os.listdir(at("new")) if f.endswith(".csv"))
    if name == "report":
        return os.path.exists(at("whole/report.html"))
    if name in ("predict", "sample"):
        return digest(at("made.npy"))
    if name == "draw":
        return digest(at("made.svg"))
    if name == "fmt":
        return digest(at("loose.limn"))
    if name == "runs":
        return done.out.count(b"\n")
    return hashlib.sha256(done.out).hexdigest()


def halves(work):
    """Files that were begun and are not whole."""
    return [os.path.join(d, f) for d, _, files in os.walk(work) for f in files if f.endswith(".part")]


def faults_of(ground, work, name, done, swept=True):
    """What is wrong after a verb under attack: "" or a sentence. `swept`: nothing half-written may be left."""
    if done.status is None:
        return "hangs"
    if done.status < 0 or done.status > 3:
        return "ends by signal %d" % -done.status if done.status < 0 else "status %d" % done.status
    said = done.out + done.err
    if b"Sanitizer" in said or b"Assertion" in said:
        return "a fault of its own: " + said.decode(errors="replace")[-300:]
    if done.status and not said.strip():
        return "status %d without a word" % done.status
    if swept and halves(work):
        return "leaves " + os.path.relpath(halves(work)[0], work)
    if done.status == 0:
        have = result(work, name, done)
        if have != ground.expected[name]:
            return "status 0 and another result: %s, wanted %s" % (have, ground.expected[name])
    return ""


def goes_on(ground, work, folder="part"):
    """A paused run that was attacked goes on without an attack, to the same end."""
    done = ground.run(work, ["train", "net.limn", "--resume", folder, "--quiet"] + REFERENCE)
    if done.status != 0:
        return "cannot go on afterwards: status %s: %s" % (done.status, done.err.decode(errors="replace").strip()[-200:])
    have = run_hash(os.path.join(work, folder))
    return "" if have == ground.want else "goes on to another end: %s, wanted %s" % (have, ground.want)
