/** The payload of an event in words. Pure but for the translations it is given. Invariant: what has no words here is not
 *  shown; it is of use to programs, which read it from the API. */
import type { TFunction } from "i18next";
import type { JobEvent, Json } from "../../api/types";
import { bytes, duration, replicaName } from "../../shared/format";

type Event = Pick<JobEvent, "kind" | "data">;

const PRIORITIES = ["normal", "urgent", "very_urgent"] as const;
const SHARES = ["none", "read", "read-write"] as const;

/** The replica by its name, how it ended, then what else the kind of event tells of. */
export function detailsOf({ kind, data }: Event, roles: readonly { name: string }[], t: TFunction): string[] {
  const words: string[] = [];
  if (typeof data["role"] === "number") {
    const role = roles[data["role"]]?.name ?? String(data["role"]);
    words.push(replicaName({ role, index: Number(data["index"] ?? 0) }));
  }
  if (typeof data["exit_code"] === "number") words.push(t("job.verdict.exit", { code: data["exit_code"] }));
  if (typeof data["signal"] === "number") words.push(t("job.verdict.signal", { signal: data["signal"] }));
  if (typeof data["files"] === "number") words.push(t("job.events.files", { count: data["files"] }));
  if (typeof data["size_bytes"] === "number") words.push(bytes(data["size_bytes"]));
  if (typeof data["node"] === "string") words.push(data["node"]);
  if (typeof data["program"] === "string") words.push(data["program"]);
  if (Array.isArray(data["placement"])) words.push(...new Set(data["placement"].map((one) => placeOf(one, t))));
  return [...words, ...(CHANGES[kind]?.(data, t) ?? [])].filter((text) => text !== "");
}

/** Where one replica runs: "node-1 · GPU 0, 1". */
function placeOf(one: Json, t: TFunction): string {
  if (typeof one !== "object" || one === null || Array.isArray(one)) return "";
  const gpus = Array.isArray(one["gpus"]) ? one["gpus"] : [];
  return [String(one["node"] ?? ""), gpus.length > 0 ? t("job.fact.gpus", { list: gpus.join(", ") }) : ""]
    .filter(Boolean)
    .join(" · ");
}

/** What somebody changed, by the kind of event. */
const CHANGES: Record<string, (data: JobEvent["data"], t: TFunction) => string[]> = {
  duration_changed: ({ duration_s, before }, t) => became(limitOf(before, t), limitOf(duration_s, t), t),
  priority_changed: ({ priority, before }, t) => became(priorityOf(before, t), priorityOf(priority, t), t),
  shared: ({ share, before }, t) => became(shareOf(before, t), shareOf(share, t), t),
  annotated: ({ tags, note }, t) => [
    ...(Array.isArray(tags) ? [`${t("job.fact.tags")}${t("mark.colon")}${tags.join(", ") || "–"}`] : []),
    ...(typeof note === "string" ? [`${t("job.fact.note")}${t("mark.colon")}${note || "–"}`] : []),
  ],
  clock_set: ({ by_s }, t) => {
    if (typeof by_s !== "number") return [];
    return [t(by_s < 0 ? "job.events.clockBack" : "job.events.clockAhead", { time: duration(Math.abs(by_s), true) })];
  },
};

const became = (before: string, after: string, t: TFunction): string[] =>
  before === "" || before === after ? [after] : [t("job.events.became", { before, after })];

const limitOf = (value: Json | undefined, t: TFunction): string =>
  typeof value === "number" ? duration(value) : t("time.noLimit");

function priorityOf(value: Json | undefined, t: TFunction): string {
  const name = PRIORITIES[Number(value ?? -1)];
  return name ? t(`priority.${name}`) : "";
}

function shareOf(value: Json | undefined, t: TFunction): string {
  const share = SHARES.find((one) => one === value);
  return share ? t(`job.share.${share}`) : "";
}
