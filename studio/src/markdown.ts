// Markdown as the manual and the language server write it, to elements: headings, paragraphs, lists, tables, code, links. Nothing
// is ever put in as HTML.

export interface MarkdownHooks {
  /** A block of code; null where it is shown as it is. */
  code?: (text: string, language: string) => HTMLElement | null;
  link?: (address: string) => string | null;
}

function element(name: string, className = "", ...inside: (Node | string)[]): HTMLElement {
  const e = document.createElement(name);
  if (className) e.className = className;
  e.append(...inside);
  return e;
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*|!?\[([^\]]*)\]\(([^)\s]+)\)/g;

function inline(into: HTMLElement, text: string, hooks: MarkdownHooks): HTMLElement {
  let done = 0;
  for (const m of text.matchAll(INLINE)) {
    into.append(text.slice(done, m.index));
    done = m.index + m[0].length;
    if (m[1] !== undefined) into.append(element("code", "", m[1]));
    else if (m[2] !== undefined) into.append(inline(element("strong"), m[2], hooks));
    else if (m[3] !== undefined) into.append(inline(element("em"), m[3], hooks));
    else {
      const address = hooks.link?.(m[5]) ?? null;
      if (address && !m[0].startsWith("!")) {
        const a = element("a", "", m[4]) as HTMLAnchorElement;
        a.href = address;
        into.append(a);
      } else into.append(inline(element("span"), m[4], hooks));
    }
  }
  into.append(text.slice(done));
  return into;
}

export const anchorOf = (heading: string): string =>
  heading.toLowerCase().replace(/[^\w\- ]/g, "").trim().replace(/ /g, "-");

const cells = (row: string): string[] => row.replace(/^\s*\||\|\s*$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replace(/\\\|/g, "|"));

/** Reads line after line; each kind of block takes the lines that are its own. */
class Reader {
  private at = 0;
  constructor(
    private lines: string[],
    private hooks: MarkdownHooks,
  ) {}

  private while(test: (line: string) => boolean): string[] {
    const first = this.at;
    while (this.at < this.lines.length && test(this.lines[this.at])) this.at++;
    return this.lines.slice(first, this.at);
  }

  private fence(): HTMLElement {
    const language = this.lines[this.at++].replace(/^\s*```/, "").trim();
    const body = this.while((l) => !/^\s*```/.test(l)).join("\n");
    this.at++;
    return this.hooks.code?.(body, language) ?? element("pre", "", element("code", "", body));
  }

  private table(): HTMLElement {
    const rows = this.while((l) => /^\s*\|/.test(l));
    const head = element("tr");
    for (const c of cells(rows[0])) head.append(inline(element("th"), c, this.hooks));
    const body = element("tbody");
    for (const row of rows.slice(2)) {
      const tr = element("tr");
      for (const c of cells(row)) tr.append(inline(element("td"), c, this.hooks));
      body.append(tr);
    }
    return element("div", "table", element("table", "", element("thead", "", head), body));
  }

  private list(): HTMLElement {
    const ordered = /^\s*\d+\./.test(this.lines[this.at]);
    const list = element(ordered ? "ol" : "ul");
    const items = this.while((l) => /^\s*([*-]|\d+\.)\s/.test(l) || /^\s{2,}\S/.test(l));
    let text = "";
    const flush = () => text && list.append(inline(element("li"), text, this.hooks));
    for (const l of items) {
      const m = /^\s*(?:[*-]|\d+\.)\s+(.*)$/.exec(l);
      if (!m) {
        text += " " + l.trim();
        continue;
      }
      flush();
      text = m[1];
    }
    flush();
    return list;
  }

  block(): HTMLElement | null {
    const line = this.lines[this.at];
    if (!line.trim() || /^<!--.*-->$/.test(line.trim())) {
      this.at++;
      return null;
    }
    if (/^\s*```/.test(line)) return this.fence();
    const heading = /^(#{1,4})\s+(.*)$/.exec(line);
    if (heading) {
      this.at++;
      const h = inline(element(`h${heading[1].length}`), heading[2], this.hooks);
      h.id = "manual-" + anchorOf(h.textContent ?? "");
      return h;
    }
    if (/^\s*\|/.test(line)) return this.table();
    if (/^\s*([*-]|\d+\.)\s/.test(line)) return this.list();
    if (/^ {4}\S/.test(line)) return element("pre", "", element("code", "", this.while((l) => /^ {4}|^\s*$/.test(l)).map((l) => l.slice(4)).join("\n").trimEnd()));
    const words = this.while((l) => !!l.trim() && !/^(\s*```|#{1,4}\s|\s*\|)/.test(l));
    if (!words.length) words.push(this.lines[this.at++]);
    return inline(element("p"), words.join(" "), this.hooks);
  }

  get more(): boolean {
    return this.at < this.lines.length;
  }
}

export function markdown(text: string, hooks: MarkdownHooks = {}): HTMLElement {
  const whole = element("div", "said");
  const reader = new Reader(text.split("\n"), hooks);
  while (reader.more) {
    const block = reader.block();
    if (block) whole.append(block);
  }
  return whole;
}
