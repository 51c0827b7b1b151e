// A model run by ONNX Runtime, npm's onnxruntime-node: in $LIMN_ORT, in build/onnxruntime, or where node finds it.
//   node runtime.js --look                       exit status 0: it is there
//   node runtime.js MODEL OUT IN…                IN are npy files of floats, in the order of the inputs; OUT is one, of the first output
const fs = require("fs");
const path = require("path");
const places = [process.env.LIMN_ORT, path.resolve(process.env.BUILD || "build", "onnxruntime"), "."].filter(Boolean);
const find = () => {
  for (const p of places) {
    try { return require(require.resolve("onnxruntime-node", { paths: [path.resolve(p)] })); } catch (e) { /* not there */ }
  }
  return null;
};
const ort = find();
if (process.argv[2] === "--look") process.exit(ort ? 0 : 1);

function readNpy(file) {
  const bytes = fs.readFileSync(file), n = bytes.readUInt16LE(8), head = bytes.toString("latin1", 10, 10 + n);
  const shape = /'shape': \(([^)]*)\)/.exec(head)[1].split(",").filter((s) => s.trim()).map(Number), count = shape.reduce((a, b) => a * b, 1);
  const wide = head.includes("<f8"), data = new Float32Array(count);
  for (let i = 0; i < count; i++) data[i] = wide ? bytes.readDoubleLE(10 + n + 8 * i) : bytes.readFloatLE(10 + n + 4 * i);
  return new ort.Tensor("float32", data, shape);
}

function writeNpy(file, shape, data) {
  let head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.map((x) => x + ",").join(" ")}), }`;
  head += " ".repeat(63 - ((head.length + 10) % 64)) + "\n";
  const bytes = Buffer.alloc(10 + head.length + 4 * data.length);
  bytes.write("\x93NUMPY\x01\x00", 0, "latin1");
  bytes.writeUInt16LE(head.length, 8);
  bytes.write(head, 10, "latin1");
  for (let i = 0; i < data.length; i++) bytes.writeFloatLE(data[i], 10 + head.length + 4 * i);
  fs.writeFileSync(file, bytes);
}

(async () => {
  const [, , model, out, ...given] = process.argv;
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const feeds = {};
  given.forEach((file, i) => { feeds[session.inputNames[i]] = readNpy(file); });
  const y = (await session.run(feeds))[session.outputNames[0]];
  writeNpy(out, y.dims, y.data);
})();
