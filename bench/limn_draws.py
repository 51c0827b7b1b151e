"""Which samples limn trains on, and the files that it writes: for peers that see the same batches.

Batches are a function of seed, stream and number (src/io/data/sampling.c); the stream of the first `given` over a set
that has a name is told by that name and its split (src/run/feed/streams.c).
"""
import json
import math

import numpy

WORD, FEW, ROUNDS = (1 << 64) - 1, 4096, 4
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def site_hash(parent, name):
    h = mix(parent + GOLDEN & WORD)
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 & WORD
    return mix(h) & ~1


def site_step(site, position):
    return mix(site ^ mix(position + GOLDEN & WORD))


def stream_of(name, split="train"):
    return site_step(site_hash(site_hash(0, name), split), 0)


def table(key, n):
    place = [0] * n
    for i in range(n):
        j = (mix(key + GOLDEN * (i + 1) & WORD) >> 32) * (i + 1) >> 32
        place[i] = place[j]
        place[j] = i
    return place


def hash_below(v, key, size):
    h = (v ^ key) * 0x9E3779B1
    h = ((h ^ h >> 32) & 0xFFFFFFFF) * 0x85EBCA77
    return ((h ^ h >> 32) & 0xFFFFFFFF) * size >> 32


def place_of(key, n, i):
    """A permutation of 0 … n-1 that is computed, not stored."""
    a = math.isqrt(n - 1) + 1
    b = -(-n // a)
    keys = []
    for k in range(0, ROUNDS, 2):
        bits = mix(key + GOLDEN * (k + 1) & WORD)
        keys += [bits & 0xFFFFFFFF, bits >> 32]
    while True:
        left, right = divmod(i, b)
        for k in range(0, ROUNDS, 2):
            left = (left + hash_below(right, keys[k], a)) % a
            right = (right + hash_below(left, keys[k + 1], b)) % b
        i = left * b + right
        if i < n:
            return i


def starts(rows, window, batch, seed, stream):
    """Where the windows of each batch begin, batch after batch; an epoch is a pass, whose last batch may be short."""
    samples = max(rows // window, 1)
    number = 0
    while True:
        key = mix(mix(mix(seed) + stream & WORD) + number & WORD)
        first = mix(~key & WORD) % window if rows > window else 0
        places = table(key, samples) if samples <= FEW else [place_of(key, samples, i) for i in range(samples)]
        for at in range(0, samples, batch):
            yield [first + place * window for place in places[at:at + batch]]
        number += 1


def read_safetensors(path):
    kinds = {"F32": numpy.float32, "F64": numpy.float64, "I32": numpy.int32, "I64": numpy.int64}
    data = numpy.memmap(path, numpy.uint8, "r")
    end = 8 + int(data[:8].view(numpy.uint64)[0])
    arrays = {}
    for name, entry in json.loads(bytes(data[8:end])).items():
        if name != "__metadata__":
            low, high = entry["data_offsets"]
            arrays[name] = data[end + low:end + high].view(kinds[entry["dtype"]]).reshape(entry["shape"])
    return arrays
