# differ.py A B: the learners whose weights differ between two model.safetensors, in the order of the alphabet.
import json
import struct
import sys


def read(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    table = json.loads(data[8 : 8 + n])
    table.pop("__metadata__", None)
    return {k: data[8 + n + v["data_offsets"][0] : 8 + n + v["data_offsets"][1]] for k, v in table.items()}


a, b = read(sys.argv[1]), read(sys.argv[2])
print(" ".join(sorted({k.split("/")[0] for k in a if a[k] != b.get(k)})))
