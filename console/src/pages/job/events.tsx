/** Everything that happened to the job, oldest at the bottom (R220). */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readEvents } from "../../api/jobs";
import type { JobEvent, Json } from "../../api/types";
import { useBilingual } from "../../i18n";
import { Stamp, useFormatTime } from "../../shared/time";
import { Empty, Pending } from "../../shared/ui";
import type { TabProps } from "./index";

const BAD = new Set(["bad_node", "launch_failed", "task_lost", "fault", "slow", "save_failed", "expired"]);
const GOOD = new Set(["saved", "checked", "started"]);

export function Events({ job }: TabProps): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["events", job.id], queryFn: () => readEvents(job.id) });
  if (!query.data) return <Pending query={query} />;
  if (query.data.items.length === 0) return <div className="tm-panel"><Empty title={t("job.events.none")} /></div>;
  return <ol className="tm-panel tm-events" data-testid="events">{[...query.data.items].reverse().map((event) => <OneEvent key={event.seq} event={event} />)}</ol>;
}

function OneEvent({ event }: { event: JobEvent }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const format = useFormatTime();
  const actor = event.actor === "system" || event.actor === "scheduler" || event.actor === "agent" ? t(`job.events.actors.${event.actor}`) : event.actor;
  const failed = event.kind === "task_exited" && event.data["exit_code"] !== 0;
  const tone = BAD.has(event.kind) || failed ? "red" : GOOD.has(event.kind) ? "green" : "blue";
  const details = Object.entries(event.data).filter(([key, value]) => key !== "job" && key !== "handle" && value !== null);
  return (
    <li data-kind={event.kind}>
      <i className={`tm-fill-${tone}`} />
      <span className="tm-faint tm-num tm-event-time"><Stamp at={event.at}>{format(event.at, "clock")}</Stamp></span>
      <div className="tm-grow">
        <div><strong>{pick(event.title)}</strong> <span className="tm-faint">{actor}{event.attempt > 0 && ` · ${t("job.timeline.attempt", { n: event.attempt })}`}</span></div>
        {details.length > 0 && <div className="tm-line tm-event-data">{details.map(([key, value]) => <span key={key}><span className="tm-faint">{key}</span> {brief(value)}</span>)}</div>}
      </div>
    </li>
  );
}

/** One line of a value: placements as node and cards, the rest as it is. */
function brief(value: Json): string {
  if (Array.isArray(value)) return value.map(brief).join(", ");
  if (typeof value === "object" && value !== null) {
    if ("node" in value) return `${String(value["node"])}${Array.isArray(value["gpus"]) && value["gpus"].length > 0 ? ` [${value["gpus"].join(", ")}]` : ""}`;
    if ("message" in value) return String(value["message"]);
    return JSON.stringify(value);
  }
  return String(value);
}
