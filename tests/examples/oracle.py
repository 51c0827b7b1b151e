"""What the examples are compared with, computed by numpy.

  oracle.py angle RUN ROWS           largest angle between the learned plane and that of the exact principal components
  oracle.py lloyd RUN ROWS           energy of the learned centres, by that of the best of ten runs of Lloyd's algorithm
  oracle.py pca ROWS WIDTH           error on the test images that principal components leave, as `l2` counts it
  oracle.py classes SCORES           the rarest class among samples, and how sure the reader is of them
  oracle.py order SCORES             how many of ten pictures in order are read as 0, 1, …, 9
  oracle.py grey SAMPLES ROWS        mean of the samples' pixels, by that of the images
  oracle.py flat SAMPLES OUT         rows of pictures as one row of pictures
ROWS is what `limn data NAME --out F.safetensors` writes.
"""
import json
import struct
import sys

import numpy as np


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": "<f4", "F64": "<f8", "I32": "<i4"}
    out = {}
    for name, x in json.loads(data[8 : 8 + n]).items():
        if name != "__metadata__":
            i, j = x["data_offsets"]
            out[name] = np.frombuffer(data[8 + n + i : 8 + n + j], kinds[x["dtype"]]).reshape(x["shape"])
    return out


def components(x, width):
    mean = x.mean(0)
    values, vectors = np.linalg.eigh((x - mean).T @ (x - mean))
    return mean, vectors[:, -width:]


def angle(run, rows):
    plane = load(run + "/model.safetensors")["dec/dense/linear/W"].astype("f8")
    x = load(rows)["x_train"].astype("f8")
    _, exact = components(x, len(plane))
    q = np.linalg.qr(plane.T)[0]
    return np.arcsin(min(1, np.linalg.norm(q - exact @ (exact.T @ q), 2)))


def distances(x, centre):
    return ((x[:, None] - centre[None]) ** 2).sum(2)


def lloyd_once(x, centre):
    while True:
        near = distances(x, centre).argmin(1)
        moved = np.array([x[near == k].mean(0) if (near == k).any() else centre[k] for k in range(len(centre))])
        if np.allclose(moved, centre, atol=1e-9):
            return distances(x, moved).min(1).mean()
        centre = moved


def lloyd(run, rows):
    centre = load(run + "/model.safetensors")["centre"].astype("f8")
    x = load(rows)["x_train"].astype("f8")
    draw = np.random.default_rng(0)
    best = min(lloyd_once(x, x[draw.choice(len(x), len(centre), False)]) for _ in range(10))
    return distances(x, centre).min(1).mean() / best


def pca(rows, width):
    sets = load(rows)
    x = sets["image_train"].reshape(len(sets["image_train"]), -1)
    test = sets["image_test"].reshape(len(sets["image_test"]), -1)
    mean, vectors = components(x, int(width))
    rest = (test - mean) - (test - mean) @ vectors @ vectors.T
    return 0.5 * (rest.astype("f8") ** 2).sum(1).mean()


def classes(scores):
    s = np.load(scores).astype("f8")
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return "%g %g" % (np.bincount(p.argmax(1), minlength=10).min() / len(p), p.max(1).mean())


def order(scores):
    return (np.load(scores).argmax(1) == np.arange(10)).sum()


def grey(samples, rows):
    return np.load(samples).mean() / load(rows)["image_train"].mean()


def flat(samples, out):
    x = np.load(samples)
    np.save(out, x.reshape(-1, *x.shape[-2:]))
    return len(x)


print(globals()[sys.argv[1]](*sys.argv[2:]))
