/** What somebody typed and did not submit, kept in this tab until it is submitted, thrown away or the tab closed (D9). */
import { useEffect, useState } from "react";
import type { JsonObject } from "../../api/types";
import { isObject } from "./document";

const PREFIX = "trainmaster.draft.";

/** One draft for each form: the empty one, and each clone with its change. */
export const draftKey = (clone: string | undefined, set: string | undefined): string =>
  `${PREFIX}${clone ?? ""}.${set ?? ""}`;

export function readDraft(key: string): JsonObject | null {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
    return isObject(read) && Array.isArray(read["roles"]) ? read : null;
  } catch {
    return null;
  }
}

export function dropDraft(key: string): void {
  sessionStorage.removeItem(key);
}

function keepDraft(key: string, doc: JsonObject): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(doc));
  } catch {
    // A tab whose storage is full keeps its form, and asks before it is left.
  }
}

/** Keep `doc` while it is `typed`, and forget it when it is not. */
export function useDraft(key: string, doc: JsonObject, typed: boolean): void {
  useEffect(() => {
    if (typed) keepDraft(key, doc);
    else dropDraft(key);
  }, [key, doc, typed]);
}

/** The draft that was there when the form opened. */
export function useFoundDraft(key: string): JsonObject | null {
  return useState(() => readDraft(key))[0];
}
