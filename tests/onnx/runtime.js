// A model run by ONNX Runtime, npm's onnxruntime-node; ort.js says where it is looked for.
//   node runtime.js --look                       exit status 0: it is there
//   node runtime.js MODEL OUT IN…                IN are npy files of floats, in the order of the inputs; OUT is one, of the first output
const fs = require("fs");
const { ort, writeNpy } = require("./ort.js");
if (process.argv[2] === "--look") process.exit(ort ? 0 : 1);

function readNpy(file) {
  const bytes = fs.readFileSync(file), n = bytes.readUInt16LE(8), head = bytes.toString("latin1", 10, 10 + n);
  const shape = /'shape': \(([^)]*)\)/.exec(head)[1].split(",").filter((s) => s.trim()).map(Number), count = shape.reduce((a, b) => a * b, 1);
  const wide = head.includes("<f8"), data = new Float32Array(count);
  for (let i = 0; i < count; i++) data[i] = wide ? bytes.readDoubleLE(10 + n + 8 * i) : bytes.readFloatLE(10 + n + 4 * i);
  return new ort.Tensor("float32", data, shape);
}

(async () => {
  const [, , model, out, ...given] = process.argv;
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const feeds = {};
  given.forEach((file, i) => { feeds[session.inputNames[i]] = readNpy(file); });
  const y = (await session.run(feeds))[session.outputNames[0]];
  writeNpy(out, y.dims, Float32Array.from(y.data));
})();
