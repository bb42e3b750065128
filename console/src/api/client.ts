/**
 * The one door to the server: JSON in and out, the session's key on every request, problem documents as ApiError.
 *
 * It never retries (queries do) and never shows anything. A 401 anywhere tells `onSignedOut` once.
 */
import { sessionKey } from "./key";
import type { Problem } from "./types";

export const BASE = "/api/v1";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly remedy: string;
  readonly problems: Problem[];

  constructor(status: number, body: Partial<{ title: string; code: string; remedy: string; problems: Problem[] }>) {
    super(body.title || `HTTP ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.code = body.code ?? "unknown";
    this.remedy = body.remedy ?? "";
    this.problems = body.problems ?? [];
  }
}

/** The server did not answer at all: not a refusal, so worth trying again. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("unreachable", { cause });
    this.name = "Unreachable";
  }
}

/** The server words its refusals in the language of the page (i18n sets it). */
const spoken = (): string => document.documentElement.lang;

let onSignedOut: () => void = () => undefined;

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export type Query = Record<string, string | number | boolean | null | undefined | readonly string[]>;

/** The address of a route with its query; empty values are left out, lists repeat their key. */
export function url(path: string, query: Query = {}): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) parts.append(key, item);
    else if (value !== undefined && value !== null && value !== "") parts.append(key, String(value));
  }
  const text = parts.toString();
  return `${BASE}${path}${text ? `?${text}` : ""}`;
}

async function problemOf(response: Response): Promise<ApiError> {
  let body: object = {};
  try {
    const parsed: unknown = await response.json();
    if (typeof parsed === "object" && parsed !== null) body = parsed;
  } catch {
    // A proxy's HTML page or nothing at all: the status has to speak.
  }
  return new ApiError(response.status, body);
}

export interface CallOptions {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function call(method: string, path: string, options: CallOptions): Promise<Response> {
  const headers: Record<string, string> = {
    accept: "application/json",
    "accept-language": spoken(),
    "x-session-key": sessionKey(),
    ...options.headers,
  };
  let body: BodyInit | undefined;
  if (options.body instanceof Blob) body = options.body;
  else if (options.body !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.body);
  }
  let response: Response;
  try {
    response = await fetch(url(path, options.query), {
      method,
      headers,
      body,
      signal: options.signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable(error);
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401 && path !== "/session") onSignedOut();
  throw problem;
}

async function json<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await call(method, path, options);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  json<T>("GET", path, { query, signal });
export const post = <T>(path: string, body?: unknown, options: CallOptions = {}): Promise<T> =>
  json<T>("POST", path, { ...options, body });
export const put = <T>(path: string, body: unknown): Promise<T> => json<T>("PUT", path, { body });
export const patch = <T>(path: string, body: unknown): Promise<T> => json<T>("PATCH", path, { body });
export const remove = (path: string, query?: Query): Promise<void> => json<void>("DELETE", path, { query });

export async function text(path: string, query?: Query): Promise<string> {
  return await (await call("GET", path, { query, headers: { accept: "*/*" } })).text();
}

/** Bytes of a file: from `start` to before `end`. */
export interface Part {
  start: number;
  end: number;
}

/** A file, or a part of it. What has become shorter than where the part begins has nothing of it: the server then sends all of it, which is let go. */
export async function bytes(path: string, query: Query, signal?: AbortSignal, part?: Part): Promise<Blob> {
  if (part === undefined) return await blob(path, query, signal);
  const headers = { accept: "*/*", range: `bytes=${part.start}-${part.end - 1}` };
  const response = await call("GET", path, { query, signal, headers });
  if (response.status === 206 || part.start === 0) return await response.blob();
  await response.body?.cancel();
  return new Blob([]);
}

export async function blob(path: string, query?: Query, signal?: AbortSignal): Promise<Blob> {
  return await (await call("GET", path, { query, signal, headers: { accept: "*/*" } })).blob();
}

/** A stream of events, once the server has begun to send it. */
export const open = (path: string, query: Query, signal: AbortSignal): Promise<Response> =>
  call("GET", path, { query, signal, headers: { accept: "text/event-stream" } });

/** Somebody was told by other means than an answer that they are no longer signed in. */
export const signedOut = (): void => onSignedOut();

/** Upload with progress (fetch has none for sending). Rejects with ApiError or Unreachable. */
export function upload<T>(
  path: string,
  body: Blob,
  type: string,
  onProgress: (fraction: number) => void,
  method: "POST" | "PUT" = "POST",
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url(path));
    request.setRequestHeader("x-session-key", sessionKey());
    request.setRequestHeader("content-type", type);
    request.setRequestHeader("accept-language", spoken());
    request.responseType = "json";
    request.upload.onprogress = (event) => onProgress(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Unreachable(request.status));
    request.onload = () => {
      const answer: unknown = request.response;
      if (request.status < 300) return resolve(answer as T);
      if (request.status === 401) onSignedOut();
      reject(new ApiError(request.status, typeof answer === "object" && answer !== null ? answer : {}));
    };
    request.send(body);
  });
}
