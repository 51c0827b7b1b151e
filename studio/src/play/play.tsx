// Things to play with, as the program offers them: games, machines, learners with sliders.

import { useEffect, useState } from "preact/hooks";
import { ask } from "../client";
import type { NumberEntry } from "../protocol";
import { drawn, path, pictures } from "../state";
import { editor } from "../workbench";
import { Attention, readers } from "./attention";
import { Game } from "./game";
import { Machines } from "./machine";
import { Sliders } from "./sliders";

export type Kind = "game" | "machine" | "attention" | "learner";

function kindsOf(numbers: NumberEntry[]): Kind[] {
  const text = path.value ? editor.text : "";
  const kinds: Kind[] = [];
  if (/^\s*learn\s+[^#\n]*\bsimplex\s*\[/m.test(text)) kinds.push("game");
  if (/^\s*run\s/m.test(text) || pictures.value.some((p) => p.kind === "machine" || p.kind === "wiring")) kinds.push("machine");
  if (readers(text).length) kinds.push("attention");
  if (pictures.value.some((p) => p.kind === "learner" || p.kind === "box")) kinds.push("learner");
  void numbers;
  return kinds;
}

const TITLES: Record<Kind, string> = { game: "Game", machine: "Machines", attention: "Attention", learner: "Learners and boxes" };

export function Play() {
  const [numbers, setNumbers] = useState<NumberEntry[]>([]);
  const [kind, setKind] = useState<Kind | null>(null);
  const version = drawn.value?.version;
  useEffect(() => {
    ask<NumberEntry[]>("limn/numbers")
      .then((n) => Array.isArray(n) && setNumbers(n))
      .catch(() => {});
  }, [version, path.value]);
  const kinds = kindsOf(numbers);
  const now = kind && kinds.includes(kind) ? kind : kinds[0];
  if (!now)
    return (
      <p class="soft">
        This program has nothing to play with: no game (a learner in a <code>simplex</code>), no machine, no learner. The gallery under <b>Learn</b> has all of them.
      </p>
    );
  return (
    <div class="play">
      {kinds.length > 1 && (
        <div class="segments" role="group" aria-label="What to play with">
          {kinds.map((k) => (
            <button key={k} aria-pressed={k === now} onClick={() => setKind(k)}>
              {TITLES[k]}
            </button>
          ))}
        </div>
      )}
      {now === "game" && <Game numbers={numbers} key={path.value} />}
      {now === "machine" && <Machines numbers={numbers} key={path.value} />}
      {now === "attention" && <Attention key={path.value} />}
      {now === "learner" && <Sliders key={path.value} />}
    </div>
  );
}
