/** How long a job still takes by its progress, and whether its time limit ends it before. */
import { useTranslation } from "react-i18next";
import { ENDED, type Job } from "../api/types";
import { duration } from "./format";

type Told = Pick<Job, "state" | "progress" | "expires_at">;

/** `eta`: seconds until its last step; `cut`: seconds until its time limit, where that comes first. Null: it is not known. Pure. */
export function leftOf(job: Told, now: number): { eta: number; cut: number | null } | null {
  const eta = job.progress?.eta_s;
  if (eta == null || job.state === "queued" || ENDED.has(job.state)) return null;
  const limit = job.expires_at === null ? null : Math.max(0, job.expires_at - now);
  return { eta, cut: limit !== null && limit < eta ? limit : null };
}

/** The same in words. */
export function useLeft(): (job: Told, now: number) => { text: string; cut: boolean } | null {
  const { t } = useTranslation();
  return (job, now) => {
    const left = leftOf(job, now);
    if (left === null) return null;
    const time = duration(left.eta);
    return left.cut === null
      ? { text: t("jobs.eta", { time }), cut: false }
      : { text: t("jobs.etaCut", { time, limit: duration(left.cut) }), cut: true };
  };
}
