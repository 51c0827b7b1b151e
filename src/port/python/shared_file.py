#: reader


def read_safetensors(path):
    """The arrays of a safetensors file, by name."""
    kinds = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
             "I32": np.int32, "U8": np.uint8, "BOOL": np.bool_}
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[begin:end], kinds[entry["dtype"]])
            arrays[name] = array.reshape(entry["shape"])
    return arrays
