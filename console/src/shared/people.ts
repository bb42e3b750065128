/** What roles in workspaces mean to the console: who may submit where, and who decides about members. Pure. */
import type { Session } from "../api/types";

/** Highest first. */
export const WORKSPACE_ROLES = ["owner", "admin", "member", "viewer"] as const;
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

/** How a job is shared with the other members of its workspace, the least first. */
export const SHARES = ["none", "read", "read-write"] as const;

export const DEFAULT_WORKSPACE = "default";
/** The account that a server has from its first start on. */
export const BUILT_IN = "admin";

type Person = Pick<Session["user"], "role" | "workspaces">;

const RANKS: ReadonlyMap<string, number> = new Map(WORKSPACE_ROLES.map((role, at) => [role, at]));
const rank = (role: string): number => RANKS.get(role) ?? WORKSPACE_ROLES.length;

/** The role in a workspace that somebody may act with there: administrators of the platform act as owners everywhere. */
export const roleIn = ({ role, workspaces }: Person, workspace: string): string | undefined =>
  role === "admin" ? "owner" : workspaces.find((one) => one.workspace === workspace)?.role;

/** Whether a role is one that decides who is a member. */
export const decides = (role: string | undefined): boolean => role === "owner" || role === "admin";

/** Nobody gives a role above their own, nor takes one away. */
export const mayGive = (own: string | undefined, role: string): boolean =>
  own !== undefined && decides(own) && rank(role) >= rank(own);

export const maySubmit = (person: Person, workspace: string): boolean => {
  const role = roleIn(person, workspace);
  return role !== undefined && role !== "viewer";
};

/** Whether there is any workspace into which somebody may submit. */
export const submitsSomewhere = (person: Person): boolean =>
  person.role === "admin" || person.workspaces.some((one) => maySubmit(person, one.workspace));

/**
 * Where a new job of somebody goes, unless they say otherwise: undefined is the default workspace. Who may submit nowhere is
 * told so by a workspace of theirs, whose owners they can ask.
 */
export function homeOf(person: Person): string | undefined {
  if (maySubmit(person, DEFAULT_WORKSPACE)) return undefined;
  return (person.workspaces.find((one) => maySubmit(person, one.workspace)) ?? person.workspaces[0])?.workspace;
}
