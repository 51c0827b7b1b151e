// ONNX Runtime, npm's onnxruntime-node: in $LIMN_ORT, in build/onnxruntime, or where node finds it; `ort` is null where it is not.
const fs = require("fs");
const path = require("path");
const places = [process.env.LIMN_ORT, path.resolve(process.env.BUILD || "build", "onnxruntime"), "."].filter(Boolean);
const find = () => {
  for (const p of places) {
    try { return require(require.resolve("onnxruntime-node", { paths: [path.resolve(p)] })); } catch (e) { /* not there */ }
  }
  return null;
};

// An npy file of a Float32Array or a Float64Array.
function writeNpy(file, shape, data) {
  let head = `{'descr': '<f${data.BYTES_PER_ELEMENT}', 'fortran_order': False, 'shape': (${shape.map((x) => x + ",").join(" ")}), }`;
  head += " ".repeat(63 - ((head.length + 10) % 64)) + "\n";
  const start = Buffer.alloc(10 + head.length);
  start.write("\x93NUMPY\x01\x00", 0, "latin1");
  start.writeUInt16LE(head.length, 8);
  start.write(head, 10, "latin1");
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

module.exports = { ort: find(), writeNpy };
