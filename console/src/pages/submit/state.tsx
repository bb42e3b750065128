/** What the fields of the form share: the document, how to change it, and which problems to show where. */
import { createContext, useContext, useEffect, useState } from "react";
import type { Json, JsonObject, Meta, Problem } from "../../api/types";
import { DEFAULT_WORKSPACE } from "../../shared/people";

export interface FormState {
  doc: JsonObject;
  set: (path: string, value: Json | undefined) => void;
  /** Put another document in place of this one. */
  replace: (doc: JsonObject) => void;
  /** Problems at a field or inside it, once the person has been there or has tried to go on. */
  problemsAt: (path: string, deep?: boolean) => Problem[];
  touch: (path: string) => void;
  /** The field that somebody asked to see, by a problem of it; another object each time. */
  sought: { path: string } | null;
  /** The job that this is a clone of. */
  original: JsonObject | null;
  expert: boolean;
  /** Whether fields are shown that only several replicas or sub-tasks need (R29). */
  several: boolean;
  showSeveral: (several: boolean) => void;
  meta: Meta | undefined;
  /** The job's schema, which knows the bounds of every field; undefined until it was read. */
  schema: JsonObject | undefined;
}

export const FormContext = createContext<FormState | null>(null);

export function useForm(): FormState {
  const state = useContext(FormContext);
  if (!state) throw new Error("a field outside the form");
  return state;
}

/** `value` once it has stood still for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** `value` as it was when `ready` was last true. Must keep its identity while it is the same, as from `useMemo`. */
export function useWhile<T>(value: T, ready: boolean): T {
  const [kept, keep] = useState(value);
  if (ready && kept !== value) keep(value);
  return ready ? value : kept;
}

/** Whether the mouse, a pen or a finger is pressed, until the click that it makes has happened. */
export function usePressed(): boolean {
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    const down = (): void => setPressed(true);
    const up = (): void => void setTimeout(() => setPressed(false));
    const heard = [
      ["pointerdown", down],
      ["pointerup", up],
      ["pointercancel", up],
    ] as const;
    for (const [name, act] of heard) addEventListener(name, act, true);
    return () => {
      for (const [name, act] of heard) removeEventListener(name, act, true);
    };
  }, []);
  return pressed;
}

/** The workspace in which the job is to run. */
export function useWorkspace(): string {
  return String(useForm().doc["workspace"] ?? DEFAULT_WORKSPACE);
}
