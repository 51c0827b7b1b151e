// Sizes of a box's inputs, read from its header: enough to make a slider or a sheet for each. Axes and spaces that the program
// declares are looked up in its text.

export interface Input {
  name: string;
  shape: number[];
}

export const strip = (text: string) => text.replace(/#.*$/gm, "");

function axesOf(text: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const m of strip(text).matchAll(/^\s*axis\s+(.*)$/gm)) for (const a of m[1].matchAll(/(\w+)\s*=\s*(\d+)/g)) sizes.set(a[1], Number(a[2]));
  return sizes;
}

/** The sizes of a type such as `R[28 28]`, `R[code]` or a space's name; null where they are not known. */
export function shapeOf(type: string, text: string): number[] | null {
  const t = type.trim();
  const own = /^R\s*\[([^\]]*)\]/.exec(t);
  if (own) {
    const axes = axesOf(text);
    const sizes = own[1].trim() ? own[1].trim().split(/\s+/).map((a) => (/^\d+$/.test(a) ? Number(a) : (axes.get(a) ?? NaN))) : [];
    return sizes.some(Number.isNaN) ? null : sizes;
  }
  const space = /^\w+$/.test(t) && new RegExp(`^\\s*space\\s+${t}\\s*=\\s*(R\\s*\\[[^\\]]*\\])`, "m").exec(strip(text));
  return space ? shapeOf(space[1], text) : null;
}

/** Cuts at commas that stand in no bracket. */
export function pieces(text: string): string[] {
  const all: string[] = [];
  let depth = 0;
  let last = 0;
  [...text].forEach((c, i) => {
    if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
    else if (c === "," && !depth) {
      all.push(text.slice(last, i));
      last = i + 1;
    }
  });
  return [...all, text.slice(last)].map((p) => p.trim()).filter(Boolean);
}

/** `box f(a, b: R[3]) -> …`, `learn put : Face, R[] -> Face`: the inputs in order. */
export function inputsOf(header: string, text: string): Input[] | null {
  const call = /^(?:box|learn)\s+\w+\s*(?:\[[^\]]*\])?\s*\(([^)]*)\)/.exec(header);
  const arrow = /^learn\s+\w+\s*:\s*(.*?)->/.exec(header);
  if (!call && !arrow) return null;
  const list = pieces(call ? call[1] : arrow![1]);
  const inputs: { name: string; type: string }[] = [];
  let waiting: string[] = [];
  list.forEach((p, i) => {
    const typed = /^(\w+)\s*:\s*(.*)$/.exec(p);
    if (!call) inputs.push({ name: String(i), type: p });
    else if (!typed) waiting.push(p);
    else {
      for (const name of [...waiting, typed[1]]) inputs.push({ name, type: typed[2] });
      waiting = [];
    }
  });
  const sized = inputs.map((i) => ({ name: i.name, shape: shapeOf(i.type, text) }));
  return sized.every((s) => s.shape) ? (sized as Input[]) : null;
}

/** The arguments of each call of a box, as they are written. */
export function callsOf(box: string, text: string): string[][] {
  const plain = strip(text);
  return [...plain.matchAll(new RegExp(`\\b${box}\\s*(?:\\[[^\\]]*\\])?\\(`, "g"))]
    .filter((m) => !/\b(?:box|machine|wiring)\s+$/.test(plain.slice(0, m.index)))
    .map((m) => {
      const from = m.index + m[0].length;
      let [to, depth] = [from, 1];
      while (to < plain.length && depth) depth += { "(": 1, ")": -1 }[plain[to++]] ?? 0;
      return pieces(plain.slice(from, to - 1));
    });
}
