// What feeds an input of a learner or box: data, noise, or what another box gives. The calls of the program say so.

import { ask, host } from "../client";
import type { Tensor } from "../protocol";
import { path as program } from "../state";
import { callsOf, pieces, strip } from "./types";

export interface Feed {
  name: string; // as `given` calls it
  noise: boolean;
  from: string; // a set, or the path of a table
  isFile: boolean;
  field: string | number; // by its name, or by its place among the set's
}

/** A sample of what feeds an input, and between which numbers all of them are. */
export interface Fed {
  shape: number[];
  data: number[];
  low?: number;
  high?: number;
}

/** Everything that is given: `given x, kind from iris`, `given z from normal[2]`, `given height : R[] from "plants.csv"`. */
function givens(text: string): Feed[] {
  return [...strip(text).matchAll(/^\s*given\s+(.*?)\s+from\s+(?:"([^"]*)"|(\w+(?:\[[^\]]*\])?)(?:\.(\w+))?)/gm)].flatMap(([, names, file, set, field]) =>
    pieces(names).map((one, i): Feed => {
      const name = one.split(":")[0].trim();
      return { name, noise: /^(normal|uniform)\b/.test(set ?? ""), from: file ?? set, isFile: file !== undefined, field: file !== undefined ? name : (field ?? i) };
    }),
  );
}

/** What feeds input `i` of this box: what is given, null where it is something else, undefined where nothing in the program calls it. */
export function feedOf(box: string, i: number, text: string): Feed | null | undefined {
  const calls = callsOf(box, text);
  if (!calls.length) return undefined;
  const all = givens(text);
  return calls.map((args) => all.find((g) => g.name === args[i])).find(Boolean) ?? null;
}

/** A table beside the program: numbers by the names of its columns, as they stand in its first line. */
async function rowOf(path: string, column: string): Promise<Fed | null> {
  const { text } = await host<{ text: string }>("read", { path: (program.value ?? "").replace(/[^/]*$/, "") + path });
  const [head, ...rows] = text.trim().split(/\r?\n/).map((l) => l.split(/[,;\t]/).map((c) => c.trim().replace(/^"|"$/g, "")));
  const at = head.findIndex((c) => c.replace(/\s*\(.*\)$/, "") === column);
  const values = rows.map((r) => Number(r[at])).filter(Number.isFinite);
  if (at < 0 || !values.length) return null;
  return { shape: [], data: [values[Math.floor(values.length * Math.random())]], low: values.reduce((a, b) => Math.min(a, b)), high: values.reduce((a, b) => Math.max(a, b)) };
}

async function sampleAt(feed: Feed, at: number, about: boolean): Promise<Fed | null> {
  if (feed.noise) return null;
  if (feed.isFile) return rowOf(feed.from, String(feed.field));
  const answer = await ask<{ fields: Tensor[]; about?: { fields?: { name: string; low?: number; high?: number }[] } }>("limn/sample", { set: feed.from, at, about });
  const found = typeof feed.field === "number" ? answer.fields[feed.field] : answer.fields.find((f) => f.name === feed.field);
  if (!found) return null;
  const { low, high } = answer.about?.fields?.find((f) => f.name === found.name) ?? {};
  return { shape: found.shape, data: found.data, low, high };
}

export const sampleOf = (feed: Feed) => sampleAt(feed, Math.floor(1e6 * Math.random()), false);

const firsts = new Map<string, Promise<Fed | null>>();

/** The first sample, and how far all go. A set is read once for that, not with each letter that is typed. */
export function firstOf(feed: Feed): Promise<Fed | null> {
  const key = `${feed.from} ${feed.field}`;
  const known = firsts.get(key);
  if (known && !feed.isFile) return known;
  const first = sampleAt(feed, 0, true);
  firsts.set(key, first);
  first.catch(() => firsts.delete(key));
  return first;
}
