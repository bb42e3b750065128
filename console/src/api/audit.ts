/** What was done to what, by whom and from where. */
import { get, url } from "./client";
import type { AuditPage } from "./types";

export interface AuditFilter {
  subject?: string;
  by?: string;
  kind?: string;
  workspace?: string;
  actor?: string;
  after?: number;
}

export const PAGE = 50;

export const listAudit = (filter: AuditFilter, cursor: string | null, signal?: AbortSignal): Promise<AuditPage> =>
  get("/audit", { ...filter, limit: PAGE, cursor }, signal);

/** Where all of it is downloaded, a line of JSON for each. */
export const auditExport = (filter: AuditFilter): string => url("/audit/export", { ...filter });
