// Learners and boxes as ONNX models, run by ONNX Runtime on 20 random inputs, against `limn predict` in double precision.
//   node compare.js LIMN WORK [--precision 64] [--eval] [--round] FILE NAME…     every pair is one line of the table
// --round: the model is imported again, and what the imported program says is compared too, on 2 inputs.
// Weights are those that the program starts with, each moved a little, so that none is 0 or 1. Exit status 1: one of them differs.
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { ort, writeNpy } = require("../onnx/ort.js");
if (process.argv[2] === "--look") process.exit(ort ? 0 : 1);

const [, , limn, work, ...rest] = process.argv;
let precision = "32";
if (rest[0] === "--precision") { precision = rest[1]; rest.splice(0, 2); }
const byEval = rest[0] === "--eval"; // the interpreter: nothing is compiled; and all must be there
if (byEval) rest.shift();
const round = rest[0] === "--round";
if (round) rest.shift();
const N = round ? 2 : 20;
let state = 12345;
const uniform = () => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return ((state >>> 8) + 0.5) / 16777216; };
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
const run = (...args) => execFileSync(limn, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 30 });

// Every float of a safetensors file moved by less than 0.1; labels and bits stay.
function moveWeights(file) {
  const bytes = fs.readFileSync(file), n = Number(bytes.readBigUInt64LE(0)), head = JSON.parse(bytes.toString("utf8", 8, 8 + n));
  for (const [name, t] of Object.entries(head)) {
    if (name === "__metadata__" || t.dtype !== "F32") continue;
    for (let at = 8 + n + t.data_offsets[0]; at < 8 + n + t.data_offsets[1]; at += 4) bytes.writeFloatLE(bytes.readFloatLE(at) + 0.2 * (uniform() - 0.5), at);
  }
  fs.writeFileSync(file, bytes);
}

// How many labels each input has: from the header of its diagram, the last one that is printed.
function labelCounts(file, name) {
  const lines = run("print", file, name).split("\n").filter((l) => l.startsWith("diagram "));
  const head = lines[lines.length - 1], inside = head.slice(head.indexOf("(") + 1);
  const counts = [];
  let depth = 0, part = "";
  for (const c of inside) {
    depth += "[{(".includes(c) ? 1 : "]})".includes(c) ? -1 : 0;
    if ((c === "," && !depth) || depth < 0) { if (part.trim()) counts.push(Number((/: \{(\d+)\}/.exec(part) || [0, 1])[1])); part = ""; } else part += c;
    if (depth < 0) break;
  }
  return counts;
}

function flat(x, out) {
  if (Array.isArray(x)) for (const y of x) flat(y, out);
  else out.push(x === "nan" ? NaN : x === "inf" ? Infinity : x === "-inf" ? -Infinity : typeof x === "boolean" ? Number(x) : x);
  return out;
}

// What the program says that the model becomes when it is imported.
function imported(model, given) {
  const program = path.join(work, "again.limn");
  run("import", model, "-o", program);
  return Object.values(JSON.parse(run("eval", program, "model", "--json", ...given)).values).map((x) => flat(x, []));
}

const said = (e) => String((e.stderr && e.stderr.length && e.stderr) || e.message || e).split("\n").find((l) => l.trim()) || "";

async function one(file, name) {
  const weights = path.join(work, "w.safetensors"), model = path.join(work, "m.onnx");
  try { run("export", file, name, "--as", "safetensors", "-o", weights); } catch (e) { return { none: said(e) }; }
  moveWeights(weights);
  try { run("export", file, name, "--as", "onnx", "-o", model, "--weights", weights, "--precision", precision); } catch (e) { return { refused: said(e) }; }
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const counts = labelCounts(file, name), feeds = {}, given = [];
  session.inputMetadata.forEach((x, i) => {
    const shape = x.shape.map((d) => (typeof d === "number" ? d : d === "N" ? N : 6)), count = shape.reduce((a, b) => a * b, 1);
    const data = Array.from({ length: count }, () => (x.type === "int64" ? Math.floor(uniform() * counts[i]) : x.type === "bool" ? Number(uniform() < 0.5) : Math.fround(normal())));
    const typed = x.type === "int64" ? BigInt64Array.from(data.map(BigInt)) : x.type === "bool" ? Uint8Array.from(data) : x.type === "float64" ? Float64Array.from(data) : Float32Array.from(data);
    feeds[x.name] = new ort.Tensor(x.type, typed, shape);
    const npy = path.join(work, `x${i}.npy`);
    writeNpy(npy, shape, Float64Array.from(data));
    given.push("--in", npy);
  });
  const begun = process.hrtime.bigint();
  const got = await session.run(feeds);
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  let text;
  if (byEval) text = run("eval", file, name, "--weights", weights, "--json", ...given);
  else try { text = run("predict", file, name, "--from", weights, "--precision", "64", "--json", ...given); } catch (e) {
    text = run("eval", file, name, "--weights", weights, "--json", ...given);
  }
  const want = Object.values(JSON.parse(text).values).map((x) => flat(x, []));
  let worst = 0;
  const again = round ? imported(model, given) : null;
  session.outputNames.forEach((n, i) => {
    const y = round ? again[i] : Array.from(got[n].data, Number);
    if (y.length !== want[i].length) throw new Error(`${n} has ${y.length} numbers, not ${want[i].length}`);
    let size = 0, far = 0;
    for (let k = 0; k < y.length; k++) {
      if (Object.is(want[i][k], y[k]) || want[i][k] === y[k]) continue;
      if (Number.isFinite(want[i][k])) size = Math.max(size, Math.abs(want[i][k]));
      far = Math.max(far, Number.isNaN(y[k] - want[i][k]) ? Infinity : Math.abs(y[k] - want[i][k]));
    }
    for (const v of want[i]) if (Number.isFinite(v)) size = Math.max(size, Math.abs(v));
    worst = Math.max(worst, far ? far / (size || 1) : 0);
  });
  session.release();
  return { worst, seconds, bytes: fs.statSync(model).size };
}

(async () => {
  const sum = { equal: 0, differs: 0, refused: 0, none: 0 };
  for (let i = 0; i + 1 < rest.length; i += 2) {
    let r;
    try { r = await one(rest[i], rest[i + 1]); } catch (e) { r = { fault: said(e) }; }
    const what = `${path.basename(rest[i])} ${rest[i + 1]}`;
    if (r.none !== undefined) sum.none++, console.log(`# ${what}: stands alone nowhere: ${r.none}`);
    else if (r.refused) sum.refused++, console.log(`# ${what}: refused: ${r.refused}`);
    else if (r.fault || !(r.worst <= 1e-5)) sum.differs++, console.log(`not ok ${what}: ${r.fault || "differs by " + r.worst.toExponential(1)}`);
    else sum.equal++, console.log(`ok ${what}: ${r.worst.toExponential(1)}, ${r.bytes} bytes, ${(1000 * r.seconds).toFixed(1)} ms`);
  }
  console.log(`# ${sum.equal} equal to 1e-5, ${sum.differs} differ, ${sum.refused} refused, ${sum.none} that stand alone nowhere`);
  if (byEval && sum.refused + sum.none) console.log("not ok all of them leave");
  process.exit(sum.differs ? 1 : 0);
})();
