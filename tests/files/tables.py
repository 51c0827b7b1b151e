#!/usr/bin/env python3
"""A random table in every form that limn reads, and programs that read them.

    tables.py FOLDER SEED      writes files, and on the standard output a line for each run: GROUP PROGRAM
Programs of one group must make the same run. `later.csv` has some of the words only, in another order, and
`later.numbers` the labels that they are.
"""
import csv, gzip, io, os, random, struct, sys, zlib
import numpy

folder, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def put(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def table(head, rows, separator=",", ends="\n", always=False):
    out = io.StringIO()
    w = csv.writer(out, delimiter=separator, lineterminator=ends, quoting=csv.QUOTE_ALL if always else csv.QUOTE_MINIMAL)
    w.writerows([head] + rows)
    return out.getvalue().encode()


def png(pixels):
    h, w = pixels.shape
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    raw = b"".join(b"\0" + bytes(row.tolist()) for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def idx(x):
    return struct.pack(">HBB", 0, 8, x.ndim) + struct.pack(">%dI" % x.ndim, *x.shape) + x.tobytes()


def program(name, text):
    put(name + ".limn", text.encode())
    print(name.split("_")[0], name + ".limn")


# -- numbers and words ----------------------------------------------------------------------------
words = rng.sample(["oak", "ash tree", "elm, old", 'say "fir"', "12", "1e3", "7b", "Öl", "ä", "Zeder", "zeder", "nan", "NA", "-", "x;y"], rng.randint(2, 5))
if all(w in ("12", "1e3", "nan", "NA") for w in words): words[0] = "oak"
words.sort(key=lambda w: w.encode())
n, m, c = rng.randint(24, 60), rng.randint(1, 4), len(words)
x = numpy.array([[round(rng.gauss(0, 2), rng.randint(0, 9)) for _ in range(m)] for _ in range(n)])
k = numpy.array([i if i < c else rng.randrange(c) for i in range(n)])
rng.shuffle(k)
head = ["col %d" % i for i in range(m)] + ["kind"]
rows = [[repr(float(v)) for v in x[i]] + [words[k[i]]] for i in range(n)]
put("t.csv", table(head, rows))
put("packed.csv.gz", gzip.compress(table(head, rows, always=True)))
put("semicolon.csv", b"\xef\xbb\xbf" + table(head, rows, ";", "\r\n"))
put("tabs.tsv", table(head, rows, "\t"))
first = rng.randrange(m + 1)  # words need not come last
turned = [r[:first] + r[m:] + r[first:m] for r in [head] + rows]
put("turned.csv", table(turned[0], turned[1:]))
numpy.savez("t.npz", x=x, k=k)
numpy.savez_compressed("packed.npz", k=k.astype(">i2"), x=numpy.asfortranarray(x))
numpy.savez("bytes.npz", x=x.astype(">f8"), k=k.astype("u1"))
body = """learn f : R[%d] -> R[%d] = dense[5] ; tanh ; dense[%d]
goal fit : f(%%s) ~ %%s   by cross_entropy
train 7 steps, batch 5, adam(0.01)
box which(j: {%d}) -> R[] = number(j)
""" % (m, c, c, c)
for file in ("t.csv", "packed.csv.gz", "semicolon.csv", "tabs.tsv", "turned.csv", "t.npz", "packed.npz", "bytes.npz"):
    program("table_" + file.replace(".", "_"), 'given x : R[%d], k : {%d} from "%s"\n' % (m, c, file) + body % ("x", "k"))
program("table_renamed", 'given a : R[%d], zz : {%d} from "t.csv"\n' % (m, c) + body % ("a", "zz"))
program("table_late", (body % ("x", "k")).replace("train", 'given x : R[%d], k : {%d} from "t.csv"\ntrain' % (m, c)))
later = [rng.randrange(1, c) for _ in range(9)]
put("later.csv", table(["kind", "more"], [[words[i], "0"] for i in later]))
put("later.numbers", ("[%s]\n" % ", ".join(str(i) for i in later)).encode())

# -- pictures -------------------------------------------------------------------------------------
h, w = rng.randint(2, 4), rng.randint(2, 4)
names = sorted(rng.sample(["bird", "cat", "dog", "eel", "fox"], rng.randint(2, 3)))
c, n = len(names), rng.randint(20, 40)
label = numpy.sort(numpy.array([i if i < c else rng.randrange(c) for i in range(n)]))
image = numpy.array([[[rng.randrange(256) for _ in range(w)] for _ in range(h)] for _ in range(n)], dtype="u1")
for i in range(n):
    put("animals/%s/%03d.png" % (names[label[i]], i), png(image[i]))
    put("walls/%03d.png" % i, png(image[i]))
numpy.savez("animals.npz", image=image, label=label)
put("animals.csv", table(["p%d" % i for i in range(h * w)] + ["animal"],
                         [[repr(v / 255) for v in image[i].flatten().tolist()] + [names[label[i]]] for i in range(n)]))
body = """learn f : R[%d %d] -> R[%d] = flatten ; dense[%d]
goal fit : f(image) ~ label   by cross_entropy
train 7 steps, batch 5, adam(0.01)
""" % (h, w, c, c)
for file in ("animals", "animals.npz", "animals.csv"):
    program("picture_" + file.replace(".", "_"), 'given image : R[%d %d], label : {%d} from "%s"\n' % (h, w, c, file) + body)

# -- one array ------------------------------------------------------------------------------------
numpy.save("walls.npy", image)
numpy.save("turned.npy", numpy.asfortranarray(image))
numpy.savez("walls.npz", image=image)
put("walls-idx3-ubyte", idx(image))
put("walls-idx3-ubyte.gz", gzip.compress(idx(image)))
body = """learn m : R[%d %d] = normal
goal fit : m * image ~ image   by l2
train 7 steps, batch 5, adam(0.01)
""" % (h, w)
for file in ("walls", "walls.npy", "turned.npy", "walls.npz", "walls-idx3-ubyte", "walls-idx3-ubyte.gz"):
    program("array_" + file.replace(".", "_"), 'given image : R[%d %d] from "%s"\n' % (h, w, file) + body)
