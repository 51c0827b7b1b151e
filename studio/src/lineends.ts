// How the lines of a file end. The editor and limn see lines that end by \n; the file keeps its own ends, each line that it had
// the one it had, so that undo gives every byte back. A \r that ends no line is a character like others.

/** The text as the editor has it. */
export const plainText = (raw: string): string => raw.replace(/\r\n/g, "\n");

const MOST_CHANGES = 2000; // lines that came or went; beyond, edited parts get the end that most lines have
const MOST_PAIRS = 10_000; // of edited lines that are compared letter by letter

interface Part {
  old: number;
  now: number;
}

/** The lines that both have, by the shortest way from one to the other (Myers): what is compared are changes, not lines. */
function common(old: string[], now: string[]): Part[] {
  const far: Int32Array[] = []; // for each number of changes: how far in `old` each diagonal comes
  const most = Math.min(old.length + now.length, MOST_CHANGES);
  let last = new Int32Array([0, 0, 0]);
  for (let d = 0; d <= most; d++) {
    const next = new Int32Array(2 * d + 5); // diagonal k stands at k + d + 2
    for (let k = -d; k <= d; k += 2) {
      const down = d > 0 && (k === -d || (k !== d && last[k + d] < last[k + d + 2]));
      let x = d === 0 ? 0 : down ? last[k + d + 2] : last[k + d] + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      next[k + d + 2] = x;
      if (x >= old.length && x - k >= now.length) return walk(far, old.length, now.length);
    }
    far.push((last = next));
  }
  return [];
}

/** The same way back: whatever is not a change is common. */
function walk(far: Int32Array[], n: number, m: number): Part[] {
  const found: Part[] = [];
  let [x, y] = [n, m];
  for (let d = far.length; d >= 0; d--) {
    const before = far[d - 1];
    const k = x - y;
    const down = d > 0 && (k === -d || (k !== d && before[k + d] < before[k + d + 2]));
    const from = d === 0 ? 0 : down ? before[k + d + 2] : before[k + d] + 1; // where the common lines of this diagonal begin
    while (x > from) found.push({ old: --x, now: --y });
    if (down) y--;
    else x--;
  }
  return found.reverse();
}

/** How much of two lines is alike at their beginnings and ends; a little, where nothing is. */
function alike(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let [head, tail] = [0, 0];
  while (head < most && a[head] === b[head]) head++;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return 0.01 + (head + tail) / (Math.max(a.length, b.length) || 1);
}

/** Edited lines: the pairs in order that are most alike, the later ones where it is the same, since a new line begins before an end that was there. */
function paired(old: string[], now: string[], put: (i: number, k: number) => void): void {
  const [n, m] = [old.length, now.length];
  if (n * m > MOST_PAIRS) return;
  const best = Array.from({ length: n + 1 }, () => new Float64Array(m + 1));
  for (let i = 1; i <= n; i++) for (let k = 1; k <= m; k++) best[i][k] = Math.max(best[i - 1][k], best[i][k - 1], best[i - 1][k - 1] + alike(old[i - 1], now[k - 1]));
  for (let i = n, k = m; i > 0 && k > 0; ) {
    if (best[i][k] === best[i - 1][k - 1] + alike(old[i - 1], now[k - 1])) put(--i, --k);
    else if (best[i][k] === best[i - 1][k]) i--;
    else k--;
  }
}

/** For each line of `now` the line of `old` that it is, or was before it was edited; -1: a new one. What both begin and end with stays
 * as it is, so that one edit among lines that are the same moves none of them. */
function matched(old: string[], now: string[]): Int32Array {
  const found = new Int32Array(now.length).fill(-1);
  let top = 0;
  while (top < old.length && top < now.length && old[top] === now[top]) found[top] = top++;
  let [a, b] = [old.length, now.length];
  while (a > top && b > top && old[a - 1] === now[b - 1]) found[--b] = --a;
  const parts = common(old.slice(top, a), now.slice(top, b)).map((c) => ({ old: c.old + top, now: c.now + top }));
  let [i, k] = [top, top];
  for (const c of [...parts, { old: a, now: b }]) {
    paired(old.slice(i, c.old), now.slice(k, c.now), (x, y) => (found[k + y] = i + x));
    if (c.now < b) found[c.now] = c.old;
    [i, k] = [c.old + 1, c.now + 1];
  }
  return found;
}

export class LineEnds {
  private readonly usual: string; // the end that most lines have
  private lines: string[] = []; // of a file that has both
  private ends: string[] = [];

  constructor(raw: string) {
    const both = raw.match(/\r\n/g)?.length ?? 0;
    const all = raw.split("\n").length - 1;
    this.usual = both * 2 > all ? "\r\n" : "\n";
    if (both && both < all) {
      this.lines = plainText(raw).split("\n");
      this.ends = raw.match(/\r?\n/g)!;
    }
  }

  /** The text as the file has it. */
  of(text: string): string {
    if (!this.lines.length) return this.usual === "\n" ? text : text.replace(/\n/g, this.usual);
    const now = text.split("\n");
    const from = matched(this.lines, now);
    return now.map((line, i) => (i === now.length - 1 ? line : line + (this.ends[from[i]] ?? this.usual))).join("");
  }
}
