/** Who is signed in: session, password, API tokens. */
import { ApiError, get, post, remove } from "./client";
import { browserMark, forgetKey, keepBrowserMark, keepKey } from "./key";
import type { BrowserSession, NewSession, Session, SignInWays, SshKey, SshKeys, Token } from "./types";

export const readSession = (): Promise<Session> => get("/session");

export async function signIn(username: string, password: string): Promise<Session> {
  const made = await post<NewSession>("/session", { username, password, browser: browserMark(username) });
  return began(made);
}

/** Keep what a session that just began is known by. */
export function began({ key, browser, ...session }: NewSession): Session {
  keepKey(key);
  keepBrowserMark(session.user.name, browser);
  return session;
}

export const signInWays = (): Promise<SignInWays> => get("/session/ways");
/** Where to send this tab, and what it keeps until it is back. */
export const beginSignIn = (): Promise<{ address: string; flow: string }> => post("/session/provider");
export interface Back {
  code: string;
  state: string;
  flow: string;
  iss: string;
  invitation: string | null;
}
export const completeSignIn = async (back: Back): Promise<Session> =>
  began(await post<NewSession>("/session/provider/back", back));

export const listSshKeys = (): Promise<SshKeys> => get("/ssh-keys");
export const addSshKey = (key: string): Promise<SshKey> => post("/ssh-keys", { key });
export const deleteSshKey = (fingerprint: string): Promise<void> => remove("/ssh-keys", { fingerprint });

export async function signOut(): Promise<void> {
  try {
    await remove("/session");
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
  forgetKey();
}

/** What to ask for instead of `address`, once and soon, where no header can be sent. */
export const takeTicket = (address: string): Promise<{ address: string }> => post("/session/ticket", { address });

export const changePassword = (old: string, fresh: string): Promise<unknown> =>
  post("/session/password", { old, new: fresh });

export const listTokens = (): Promise<{ items: Token[] }> => get("/tokens");

export interface TokenBody {
  name: string;
  expires_in_s?: number;
  workspace?: string;
  scopes?: string[];
}
export const createToken = (body: TokenBody): Promise<{ id: string; name: string; token: string }> =>
  post("/tokens", body);

export const deleteToken = (id: string): Promise<void> => remove(`/tokens/${encodeURIComponent(id)}`);

export const listSessions = (): Promise<{ items: BrowserSession[] }> => get("/sessions");
export const endSession = (id: string): Promise<void> => remove(`/sessions/${encodeURIComponent(id)}`);
