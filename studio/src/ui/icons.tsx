// The page's few signs, drawn on a grid of 20 with one pen.

const paths: Record<string, string> = {
  side: "M3 4h14v12H3z M8 4v12",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11z M13 13l4 4",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7z M10 2v1.5 M10 16.5V18 M2 10h1.5 M16.5 10H18 M4.3 4.3l1.1 1.1 M14.6 14.6l1.1 1.1 M4.3 15.7l1.1-1.1 M14.6 5.4l1.1-1.1",
  moon: "M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z",
  play: "M6 4l10 6l-10 6z",
  pause: "M6.5 4v12 M13.5 4v12",
  stop: "M5 5h10v10H5z",
  curve: "M3 4v12h14 M5.5 8c2 0 2 5 4.5 5s3-2 6-2",
  learn: "M10 5.5C8 4 5 4 3 4.5v11c2-.5 5-.5 7 1c2-1.5 5-1.5 7-1v-11c-2-.5-5-.5-7 1z M10 5.5v11",
  dice: "M4 4h12v12H4z M7.5 7.5h.01 M12.5 12.5h.01 M12.5 7.5h.01 M7.5 12.5h.01",
  text: "M4 5h12 M4 10h8 M4 15h10",
  picture: "M2 10h4 M14 10h4 M6 6h8v8H6z",
  files: "M5 3h7l3 3v11H5z M12 3v3h3",
  plus: "M10 4v12 M4 10h12",
  minus: "M4 10h12",
  fit: "M3 7V3h4 M13 3h4v4 M17 13v4h-4 M7 17H3v-4",
  close: "M5 5l10 10 M15 5L5 15",
  more: "M5 10h.01 M10 10h.01 M15 10h.01",
  down: "M5 8l5 5l5-5",
  right: "M8 5l5 5l-5 5",
  left: "M12 5l-5 5l5 5",
  out: "M10 3v10 M6 7l4-4l4 4 M4 13v4h12v-4",
  undo: "M7 4L3 8l4 4 M3 8h8a5 5 0 0 1 0 10H8",
};

export function Icon({ name }: { name: keyof typeof paths | string }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** A button that is a sign alone: its name is said, and shown where one points. */
export function IconButton(p: { name: string; label: string; onClick: () => void; pressed?: boolean; disabled?: boolean; hint?: string }) {
  return (
    <button class="icon-button" aria-label={p.label} title={p.hint ? `${p.label} (${p.hint})` : p.label} aria-pressed={p.pressed} disabled={p.disabled} onClick={p.onClick}>
      <Icon name={p.name} />
    </button>
  );
}
