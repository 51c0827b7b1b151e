// Light and dark: by the system, or as the button last said.

import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";
const dark = matchMedia("(prefers-color-scheme: dark)");
const stored = (): Theme | null => {
  try {
    const t = localStorage.getItem("limn:theme");
    return t === "light" || t === "dark" ? t : null;
  } catch {
    return null;
  }
};

const own = signal<Theme | null>(stored());
const system = signal<Theme>(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => (system.value = dark.matches ? "dark" : "light"));

export const theme = (): Theme => own.value ?? system.value;

export function otherTheme(): void {
  const t: Theme = theme() === "dark" ? "light" : "dark";
  own.value = t === system.value ? null : t;
  try {
    if (own.value) localStorage.setItem("limn:theme", own.value);
    else localStorage.removeItem("limn:theme");
  } catch {
    // a browser without a store forgets it
  }
}

export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme();
  });
}

/** A colour of the page by its name, for what is painted and not styled. */
export const ink = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
