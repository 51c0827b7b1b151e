// What docs/protocol.md says, as types.

export interface Position {
  line: number;
  character: number;
}
export interface Range {
  start: Position;
  end: Position;
}
export interface TextEdit {
  range: Range;
  newText: string;
}
export interface Diagnostic {
  range: Range;
  severity?: number; // 1 error, 2 warning, 3 and 4 less
  message: string;
  relatedInformation?: { location: { uri: string; range: Range }; message: string }[];
}

export interface About {
  home: "studio" | "playground";
  folder: string;
  open: string | null;
  examples: Example[];
  can: string[];
  version?: string;
}
export type Example = string | { name?: string; path?: string; text?: string; doc?: string };
export interface FileEntry {
  path: string;
  kind: "program" | "run" | "model" | "data";
  state?: string;
}

export interface PictureName {
  name: string;
  kind: "goals" | "box" | "learner" | "goal" | "diagram" | "machine" | "wiring";
}
export interface Looked {
  uri: string;
  version: number;
  errors: number;
  pictures: PictureName[];
}
export type View = "plain" | "lens" | "grad" | "who" | "unfold";
export type Level = "learner" | "model" | "layer";
export interface Picture {
  name: string | null;
  version: number;
  picture: string;
  text: string;
  cost?: unknown;
}
export interface PaletteBox {
  name: string;
  header: string;
  doc: string;
  group: string;
  from: string;
  fits?: unknown;
  wants?: string[]; // options that have to be written
}
export interface EditAnswer {
  edits: TextEdit[];
  select?: Range | null;
  note?: string | null;
}
export type Numbers = number | Numbers[];
export interface NumberEntry {
  name: string;
  kind: "const" | "axis" | "parameter" | "option" | "start";
  value: Numbers;
  range: Range;
  least?: number | null;
  most?: number | null;
}
export interface Tensor {
  name?: string;
  shape: number[];
  data: number[];
}

export interface Run {
  run: string;
  program: string;
  state: string; // running, paused, finished, stopped, failed …
  message?: string; // why it failed
  step: number;
  steps: number;
  epoch?: number;
  seconds?: number;
  losses?: Record<string, number>;
  measures?: Record<string, number>;
  settings?: Record<string, number | null>; // what can be changed while it goes on
  changes?: { step: number; what: string; value: number }[];
}
export interface Metrics {
  names: string[];
  rows: (number | null)[][];
  next: number;
}
export interface Shown {
  name: string;
  file?: string;
  svg?: string;
  caption?: string;
}
