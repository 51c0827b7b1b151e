// How the lines of a file end. The editor and limn see lines that end by \n; the file keeps its own ends, each line that was not
// edited those it had, so that undo gives every byte back. A \r that ends no line is a character like others.

/** The text as the editor has it. */
export const plainText = (raw: string): string => raw.replace(/\r\n/g, "\n");

const PAIRS = 4_000_000; // of lines that are compared one by one; beyond, edited parts get the end that most lines have

/** For each line of `now` the line of `old` that it is, -1: a new one. What is common at both ends first; between, the longest that is common. */
function matched(old: string[], now: string[]): Int32Array {
  const found = new Int32Array(now.length).fill(-1);
  let top = 0;
  while (top < old.length && top < now.length && old[top] === now[top]) found[top] = top++;
  let [a, b] = [old.length, now.length];
  while (a > top && b > top && old[a - 1] === now[b - 1]) found[--b] = --a;
  const [n, m] = [a - top, b - top];
  if (!n || !m || n * m > PAIRS) return found;
  const longest = Array.from({ length: n + 1 }, () => new Int32Array(m + 1));
  for (let i = n - 1; i >= 0; i--) for (let k = m - 1; k >= 0; k--) longest[i][k] = old[top + i] === now[top + k] ? longest[i + 1][k + 1] + 1 : Math.max(longest[i + 1][k], longest[i][k + 1]);
  for (let i = 0, k = 0; i < n && k < m; ) {
    if (old[top + i] === now[top + k]) found[top + k++] = top + i++;
    else if (longest[i + 1][k] >= longest[i][k + 1]) i++;
    else k++;
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
