/** Jobs: list, detail, and everything that changes one. */
import { get, patch, post, remove, text } from "./client";
import type {
  Bulk,
  Explanation,
  Job,
  JobDetail,
  JobEvent,
  JobPage,
  JobQuery,
  JsonObject,
  Preview,
  Submission,
} from "./types";

const at = (id: string): string => `/jobs/${encodeURIComponent(id)}`;

export const listJobs = (query: JobQuery, cursor: string | null, signal?: AbortSignal): Promise<JobPage> =>
  get("/jobs", { ...query, cursor }, signal);

export const readJob = (id: string, signal?: AbortSignal): Promise<JobDetail> => get(at(id), {}, signal);

export const readSpec = (id: string, dialect: "native" | "pai", form: "json" | "yaml"): Promise<string> =>
  text(`${at(id)}/spec`, { dialect, form });

export const readEvents = (id: string, after?: number): Promise<{ items: JobEvent[] }> =>
  get(`${at(id)}/events`, { after });

export const explainJob = (id: string): Promise<Explanation> => get(`${at(id)}/explain`);

export const submitJob = (submission: Submission, key: string): Promise<Job> =>
  post("/jobs", { dialect: "auto", ...submission }, { headers: { "idempotency-key": key } });

export const previewJob = (submission: Submission, signal?: AbortSignal): Promise<Preview> =>
  post("/jobs/preview", { dialect: "auto", ...submission }, { signal });

/** The JSON Schema of a job file. */
export const readSchema = (): Promise<JsonObject> => get("/schema/job");

export const stopJob = (id: string, reason?: string): Promise<Job> => post(`${at(id)}/stop`, { reason });

/** The document of a job, ready to be edited and submitted again. */
export async function cloneDocument(id: string): Promise<JsonObject> {
  const answer = await post<JsonObject>(`${at(id)}/clone`, { submit: false });
  const inner = answer["spec"];
  return typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : answer;
}

/** Submit the same job again, with these changes by path. */
export const cloneJob = (id: string, set: Record<string, unknown> = {}): Promise<Job> =>
  post(`${at(id)}/clone`, { submit: true, set });

export const changeJob = (id: string, change: { duration_s?: number | null; priority?: string }): Promise<Job> =>
  patch(at(id), change);

export const releaseJob = (id: string): Promise<unknown> => post(`${at(id)}/release`);

export const deleteJob = (id: string): Promise<void> => remove(at(id));

export const stopJobs = (ids: string[]): Promise<Bulk> => post("/jobs/stop", { ids });

export const deleteJobs = (ids: string[]): Promise<Bulk> => post("/jobs/delete", { ids });
