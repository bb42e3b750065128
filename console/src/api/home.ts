/** What one is shown first: one request. */
import { get } from "./client";
import type { Home } from "./types";

export const readHome = (): Promise<Home> => get("/home");
