/** Templates: job documents under a name, from which jobs are submitted. */
import type { AssetQuery } from "./assets";
import { get, patch, post, put, remove } from "./client";
import type { Bulk, Job, JobShare, Json, TemplateDetail, TemplatePage } from "./types";

const at = (id: string): string => `/templates/${encodeURIComponent(id)}`;

/** A template to make: of a document, or of a job. */
export type NewTemplate = { name: string; description: string; share: JobShare } & ({ spec: Json } | { job: string });

/** What is to change; `version`: the one that was edited, which has to be the last. */
export interface TemplateEdit {
  name?: string;
  description?: string;
  spec?: Json;
  version: number;
}

export const listTemplates = (query: AssetQuery, signal?: AbortSignal): Promise<TemplatePage> =>
  get("/templates", { ...query }, signal);

export const readTemplate = (id: string, signal?: AbortSignal): Promise<TemplateDetail> => get(at(id), {}, signal);

export const createTemplate = (made: NewTemplate): Promise<TemplateDetail> => post("/templates", made);

export const editTemplate = (id: string, edit: TemplateEdit): Promise<TemplateDetail> => patch(at(id), edit);

export const shareTemplate = (id: string, share: JobShare): Promise<TemplateDetail> =>
  put(`${at(id)}/share`, { share });

export const copyTemplate = (id: string): Promise<TemplateDetail> => post(`${at(id)}/copy`, {});

export const deleteTemplate = (id: string): Promise<void> => remove(at(id));

/** The most that the server takes in one request. */
const AT_ONCE = 1000;

export async function deleteTemplates(ids: readonly string[]): Promise<Pick<Bulk, "done" | "refused">> {
  const found: Pick<Bulk, "done" | "refused"> = { done: [], refused: [] };
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const part = await post<Bulk>("/templates/delete", { ids: ids.slice(from, from + AT_ONCE) });
    found.done.push(...part.done);
    found.refused.push(...part.refused);
  }
  return found;
}

/** Submit what the form made of a template's document; the template counts it. */
export const submitTemplate = (id: string, spec: Json, key: string): Promise<Job> =>
  post(`${at(id)}/submit`, { spec }, { headers: { "idempotency-key": key } });
