/**
 * The logs of several replicas as one, by the time at which their lines were written. Pure.
 *
 * Each log is in order by itself, and is known from some line on. Invariant: nothing is shown before a line that was not
 * read yet, so what is told begins where all logs are known.
 */
import type { LogLine } from "./buffer";

export interface Part {
  name: string;
  lines: readonly LogLine[];
  /** Number of its first line, null: not known. */
  first: number | null;
  atStart: boolean;
}

export interface MergedLine extends LogLine {
  who: number;
  number: number | null;
}

export interface Merged {
  lines: MergedLine[];
  /** By part: whether what it lacks above keeps others' lines back. */
  lacking: boolean[];
  /** Some log has no times: its lines stand before the others'. */
  untimed: boolean;
}

/** By when the lines of one log were written; one that nobody knows of counts as the one before it. */
function keysOf(lines: readonly LogLine[]): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return lines.map((line) => {
    last = Math.max(last, line.by ?? last);
    return last;
  });
}

export function merge(parts: readonly Part[]): Merged {
  const keys = parts.map((part) => keysOf(part.lines));
  const starts = parts.map((part, i) =>
    part.atStart ? Number.NEGATIVE_INFINITY : (keys[i]?.[0] ?? Number.NEGATIVE_INFINITY),
  );
  const horizon = Math.max(Number.NEGATIVE_INFINITY, ...starts);
  const all: { key: number; line: MergedLine }[] = [];
  parts.forEach((part, who) => {
    part.lines.forEach((line, i) => {
      const key = keys[who]?.[i] ?? Number.NEGATIVE_INFINITY;
      if (key >= horizon)
        all.push({ key, line: { ...line, who, number: part.first === null ? null : part.first + i } });
    });
  });
  all.sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1)); // stable: by replica, then by line
  return {
    lines: all.map((one) => one.line),
    lacking: parts.map((part, i) => !part.atStart && starts[i] === horizon),
    untimed: parts.some((part) => part.lines.length > 0 && part.lines.every((line) => line.by == null)),
  };
}
