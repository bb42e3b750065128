/** Searching a log on the server, a bounded piece per call, and walking over the hits. */
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../../../api/client";
import type { LogHits } from "../../../api/types";
import { searchLog, type TaskAddress } from "../../../api/watch";

const PER_CALL = 200;
const TYPING_MS = 300;

export interface Search {
  text: string;
  regex: boolean;
  hits: LogHits["items"];
  done: boolean;
  busy: boolean;
  bad: string;
  at: number;
  mark: RegExp | null;
  setText: (text: string) => void;
  setRegex: (regex: boolean) => void;
  step: (by: 1 | -1) => void;
}

/** `of`: the question that was answered. Until it is the newest question, nothing is known: not even that nothing was found. */
interface Found {
  of: string;
  hits: LogHits["items"];
  next: number;
  done: boolean;
  bad: string;
}

const NOTHING: Found = { of: "", hits: [], next: 0, done: true, bad: "" };

export function markOf(text: string, regex: boolean): RegExp | null {
  if (text === "") return null;
  try {
    return new RegExp(regex ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g");
  } catch {
    return null;
  }
}

export function useLogSearch(address: TaskAddress, initial: string, goTo: (line: number) => void): Search {
  const [text, setText] = useState(initial);
  const [regex, setRegex] = useState(false);
  const [state, setFound] = useState<Found>(NOTHING);
  const [reading, setReading] = useState(false);
  const [at, setAt] = useState(-1);
  const abort = useRef<AbortController | null>(null);

  const of = `${regex ? "regex" : "text"}:${text}`;
  const current = text === "" || state.of === of;
  const found = current ? state : NOTHING;
  const busy = reading || !current;

  const read = useCallback(
    async (from: number, before: LogHits["items"]): Promise<LogHits["items"]> => {
      abort.current?.abort();
      const control = new AbortController();
      abort.current = control;
      setReading(true);
      let hits = before;
      let next = from;
      try {
        for (let done = false; !done && hits.length === before.length; ) {
          const answer = await searchLog(address, text, regex, next, PER_CALL, control.signal);
          hits = hits.concat(answer.items);
          next = answer.next_offset;
          done = answer.done;
          setFound({ of, hits, next, done, bad: "" });
        }
        return hits;
      } catch (error) {
        if (!control.signal.aborted)
          setFound({
            of,
            hits: before,
            next: from,
            done: true,
            bad: error instanceof ApiError ? error.message : String(error),
          });
        return before;
      } finally {
        if (abort.current === control) setReading(false);
      }
    },
    [address, text, regex, of],
  );

  useEffect(() => {
    setAt(-1);
    if (text === "") return undefined;
    const timer = setTimeout(() => {
      void read(0, []).then((hits) => {
        const line = hits[0]?.line;
        if (line != null) {
          setAt(0);
          goTo(line);
        }
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.current?.abort();
    };
  }, [read, text, goTo]);

  const step = useCallback(
    (by: 1 | -1): void => {
      const go = (hits: LogHits["items"], to: number): void => {
        const index = (to + hits.length) % hits.length;
        const line = hits[index]?.line;
        setAt(index);
        if (line != null) goTo(line);
      };
      if (found.hits.length === 0) return;
      if (by === 1 && at + 1 >= found.hits.length && !found.done)
        void read(found.next, found.hits).then((hits) => go(hits, at + 1));
      else go(found.hits, at + by);
    },
    [at, found, goTo, read],
  );

  return {
    text,
    regex,
    hits: found.hits,
    done: found.done,
    busy,
    bad: found.bad,
    at,
    mark: markOf(text, regex),
    setText,
    setRegex,
    step,
  };
}
