/** What the browser's tab says: the page first, since tabs are narrow. */
import { useEffect } from "react";
import type { Job } from "../api/types";
import { percent } from "./format";

const PRODUCT = "Trainmaster";

/** "62 % speech-ddp · Running": what is asked of a tab in the background. Pure. */
export function jobTitle(job: Pick<Job, "name" | "state" | "progress" | "ended_at">, state: string): string {
  const fraction = job.ended_at === null ? (job.progress?.fraction ?? null) : null;
  const done = fraction === null ? "" : `${Math.floor(percent(fraction))} % `;
  return `${done}${job.name} · ${state}`;
}

/** Name the tab while the page is shown; undefined: somebody else names it. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return undefined;
    document.title = `${name} – ${PRODUCT}`;
    return () => {
      document.title = PRODUCT;
    };
  }, [name]);
}
