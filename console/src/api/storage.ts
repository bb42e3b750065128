/** Storage connections of workspaces. Keys go to the server and come back from nowhere. */
import { get, post, put, remove } from "./client";
import type { Connection, ConnectionBody, ConnectionCheck } from "./types";

const storage = (workspace: string): string => `/workspaces/${encodeURIComponent(workspace)}/storage`;
const one = (workspace: string, name: string): string => `${storage(workspace)}/${encodeURIComponent(name)}`;

export const listConnections = (workspace: string): Promise<{ items: Connection[] }> => get(storage(workspace));
export const setConnection = (workspace: string, name: string, body: ConnectionBody): Promise<Connection> =>
  put(one(workspace, name), body);
export const checkConnection = (workspace: string, name: string): Promise<ConnectionCheck> =>
  post(`${one(workspace, name)}/check`);
export const deleteConnection = (workspace: string, name: string): Promise<void> => remove(one(workspace, name));
