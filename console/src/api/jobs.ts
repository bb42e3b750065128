/** Jobs: list, detail, and everything that changes one. */
import { get, patch, post, put, remove, text } from "./client";
import type {
  Bulk,
  Chosen,
  Explanation,
  Job,
  JobDetail,
  JobEvent,
  JobFacets,
  JobFilter,
  JobPage,
  JobQuery,
  JobShare,
  JobVersions,
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

/** The versions of a job, the newest first. */
export const readVersions = (id: string): Promise<JobVersions> => get(`${at(id)}/versions`);

export const changeJob = (id: string, change: { duration_s?: number | null; priority?: string }): Promise<Job> =>
  patch(at(id), change);

export const shareJob = (id: string, share: JobShare): Promise<Job> => put(`${at(id)}/share`, { share });

export const tagJob = (id: string, change: { add?: string[]; remove?: string[] }): Promise<Job> =>
  patch(`${at(id)}/tags`, change);

export const noteJob = (id: string, note: string): Promise<Job> => put(`${at(id)}/note`, { note });

export const favorJob = (id: string, wanted: boolean): Promise<unknown> =>
  wanted ? put(`${at(id)}/favorite`, {}) : remove(`${at(id)}/favorite`);

/** How many jobs match, all of them counted. */
export const countJobs = async (filter: JobFilter): Promise<JobPage> =>
  get("/jobs", { ...filter, limit: 1, exact: true });

export const releaseJob = (id: string): Promise<unknown> => post(`${at(id)}/release`);

export const uploadAgain = (id: string): Promise<unknown> => post(`${at(id)}/upload`);

export const deleteJob = (id: string): Promise<void> => remove(at(id));

export const readFacets = (filter: JobFilter, signal?: AbortSignal): Promise<JobFacets> =>
  get("/jobs/facets", { ...filter }, signal);

/** The most ids that the server takes in one request. */
const AT_ONCE = 1000;

/** Stop, delete, change, tag or share all that were chosen, in as many requests as it takes. Raises where one is refused as a whole. */
export async function toSeveral(
  verb: "stop" | "delete" | "change" | "tags" | "share",
  chosen: Chosen,
  change: { duration_s?: number | null; add?: string[]; remove?: string[]; share?: JobShare } = {},
): Promise<Pick<Bulk, "done" | "refused">> {
  const found: Pick<Bulk, "done" | "refused"> = { done: [], refused: [] };
  const send = async (body: object): Promise<Bulk> => {
    const part = await post<Bulk>(`/jobs/${verb}`, { ...body, ...change });
    found.done.push(...part.done);
    found.refused.push(...part.refused);
    return part;
  };
  if ("ids" in chosen) {
    for (let at = 0; at < chosen.ids.length; at += AT_ONCE) await send({ ids: chosen.ids.slice(at, at + AT_ONCE) });
    return found;
  }
  let part = await send(chosen);
  while (part.after != null) part = await send({ ...chosen, expected: part.left, after: part.after });
  return found;
}
