/** What a person chose for the list and finds again: whose jobs, which columns and in which order. Kept in this browser. */
import { useState } from "react";

const COLUMNS = "trainmaster.jobs.columns";
const WHO = "trainmaster.jobs.who";

function read<T>(key: string, known: (value: unknown) => T | undefined): T | undefined {
  try {
    return known(JSON.parse(localStorage.getItem(key) ?? "null"));
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  if (value === undefined) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(value));
}

/** Names of columns in order; undefined: nobody has chosen, so the page may leave out what does not fit. */
export function useColumnChoice<T extends string>(
  isKnown: (key: unknown) => key is T,
): [T[] | undefined, (keys: T[] | undefined) => void] {
  const [keys, setKeys] = useState(() =>
    read(COLUMNS, (value) => (Array.isArray(value) ? [...new Set(value.filter(isKnown))] : undefined)),
  );
  return [
    keys,
    (next) => {
      write(COLUMNS, next);
      setKeys(next);
    },
  ];
}

/** Whose jobs were looked at last; at first everybody's that may be seen. */
export const lastWho = (): "mine" | "all" => read(WHO, (value) => (value === "mine" ? value : "all")) ?? "all";
export const keepWho = (who: "mine" | "all"): void => write(WHO, who);
