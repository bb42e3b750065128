/** What the fields share, made of the document and its preview: which problems to show, and how a field is found on the page. */
import { useQuery } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { type Dispatch, type SetStateAction, useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { readSchema } from "../../api/jobs";
import type { Json, JsonObject, Problem } from "../../api/types";
import { useMeta } from "../../shared/meta";
import { atChannel } from "./algorithm-doc";
import { isDistributed, setAt } from "./document";
import type { usePreview } from "./preview";
import { type FormState, usePressed, useWhile } from "./state";

const MODE = "trainmaster.expert";

interface Given {
  doc: JsonObject;
  setDoc: Dispatch<SetStateAction<JsonObject>>;
  live: ReturnType<typeof usePreview>;
  original: JsonObject | null;
  /** It begins with a document that somebody made before: what is wrong with it here is said at once. */
  whole: boolean;
}

interface Shared {
  state: FormState;
  /** All there are, and those that are shown already. */
  problems: Problem[];
  visible: Problem[];
  /** Show every problem from now on; returns them. */
  tryAll: () => Problem[];
  chooseMode: (expert: boolean) => void;
  /** Show the field of a path, with the expert fields for this visit where it is one of them. False: there is none. */
  go: (path: string) => boolean;
}

export function useFormState({ doc, setDoc, live, original, whole }: Given): Shared {
  const { t } = useTranslation();
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [tried, setTried] = useState(whole);
  const [saved, setSaved] = useState(() => localStorage.getItem(MODE) === "1");
  const [peeking, setPeeking] = useState(false); // for this visit alone: nobody chose it
  const [sought, setSought] = useState<FormState["sought"]>(null);
  const meta = useMeta();
  const schema = useQuery({ queryKey: ["job-schema"], queryFn: readSchema, staleTime: Infinity }).data;
  const expert = saved || peeking;
  // Once shown, they stay while somebody types a number that would not need them.
  const [several, showSeveral] = useState(false);
  const needed = isDistributed(doc);
  if (needed && !several) showSeveral(true);

  const set = useCallback(
    (path: string, value: Json | undefined) => setDoc((old) => setAt(old, path, value)),
    [setDoc],
  );
  const touch = useCallback((path: string) => setTouched((old) => (old.has(path) ? old : new Set(old).add(path))), []);
  const problems = useMemo(() => allProblems(doc, live.preview?.problems ?? [], t), [doc, live.preview, t]);
  const refused = live.preview?.ok === false && live.preview.spec !== null; // well formed, but not here: to be said at once
  const left = useWhile(touched, live.current); // the preview has not seen what was just typed
  const found = useMemo(
    () =>
      problems.filter(
        (p) =>
          tried ||
          (refused && p.path !== "name") ||
          [...left].some((path) => p.path === path || p.path.startsWith(`${path}.`)),
      ),
    [problems, tried, refused, left],
  );
  const visible = useWhile(found, !usePressed()); // a line that comes or goes moves what is being clicked
  const state = useMemo(
    (): FormState => ({
      doc,
      set,
      replace: setDoc,
      touch,
      sought,
      original,
      expert,
      several: several || needed,
      showSeveral,
      meta,
      schema,
      problemsAt: (path, deep) =>
        visible.filter((p) => p.path === path || (deep === true && p.path.startsWith(`${path}.`))),
    }),
    [doc, set, setDoc, touch, sought, original, expert, several, needed, meta, schema, visible],
  );
  const chooseMode = (next: boolean): void => {
    localStorage.setItem(MODE, next ? "1" : "0");
    setSaved(next);
    setPeeking(false);
  };
  const go = (path: string): boolean => {
    setSought({ path });
    if (!hasField(path)) return false;
    if (fieldOf(path) === null && !expert) setPeeking(true);
    // In the frame after the next the fields that open for it are there.
    requestAnimationFrame(() => requestAnimationFrame(() => reveal(path)));
    return true;
  };
  const tryAll = (): Problem[] => {
    setTried(true);
    return problems;
  };
  return { state, problems, visible, tryAll, chooseMode, go };
}

/** The platform's problems, each where its field is, and the missing name, which the preview was not asked about. */
function allProblems(doc: JsonObject, found: Problem[], t: TFunction): Problem[] {
  const placed = found.map((one) => atChannel(one, t("algorithms.channels.missing")));
  if (doc["name"]) return placed;
  return [{ path: "name", rule: t("submit.nameless"), remedy: t("submit.namelessHint"), code: "required" }, ...placed];
}

/** Places of the document that the form has no field for; what is below them has none either. */
const WITHOUT_FIELD = /^(version|slug|pull_secret|progress|storage|extras|instead_of|roles\.\d+\.ends_job)(\.|$)/;
const FIELDS =
  /^(name|description|algorithm|workspace|share|pool|framework|duration|priority|image|virtual_cluster|nodes|driver|preemptible|code|roles|inputs|env|secrets|retries|fault_restarts|grace|debug_hold|metrics|model|labels|sweep)(\.|$)/;

/** Whether the form has a field, perhaps an expert one, that shows the place `path`. Pure. */
export const hasField = (path: string): boolean => FIELDS.test(path) && !WITHOUT_FIELD.test(path);

/** The element of a path's field, or of the list of which it is an entry; null where that is not on the page. */
function fieldOf(path: string): HTMLElement | null {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const element = document.querySelector<HTMLElement>(`[data-path="${CSS.escape(at)}"]`);
    if (element) return element;
  }
  return null;
}

/** Scroll to the field, and put the cursor there. */
function reveal(path: string): void {
  const element = fieldOf(path);
  element?.scrollIntoView({ block: "center", behavior: "smooth" });
  element?.querySelector<HTMLElement>("input, textarea, [role=combobox]")?.focus({ preventScroll: true });
}
