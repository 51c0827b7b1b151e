

def planned(how, steps):
    """How many rounds there will be: what schedules read."""
    steps = steps or how["steps"]
    if not steps:
        raise ValueError("how many steps are planned depends on data that were not there when this was written: say steps")
    return steps


def mean_over_uses(values):
    """The mean of the next values of a state, each with the number of uses of which it is the mean."""
    return sum(value * uses for value, uses in values) / sum(uses for _, uses in values)


def begins(name, fronts):
    return (name + ".").startswith(fronts)


def save(model, path):
    """Weights and states as a safetensors file, under limn's names."""
    plain = {".".join(word.strip("_") for word in key.split(".")): x for key, x in arrays(model).items()}
    header, data = {}, b""
    for name in PATHS:
        key = ".".join(word.replace(".", "_").strip("_") for word in name.split("/"))
        x = np.asarray(plain[key], order="C")  # a number stays one
        kind = {"f8": "F64", "f4": "F32", "i8": "I64", "i4": "I32"}.get(x.dtype.str[1:], "U8")
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def main():
    import argparse
    ask = argparse.ArgumentParser(description="Trains on the arrays of an npz file, each called as what is given.")
    ask.add_argument("data", nargs="?", help="FILE.npz, or a safetensors file")
    ask.add_argument("--weights", help="a safetensors file to begin with")
    ask.add_argument("--out", default="trained.safetensors")
    for name in ("epochs", "steps", "batch", "seed"):
        ask.add_argument("--" + name, type=int, default=0)
    how = ask.parse_args()
    path = how.data or ""
    data = read_safetensors(path) if path.endswith(".safetensors") else dict(np.load(path)) if path else {}
    model = start(how.weights, how.seed)
    save(train(model, data, None, how.epochs, how.steps, how.batch, how.seed), how.out)


if __name__ == "__main__":
    main()
