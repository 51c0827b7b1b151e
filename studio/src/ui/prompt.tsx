// A small form in the middle of the page, as a promise: what was filled in, or null where nobody wanted to.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Field {
  name: string;
  label: string;
  value?: string;
  offers?: string[];
  hint?: string;
}
interface Form {
  title: string;
  fields: Field[];
  button: string;
  done: (values: Record<string, string> | null) => void;
}
const form = signal<Form | null>(null);

export function fill(title: string, fields: Field[], button = "OK"): Promise<Record<string, string> | null> {
  form.value?.done(null);
  return new Promise((done) => (form.value = { title, fields, button, done }));
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
  useEffect(() => {
    if (f && !ref.current!.open) {
      ref.current!.showModal();
      ref.current!.querySelector("input")?.select();
    }
  }, [f]);
  if (!f) return null;
  const submit = (e: Event) => {
    e.preventDefault();
    const values = Object.fromEntries([...new FormData(e.currentTarget as HTMLFormElement)].map(([k, v]) => [k, String(v).trim()]));
    finish(values);
  };
  return (
    <dialog class="prompt" ref={ref} onClose={() => finish(null)} aria-label={f.title}>
      <form onSubmit={submit}>
        <h2>{f.title}</h2>
        {f.fields.map((field) => (
          <Input key={f.title + field.name} field={field} />
        ))}
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
