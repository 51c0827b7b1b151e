// A picture's text to elements, of which only drawing is let in: no scripts, no styles, no addresses but those inside the picture
// and images that are data. Pictures come from limn, but a program's words are in them, and a run folder may be anybody's.

const ELEMENTS = new Set(
  "svg g path use defs title desc rect circle ellipse line polyline polygon clipPath image text tspan mask linearGradient radialGradient stop pattern symbol marker".split(" "),
);
const ATTRIBUTES = new Set(
  (
    "id class d x y x1 y1 x2 y2 cx cy r rx ry width height viewBox points transform fill stroke stroke-width stroke-dasharray " +
    "stroke-linecap stroke-linejoin fill-rule clip-rule clip-path mask opacity fill-opacity stroke-opacity offset stop-color " +
    "stop-opacity gradientUnits gradientTransform preserveAspectRatio role aria-label image-rendering font-size font-family " +
    "font-style font-weight text-anchor dominant-baseline vector-effect patternUnits href xlink:href"
  ).split(" "),
);
const SAFE_ADDRESS = /^#[\w\-.]+$|^data:image\/(png|jpeg);base64,[A-Za-z0-9+/=\s]+$/;

function clean(e: Element): void {
  for (const a of [...e.attributes]) {
    const kept = ATTRIBUTES.has(a.name) || /^data-[a-z-]+$/.test(a.name);
    const address = a.name === "href" || a.name === "xlink:href";
    if (!kept || (address && !SAFE_ADDRESS.test(a.value)) || /url\s*\((?!\s*#)/i.test(a.value)) e.removeAttributeNode(a);
  }
  for (const child of [...e.children]) {
    if (ELEMENTS.has(child.localName) && child.namespaceURI === "http://www.w3.org/2000/svg") clean(child);
    else child.remove();
  }
}

/** The picture as an element of this page, or null where the text is no picture. */
export function readPicture(text: string): SVGSVGElement | null {
  // The page styles inks by itself; a style sheet would be refused by its policy, with a word in the console, and so would the one
  // style that limn writes, which is an attribute as well.
  const plain = text.replace(/<style\b[^]*?<\/style>/g, "").replaceAll(' style="image-rendering:pixelated"', ' image-rendering="pixelated"');
  const parsed = new DOMParser().parseFromString(plain, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.localName !== "svg" || parsed.querySelector("parsererror")) return null;
  clean(root);
  return document.importNode(root, true) as unknown as SVGSVGElement;
}
