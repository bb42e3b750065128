/** People: accounts, and members of workspaces. */
import { get, post, put, remove } from "./client";
import type { Account, Member, NewAccount, OneTimePassword } from "./types";

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
