/** Where values lie on an axis from 0 to 1, and what its marks say: numbers by size or by order of magnitude, words side by side. Pure. */
import type { Scalar } from "../../api/types";
import { number } from "../../shared/format";

export interface Mark {
  at: number;
  label: string;
}

export interface Place {
  /** Null: it has none, and the axis has no place for what is not set. */
  of: (value: Scalar | undefined) => number | null;
  marks: Mark[];
}

/** Numbers that differ by as much are told apart only by their magnitude. */
const WIDE = 50;
const MARKS = 5;

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const wordOf = (value: Scalar | undefined): string => (value == null ? "–" : String(value));
/** So much of an axis lies below its numbers where one is not set. */
const BELOW = 0.16;

/** The axis of these values: words where one of them is no number. `unset`: what is said at the foot of the axis for those that are missing. */
export function placeOf(values: readonly (Scalar | undefined)[], unset?: string): Place {
  const there = values.filter((value) => value != null);
  if (unset !== undefined && there.length < values.length) return withUnset(placeOf(there), unset);
  if (there.length > 0 && there.every(isNumber)) return numbers(there);
  const words = [...new Set(values.map(wordOf))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const at = (word: string): number => (words.length > 1 ? words.indexOf(word) / (words.length - 1) : 0.5);
  return { of: (value) => at(wordOf(value)), marks: words.map((label) => ({ at: at(label), label })) };
}

function withUnset({ of, marks }: Place, label: string): Place {
  const up = (at: number): number => BELOW + at * (1 - BELOW);
  return {
    of: (value) => {
      const at = value == null ? null : of(value);
      return at === null ? 0 : up(at);
    },
    marks: [{ at: 0, label }, ...marks.map((mark) => ({ ...mark, at: up(mark.at) }))],
  };
}

function numbers(values: readonly number[]): Place {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (low === high) return { of: (value) => (isNumber(value) ? 0.5 : null), marks: [{ at: 0.5, label: number(low) }] };
  const wide = low > 0 && high / low >= WIDE;
  const size = wide ? Math.log10 : (value: number): number => value;
  const at = (value: number): number => (size(value) - size(low)) / (size(high) - size(low));
  const marks = (wide ? powers(low, high) : rounds(low, high)).map((value) => ({
    at: at(value),
    label: number(value),
  }));
  return { of: (value) => (isNumber(value) ? at(value) : null), marks };
}

/** Powers of ten between two numbers, and the two themselves where there are fewer than two. */
function powers(low: number, high: number): number[] {
  const found: number[] = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power += 1)
    found.push(10 ** power);
  const every = Math.ceil(found.length / (MARKS + 1));
  const few = found.filter((_, i) => i % every === 0);
  return few.length > 1 ? few : [low, high];
}

/** Round numbers between two. */
function rounds(low: number, high: number): number[] {
  const rough = (high - low) / MARKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10) * power;
  const found: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

/** A line through the points that are there; a gap where one is not, or where the way to it is not among the `drawn`. */
export function pathOf(
  at: readonly (number | null)[],
  toX: (i: number) => number,
  toY: (at: number) => number,
  drawn: (i: number) => boolean = () => true,
): string {
  let pen = "M";
  return at
    .map((place, i) => {
      if (place === null) {
        pen = "M";
        return "";
      }
      if (!drawn(i)) pen = "M";
      const part = `${pen}${toX(i).toFixed(1)} ${toY(place).toFixed(1)}`;
      pen = "L";
      return part;
    })
    .join("");
}
