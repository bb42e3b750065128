/** Secrets of workspaces. A value goes to the server and comes back from nowhere. */
import { get, put, remove } from "./client";
import type { Secret } from "./types";

const secrets = (workspace: string): string => `/workspaces/${encodeURIComponent(workspace)}/secrets`;

export const listSecrets = (workspace: string): Promise<{ items: Secret[] }> => get(secrets(workspace));
export const setSecret = (workspace: string, name: string, value: string): Promise<Secret> =>
  put(`${secrets(workspace)}/${encodeURIComponent(name)}`, { value });
export const deleteSecret = (workspace: string, name: string): Promise<void> =>
  remove(`${secrets(workspace)}/${encodeURIComponent(name)}`);
