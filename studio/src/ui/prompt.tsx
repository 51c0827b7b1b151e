// A small form in the middle of the page, as a promise: what was filled in, or null where nobody wanted to. Where it is tried at once,
// it stays open with what was entered until it is taken, and says why it was not.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

export interface Field {
  name: string;
  label: string;
  value?: string;
  offers?: string[];
  hint?: string;
}
type Values = Record<string, string>;
/** Does what was asked; the sentence that refuses it, or null. */
export type Attempt = (values: Values) => Promise<string | null>;
interface Form {
  title: string;
  fields: Field[];
  button: string;
  attempt?: Attempt;
  done: (values: Record<string, string> | null) => void;
}
const form = signal<Form | null>(null);

export function fill(title: string, fields: Field[], button = "OK", attempt?: Attempt): Promise<Values | null> {
  form.value?.done(null);
  return new Promise((done) => (form.value = { title, fields, button, attempt, done }));
}

function finish(values: Record<string, string> | null): void {
  const f = form.value;
  form.value = null;
  f?.done(values);
}

function Input({ field }: { field: Field }) {
  const list = field.offers ? `offers-${field.name}` : undefined;
  return (
    <label class="field">
      <span>{field.label}</span>
      <input name={field.name} defaultValue={field.value ?? ""} list={list} autocomplete="off" spellcheck={false} />
      {field.hint && <small>{field.hint}</small>}
      {list && (
        <datalist id={list}>
          {field.offers!.map((o) => (
            <option key={o} value={o} />
          ))}
        </datalist>
      )}
    </label>
  );
}

export function Prompt() {
  const ref = useRef<HTMLDialogElement>(null);
  const f = form.value;
  const [refusal, setRefusal] = useState("");
  useEffect(() => setRefusal(""), [f]);
  useEffect(() => {
    if (f && !ref.current!.open) {
      ref.current!.showModal();
      ref.current!.querySelector("input")?.select();
    }
  }, [f]);
  if (!f) return null;
  const submit = async (e: Event) => {
    e.preventDefault();
    const values: Values = Object.fromEntries([...new FormData(e.currentTarget as HTMLFormElement)].map(([k, v]) => [k, String(v).trim()]));
    const sentence = (await f.attempt?.(values)) ?? null;
    if (form.value !== f) return;
    if (sentence === null) finish(values);
    else setRefusal(sentence);
  };
  return (
    <dialog class="prompt" ref={ref} onClose={() => finish(null)} aria-label={f.title}>
      <form onSubmit={(e) => void submit(e)}>
        <h2>{f.title}</h2>
        {f.fields.map((field) => (
          <Input key={f.title + field.name} field={field} />
        ))}
        {refusal && (
          <p class="fault-line" role="alert">
            {refusal}
          </p>
        )}
        <div class="row end">
          <button type="button" onClick={() => finish(null)}>
            Cancel
          </button>
          <button class="primary">{f.button}</button>
        </div>
      </form>
    </dialog>
  );
}
