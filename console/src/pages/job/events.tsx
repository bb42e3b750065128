/** Everything that happened to the job, oldest at the bottom (R220). */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readEvents } from "../../api/jobs";
import type { JobDetail, JobEvent, Json } from "../../api/types";
import { useBilingual } from "../../i18n";
import { Stamp, useFormatTime } from "../../shared/time";
import { Empty, Pending } from "../../shared/ui";
import type { TabProps } from "./tab";

const BAD = new Set(["bad_node", "launch_failed", "task_lost", "fault", "save_failed", "expired"]);
const GOOD = new Set(["saved", "checked", "started"]);

export function Events({ job }: TabProps): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["events", job.id], queryFn: () => readEvents(job.id) });
  if (!query.data) return <Pending query={query} />;
  if (query.data.items.length === 0)
    return (
      <div className="tm-panel">
        <Empty title={t("job.events.none")} />
      </div>
    );
  return (
    <ol className="tm-panel tm-events" data-testid="events">
      {[...query.data.items].reverse().map((event) => (
        <OneEvent key={event.seq} event={event} job={job} />
      ))}
    </ol>
  );
}

function OneEvent({ event, job }: { event: JobEvent; job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const format = useFormatTime();
  const actor =
    event.actor === "system" || event.actor === "scheduler" || event.actor === "agent" || event.actor === "engine"
      ? t(`job.events.actors.${event.actor}`)
      : event.actor;
  const failed = event.kind === "task_exited" && event.data["exit_code"] !== 0;
  const tone = BAD.has(event.kind) || failed ? "red" : GOOD.has(event.kind) ? "green" : "blue";
  const words = useDetails();
  const said = pick(event.text);
  return (
    <li data-kind={event.kind}>
      <i className={`tm-fill-${tone}`} />
      <span className="tm-faint tm-num tm-event-time">
        <Stamp at={event.at}>{format(event.at, "clock")}</Stamp>
      </span>
      <div className="tm-grow">
        <div>
          <strong>{pick(event.title)}</strong>{" "}
          <span className="tm-faint">
            {actor}
            {event.attempt > 0 && ` · ${t("job.timeline.attempt", { n: event.attempt })}`}
          </span>
        </div>
        <div className="tm-line tm-event-data">
          {[...words(event, job), ...(said ? [said] : [])].map((text) => (
            <span key={text}>{text}</span>
          ))}
        </div>
      </div>
    </li>
  );
}

/** Not shown: what the page says already, what stands in words beside it, and what is of use to programs only. */
const LEFT_OUT = new Set([
  "job",
  "role",
  "index",
  "exit_code",
  "signal",
  "verdict",
  "reason",
  "code",
  "message",
  "problem",
]);

/** The payload of an event in words: the replica by its name, how it ended, then the rest as it is. */
function useDetails(): (event: JobEvent, job: JobDetail) => string[] {
  const { t } = useTranslation();
  return ({ data }, job) => {
    const role = typeof data["role"] === "number" ? (job.roles[data["role"]]?.name ?? String(data["role"])) : null;
    const words = role === null ? [] : [`${role}[${String(data["index"] ?? 0)}]`];
    if (typeof data["exit_code"] === "number") words.push(t("job.verdict.exit", { code: data["exit_code"] }));
    if (typeof data["signal"] === "number") words.push(t("job.verdict.signal", { signal: data["signal"] }));
    const rest = Object.entries(data).filter(([key, value]) => !LEFT_OUT.has(key) && value !== null && value !== "");
    return [...words, ...rest.map(([key, value]) => (key === "placement" ? brief(value) : `${key}: ${brief(value)}`))];
  };
}

/** One line of a value: placements as node and cards, the rest as it is. */
function brief(value: Json): string {
  if (Array.isArray(value)) return value.map(brief).join(", ");
  if (typeof value === "object" && value !== null) {
    if ("node" in value)
      return `${String(value["node"])}${Array.isArray(value["gpus"]) && value["gpus"].length > 0 ? ` [${value["gpus"].join(", ")}]` : ""}`;
    return JSON.stringify(value);
  }
  return String(value);
}
