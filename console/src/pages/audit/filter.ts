/** What the address says of the audit, and what the server is asked for it. Pure. */
import type { AuditFilter } from "../../api/audit";
import type { AuditSearch } from "../../shared/address";
import { parseDuration } from "../../shared/format";

export const SPANS = ["24h", "7d", "30d"] as const;
export const ACTORS = ["person", "token", "job", "system"] as const;
export const SUBJECTS = [
  "job",
  "person",
  "workspace",
  "template",
  "dataset",
  "volume",
  "algorithm",
  "image",
  "sweep",
  "flavor",
  "pool",
  "virtual_cluster",
  "node",
  "policy",
] as const;

/** What is asked for most; the address may hold any other kind. */
export const KINDS = [
  "submitted",
  "stop_requested",
  "expired",
  "preempted",
  "job_deleted",
  "duration_changed",
  "priority_changed",
  "shared",
  "entered",
  "workspace_changed",
  "member_added",
  "member_changed",
  "member_removed",
  "secret_set",
  "secret_deleted",
  "connection_set",
  "connection_deleted",
  "flavor_changed",
  "pool_changed",
  "policy_changed",
  "privacy_changed",
  "signed_in",
  "sign_in_failed",
  "signed_out",
  "token_made",
  "token_deleted",
  "user_made",
  "user_locked",
  "password_given",
] as const;

/** `now`: from when a span of time is counted back. */
export function filterOf(search: AuditSearch, now: number): AuditFilter {
  const span = search.since ? parseDuration(search.since) : null;
  const filter: AuditFilter = {
    subject: search.subject,
    by: search.by,
    kind: search.kind,
    workspace: search.workspace,
    actor: search.actor,
    after: span === null ? undefined : Math.max(0, now - span),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

export const isFiltered = (search: AuditSearch): boolean => Object.values(search).some((value) => value !== undefined);

/** The kind of a subject, and which one: `pool:lab`. */
export function subjectOf(text: string | undefined): { kind?: string; name?: string } {
  if (!text) return {};
  const at = text.indexOf(":");
  return at < 0 ? { kind: text } : { kind: text.slice(0, at), name: text.slice(at + 1) };
}

/** Whether this is how something began, or ended: then each field has one value. */
export const isMade = (kind: string): boolean => kind.endsWith("_made");
export const isRemoved = (kind: string): boolean => kind.endsWith("_removed");

/** A value of a record as it is shown: one line, lists with commas, or what else stands `between`. */
export function valueText(value: unknown, between = ", "): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map((one) => valueText(one)).join(between);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
