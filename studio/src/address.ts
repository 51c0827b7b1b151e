// A program in an address: behind the `#` its name, and its text packed, so that a link shares it.

const MOST = 40_000; // letters: browsers take more, and those who pass links on do not
const MOST_TEXT = 4_000_000; // that a few letters may be packed from

const through = (bytes: BodyInit, how: CompressionStream | DecompressionStream) => new Response(new Response(bytes).body!.pipeThrough(how));

/** The address of a program; of one that is too large, none. */
export async function addressOf(name: string, text: string): Promise<string> {
  const bytes = new Uint8Array(await through(text, new CompressionStream("deflate-raw")).arrayBuffer());
  if (bytes.length > MOST / 2) return "#";
  return `#${encodeURIComponent(name)}:${btoa(String.fromCharCode(...bytes))}`;
}

/** The program of an address, or null where there is none; one that cannot be read is a program that says so. */
export async function programOf(address: string): Promise<{ name: string; text: string } | null> {
  if (address.length < 2) return null;
  try {
    const [, name, packed] = /^#([^:/]+):([\w+/=]+)$/.exec(address)!;
    if (packed.length > MOST) throw new Error();
    const text = await through(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw")).text();
    if (text.length > MOST_TEXT) throw new Error();
    return { name: decodeURIComponent(name).replace(/[^\w. -]|\.limn$/g, "") + ".limn", text };
  } catch {
    return { name: "link.limn", text: "# The program of this address cannot be read: perhaps a part of it was lost on the way.\n" };
  }
}
