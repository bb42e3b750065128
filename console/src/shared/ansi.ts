/** Colours of terminal output (SGR sequences) as spans. Everything else that moves a cursor is dropped. Pure. */

export interface Span {
  text: string;
  style: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character.
const SEQUENCE = /\u001b\[([0-9;:]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-_]/g;

/** Classes `tm-fg-1`, `tm-bg-4`, `tm-b`...; the style sheet gives them their colours in light and dark. */
interface Pen {
  fg: string;
  bg: string;
  flags: Set<string>;
}

const FLAGS: Record<number, string> = { 1: "b", 2: "dim", 3: "i", 4: "u", 9: "s" };

function apply(pen: Pen, codes: number[]): void {
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(pen, { fg: "", bg: "", flags: new Set<string>() });
    else if (FLAGS[code]) pen.flags.add(`tm-${FLAGS[code]}`);
    else if (code === 22) for (const flag of ["tm-b", "tm-dim"]) pen.flags.delete(flag);
    else if (code >= 23 && code <= 29)
      pen.flags.delete(`tm-${FLAGS[code - 20]}`); // 23 ends 3, and so on
    else if (code >= 30 && code <= 37) pen.fg = `tm-fg-${code - 30}`;
    else if (code === 39) pen.fg = "";
    else if (code >= 40 && code <= 47) pen.bg = `tm-bg-${code - 40}`;
    else if (code === 49) pen.bg = "";
    else if (code >= 90 && code <= 97) pen.fg = `tm-fg-${code - 90}`;
    else if (code >= 100 && code <= 107) pen.bg = `tm-bg-${code - 100}`;
    else if (code === 38 || code === 48) {
      // 38;5;N, or 38;2;R;G;B: the first 16 of the palette are shown, all others are passed over.
      const index = codes[i + 1] === 5 ? codes[i + 2] : undefined;
      if (index !== undefined && index < 16)
        pen[code === 38 ? "fg" : "bg"] = `tm-${code === 38 ? "fg" : "bg"}-${index % 8}`;
      i += codes[i + 1] === 5 ? 2 : 4;
    }
  }
}

/** The spans of one line. A carriage return shows what a terminal would show: the last thing written over the line. */
export function ansi(line: string): Span[] {
  const returned = line.replace(/\r+$/, "");
  const visible = returned.slice(returned.lastIndexOf("\r") + 1);
  if (!visible.includes("\u001b")) return [{ text: visible, style: "" }];
  const spans: Span[] = [];
  const pen: Pen = { fg: "", bg: "", flags: new Set() };
  let at = 0;
  const push = (text: string): void => {
    if (text) spans.push({ text, style: [pen.fg, pen.bg, ...pen.flags].filter(Boolean).join(" ") });
  };
  for (const match of visible.matchAll(SEQUENCE)) {
    push(visible.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") apply(pen, (match[1] ?? "").split(/[;:]/).map(Number));
  }
  push(visible.slice(at));
  return spans;
}

export const plain = (line: string): string =>
  ansi(line)
    .map((span) => span.text)
    .join("");
