/** The next and the previous line that tells of a failure, found by the server's search from the line that is looked at. */
import { useCallback, useEffect, useRef, useState } from "react";
import { searchLog, type TaskAddress } from "../../../api/watch";
import { FAILURE } from "./severity";

const PER_CALL = 500;

interface Known {
  lines: number[];
  next: number;
  done: boolean;
}

export interface Failures {
  busy: boolean;
  /** Whether there is one; it is gone to. */
  step: (by: 1 | -1, from: number | null) => Promise<boolean>;
}

/** The line to go to from `from` (null: from the end), of those known so far; null: none that is known. Pure. */
export function nextFailure(lines: readonly number[], by: 1 | -1, from: number | null): number | null {
  if (by === 1) return lines.find((line) => line > (from ?? -1)) ?? null;
  return lines.filter((line) => from === null || line < from).at(-1) ?? null;
}

export function useFailures(address: TaskAddress, goTo: (line: number) => void): Failures {
  const known = useRef<Known>({ lines: [], next: 0, done: false });
  const [busy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies(address): what is known is of this log.
  useEffect(() => {
    known.current = { lines: [], next: 0, done: false };
  }, [address]);
  const step = useCallback(
    async (by: 1 | -1, from: number | null): Promise<boolean> => {
      const k = known.current;
      k.done = false; // the log may have grown
      setBusy(true);
      try {
        for (;;) {
          const last = k.lines.at(-1) ?? -1;
          const enough = by === 1 ? last > (from ?? -1) : from !== null && last >= from;
          if (enough || k.done) break;
          const answer = await searchLog(address, FAILURE, true, k.next, PER_CALL);
          k.lines.push(...answer.items.map((hit) => hit.line).filter((line) => line > last));
          k.next = answer.next_offset;
          k.done = answer.done;
        }
        const found = nextFailure(k.lines, by, from);
        if (found !== null) goTo(found);
        return found !== null;
      } finally {
        setBusy(false);
      }
    },
    [address, goTo],
  );
  return { busy, step };
}
