/**
 * The cells of a Jupyter notebook (nbformat 4) and what they put out. Pure.
 *
 * Invariant: what comes out of here is text, or a picture in an address that holds all of it. Of HTML and scripts, in
 * cells as in outputs, only the source is given.
 */

export interface Output {
  kind: "text" | "error" | "picture" | "source";
  text: string;
}

export interface Cell {
  kind: "code" | "markdown" | "raw";
  /** How often code had run when this did; null: never. */
  count: number | null;
  source: string;
  outputs: Output[];
}

type Thing = Record<string, unknown>;

const isThing = (value: unknown): value is Thing =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
/** Texts stand there whole, or as lines. */
const text = (value: unknown): string =>
  Array.isArray(value) ? value.map((one) => String(one)).join("") : typeof value === "string" ? value : "";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** An `<img>` runs no script of an SVG and loads nothing for it. */
export const svgAddress = (svg: string): string => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

function shown(data: Thing): Output[] {
  for (const type of PICTURES) {
    const bytes = text(data[type]).replace(/\s+/g, "");
    if (BASE64.test(bytes)) return [{ kind: "picture", text: `data:${type};base64,${bytes}` }];
  }
  const svg = text(data["image/svg+xml"]);
  if (svg !== "") return [{ kind: "picture", text: svgAddress(svg) }];
  const plain = text(data["text/plain"]);
  if (plain !== "") return [{ kind: "text", text: plain }];
  const [first] = Object.values(data);
  const source = text(first) || (first === undefined ? "" : JSON.stringify(first, null, 2));
  return source === "" ? [] : [{ kind: "source", text: source }];
}

function outputOf(raw: unknown): Output[] {
  if (!isThing(raw)) return [];
  if (raw["output_type"] === "stream") return [{ kind: "text", text: text(raw["text"]) }];
  if (raw["output_type"] === "error") {
    const trace = list(raw["traceback"]).map(String).join("\n");
    return [{ kind: "error", text: trace || `${text(raw["ename"])}: ${text(raw["evalue"])}` }];
  }
  return isThing(raw["data"]) ? shown(raw["data"]) : [];
}

function cellOf(raw: unknown): Cell[] {
  if (!isThing(raw)) return [];
  const kind = raw["cell_type"];
  const count = raw["execution_count"];
  return [
    {
      kind: kind === "code" || kind === "markdown" ? kind : "raw",
      count: typeof count === "number" ? count : null,
      source: text(raw["source"]),
      outputs: list(raw["outputs"]).flatMap(outputOf),
    },
  ];
}

/** The cells of a notebook; null: it is none. */
export function cellsOf(source: string): Cell[] | null {
  try {
    const read: unknown = JSON.parse(source);
    return isThing(read) && Array.isArray(read["cells"]) ? read["cells"].flatMap(cellOf) : null;
  } catch {
    return null;
  }
}
