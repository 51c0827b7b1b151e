# Boxes written in limn against numbers computed here: runs `limn eval` on one file for each case and compares.
import json, os, struct, subprocess, sys, tempfile
import numpy as np

LIMN = os.environ.get("LIMN", "build/limn")
folder = tempfile.TemporaryDirectory()


def safetensors(path):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        head, data = json.loads(f.read(n)), f.read()
    kinds = {"F64": np.float64, "F32": np.float32}
    return {
        k: np.frombuffer(data[v["data_offsets"][0] : v["data_offsets"][1]], kinds[v["dtype"]]).reshape(v["shape"])
        for k, v in head.items()
        if k != "__metadata__"
    }


def save_safetensors(path, arrays):
    head, data = {}, b""
    for k, v in arrays.items():
        b = np.ascontiguousarray(v, np.float64).tobytes()
        head[k] = {"dtype": "F64", "shape": list(np.shape(v)), "data_offsets": [len(data), len(data) + len(b)]}
        data += b
    h = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(h)) + h + data)


class Failed(Exception):
    pass


def start(text, box, arrays, name, dy=None, weights=None, ones=False, save=False):
    """Starts limn; finish() gives (result, gradients, weights)."""
    base = os.path.join(folder.name, name)
    with open(base + ".limn", "w") as f:
        f.write(text)
    args = [LIMN, "eval", base + ".limn", box, "--out", base + ".out.npy"]
    for k, v in arrays.items():
        np.save(f"{base}.{k}.npy", np.asarray(v, np.float64))
        args += ["--in", f"{k}={base}.{k}.npy"]
    if weights is not None:
        save_safetensors(base + ".w", weights)
        args += ["--weights", base + ".w"]
    if dy is not None:
        np.save(base + ".dy.npy", np.asarray(dy, np.float64))
        args += ["--dy", base + ".dy.npy", "--grads", base + ".g"]
    if ones:  # a cotangent of ones
        args += ["--grads", base + ".g"]
    if save:
        args += ["--save", base + ".s"]
    process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish():
        said, _ = process.communicate()
        if process.returncode:
            raise Failed(f"exit {process.returncode}\n{said}")
        return np.load(base + ".out.npy"), safetensors(base + ".g") if dy is not None or ones else None, safetensors(base + ".s") if save else None

    return finish


def check(text, name):
    base = os.path.join(folder.name, name)
    with open(base + ".limn", "w") as f:
        f.write(text)
    done = subprocess.run([LIMN, "check", base + ".limn"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Failed(done.stdout)


def differs(got, want, tol=1e-10):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, wanted {want.shape}"
    same = (got == want) | (np.abs(got - want) <= tol * (1 + np.abs(want)))
    return None if np.all(same) else f"got\n{got}\nwanted\n{want}"


failures = 0


def report(name, problem, text=""):
    global failures
    if problem is None:
        print("ok", name)
        return
    failures += 1
    print("not ok", name)
    print("\n".join("    " + line for line in (text.rstrip() + "\n" + str(problem)).splitlines()))
