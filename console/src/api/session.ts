/** Who is signed in: session, password, API tokens. */
import { get, post, remove, setCsrf } from "./client";
import type { Session, Token } from "./types";

export async function readSession(): Promise<Session> {
  const session = await get<Session>("/session");
  setCsrf(session.csrf ?? "");
  return session;
}

export async function signIn(username: string, password: string): Promise<Session> {
  await post<unknown>("/session", { username, password });
  return readSession();
}

export const signOut = (): Promise<void> => remove("/session");

export const changePassword = (old: string, fresh: string): Promise<unknown> =>
  post("/session/password", { old, new: fresh });

export const listTokens = (): Promise<{ items: Token[] }> => get("/tokens");

export const createToken = (name: string, expires_in_s?: number): Promise<{ id: string; name: string; token: string }> =>
  post("/tokens", { name, expires_in_s });

export const deleteToken = (id: string): Promise<void> => remove(`/tokens/${encodeURIComponent(id)}`);
