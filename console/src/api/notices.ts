/** Notifications, where one wants them, and webhooks. */
import { get, patch, post, remove } from "./client";
import type { Delivery, NewWebhook, NoticePage, NoticeSettings, Webhook } from "./types";

export const NOTICE_KINDS = [
  "failed",
  "ended",
  "waits",
  "preempted",
  "idle",
  "limit",
  "budget",
  "storage",
  "webhook",
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];
export type NoticeWhere = "console" | "mail" | "webhook";
const PAGE = 50;

export const listNotices = (
  filter: { kind?: string; unread?: boolean },
  cursor: string | null,
  signal?: AbortSignal,
  limit = PAGE,
): Promise<NoticePage> => get("/notifications", { ...filter, limit, cursor }, signal);
/** Mark these as read; null: all. */
export const readNotices = (ids: string[] | null): Promise<{ unread: number }> => post("/notifications/read", { ids });

export const readNoticeSettings = (): Promise<NoticeSettings> => get("/notifications/settings");
export const changeNoticeSettings = (kind: string, where: NoticeWhere, on: boolean): Promise<NoticeSettings> =>
  patch("/notifications/settings", { kinds: { [kind]: { [where]: on } } });
export const giveAddress = (address: string, language: string): Promise<NoticeSettings> =>
  post("/notifications/address", { address, language });
export const confirmAddress = (code: string): Promise<NoticeSettings> =>
  post("/notifications/address/confirm", { code });
export const removeAddress = (): Promise<void> => remove("/notifications/address");

export interface WebhookBody {
  url: string;
  name?: string;
  workspace?: string;
  kinds?: string[];
}
const of = (id: string): string => `/webhooks/${encodeURIComponent(id)}`;
export const listWebhooks = (workspace: string): Promise<{ items: Webhook[] }> => get("/webhooks", { workspace });
export const addWebhook = (body: WebhookBody): Promise<NewWebhook> => post("/webhooks", body);
export const turnWebhook = (id: string, on: boolean): Promise<Webhook> => patch(of(id), { on });
export const deleteWebhook = (id: string): Promise<void> => remove(of(id));
export const testWebhook = (id: string): Promise<Delivery> => post(`${of(id)}/test`);
export const listDeliveries = (id: string): Promise<{ items: Delivery[] }> =>
  get("/webhooks/deliveries", { webhook: id });
