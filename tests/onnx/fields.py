"""Protocol buffers as they are on disk, read."""


def number(b, at):
    """The number at a place, and where it ends."""
    x = shift = 0
    while True:
        c = b[at]; at += 1
        x |= (c & 127) << shift; shift += 7
        if c < 128: return x, at


def parse(b):
    """A message: [field, kind, value] of each, where a value is a number or bytes."""
    at, out = 0, []
    while at < len(b):
        key, at = number(b, at)
        kind = key & 7
        if kind == 0: v, at = number(b, at)
        elif kind == 2:
            n, at = number(b, at)
            v, at = b[at:at + n], at + n
        else: v, at = b[at:at + (8 if kind == 1 else 4)], at + (8 if kind == 1 else 4)
        out.append([key >> 3, kind, v])
    return out
