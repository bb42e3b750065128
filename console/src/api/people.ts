/** People: accounts, and members of workspaces. */
import { get, post, put, remove } from "./client";
import { began } from "./session";
import type {
  Account,
  Invitation,
  InvitationPage,
  Member,
  NewAccount,
  NewInvitation,
  NewSession,
  OneTimePassword,
  Session,
} from "./types";

const user = (name: string): string => `/users/${encodeURIComponent(name)}`;
const members = (workspace: string): string => `/workspaces/${encodeURIComponent(workspace)}/members`;

export const listUsers = (): Promise<{ items: Account[] }> => get("/users");
export interface AccountBody {
  name: string;
  role: "admin" | "user";
  workspace: string;
  workspace_role: string;
}
export const addUser = (body: AccountBody): Promise<NewAccount> => post("/users", body);
export const resetPassword = (name: string): Promise<OneTimePassword> => post(`${user(name)}/password`);

/** What becomes of somebody's jobs that have not ended; not said: refused where there are any. */
export type Theirs = "keep" | "stop";
export const lockUser = (name: string, jobs?: Theirs): Promise<Account> => post(`${user(name)}/lock`, { jobs });
export const unlockUser = (name: string): Promise<Account> => post(`${user(name)}/unlock`);
export const deleteUser = (name: string, jobs?: Theirs): Promise<void> => remove(user(name), { jobs });

export const listMembers = (workspace: string): Promise<{ items: Member[] }> => get(members(workspace));
export const putMember = (workspace: string, name: string, role: string): Promise<Member> =>
  put(`${members(workspace)}/${encodeURIComponent(name)}`, { role });
export const dropMember = (workspace: string, name: string): Promise<void> =>
  remove(`${members(workspace)}/${encodeURIComponent(name)}`);

const invitations = (workspace: string): string => `/workspaces/${encodeURIComponent(workspace)}/invitations`;
export const listInvitations = (workspace: string): Promise<{ items: Invitation[] }> => get(invitations(workspace));
export const invite = (workspace: string, role: string, expires_in_s: number): Promise<NewInvitation> =>
  post(invitations(workspace), { role, expires_in_s });
export const revokeInvitation = (workspace: string, id: string): Promise<void> =>
  remove(`${invitations(workspace)}/${encodeURIComponent(id)}`);

/** What whoever has the link of an invitation does with its secret, which is never part of an address. */
export const lookAtInvitation = (secret: string): Promise<InvitationPage> => post("/invitations/look", { secret });
export const joinWorkspace = (secret: string): Promise<Member> => post("/invitations/join", { secret });
export const acceptInvitation = async (secret: string, name: string, password: string): Promise<Session> =>
  began(await post<NewSession>("/invitations/accept", { secret, name, password }));
