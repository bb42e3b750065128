/** What happened to the job, oldest at the bottom: all of it, or what somebody looks for (R220). */
import { useQuery } from "@tanstack/react-query";
import { Segmented } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readEvents } from "../../api/jobs";
import type { JobDetail, JobEvent } from "../../api/types";
import { useBilingual } from "../../i18n";
import { Stamp, useFormatTime } from "../../shared/time";
import { Empty, Pending } from "../../shared/ui";
import type { TabProps } from "./tab";
import { detailsOf } from "./told";
import { ModelLink } from "./verdict";

const BAD = new Set(["bad_node", "launch_failed", "task_lost", "fault", "save_failed", "expired"]);
const GOOD = new Set(["saved", "started"]);

/** Steps that say nothing to people: they are followed by one that does, or by a failure. */
const SMALL = new Set(["checked", "staged", "task_running", "reaped"]);
const OURS = ["system", "scheduler", "agent", "engine"];

export type EventFilter = "all" | "key" | "bad" | "people";
const FILTERS = ["key", "bad", "people", "all"] as const satisfies readonly EventFilter[];

const failed = ({ kind, data }: JobEvent): boolean =>
  BAD.has(kind) || (kind === "task_exited" && data["exit_code"] !== 0);

/** Whether an event is one of those looked for. Pure. */
export function shows(filter: EventFilter, event: JobEvent): boolean {
  if (filter === "key") return failed(event) || !SMALL.has(event.kind);
  if (filter === "bad") return failed(event);
  return filter === "all" || !OURS.includes(event.actor);
}

export function Events({ job, search, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const filter: EventFilter = search.events ?? "key";
  const query = useQuery({ queryKey: ["events", job.id], queryFn: () => readEvents(job.id) });
  if (!query.data) return <Pending query={query} />;
  if (query.data.items.length === 0)
    return (
      <div className="tm-panel">
        <Empty title={t("job.events.none")} />
      </div>
    );
  const found = query.data.items.filter((event) => shows(filter, event)).reverse();
  return (
    <section className="tm-panel">
      <div className="tm-log-bar">
        <Segmented<EventFilter>
          value={filter}
          onChange={(to) => update({ events: to === "key" ? undefined : to })}
          options={FILTERS.map((value) => ({
            value,
            label: <span data-testid={`events-${value}`}>{t(`job.events.filter.${value}`)}</span>,
          }))}
          aria-label={t("job.events.show")}
        />
      </div>
      {found.length === 0 ? (
        <Empty title={t("job.events.noneOfThese")} />
      ) : (
        <ol className="tm-events" data-testid="events">
          {found.map((event, i) => (
            <OneEvent key={event.seq} event={event} job={job} newDay={dayOf(event) !== dayOf(found[i - 1])} />
          ))}
        </ol>
      )}
    </section>
  );
}

const dayOf = (event: JobEvent | undefined): string => (event ? new Date(event.at * 1000).toDateString() : "");

function OneEvent({ event, job, newDay }: { event: JobEvent; job: JobDetail; newDay: boolean }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const format = useFormatTime();
  const who = OURS.includes(event.actor) ? "" : t("job.events.by", { who: event.actor });
  const attempt = event.attempt > 0 && job.attempts > 1 ? t("job.timeline.attempt", { n: event.attempt }) : "";
  const small = SMALL.has(event.kind);
  const tone = failed(event) ? "red" : small ? "grey" : GOOD.has(event.kind) ? "green" : "blue";
  const words = detailsOf(event, job.roles, t);
  const said = event.kind === "entered" ? "" : pick(event.text); // the replica and the program stand there already
  return (
    <li data-kind={event.kind} className={small ? "tm-event-small" : undefined}>
      <i className={`tm-fill-${tone}`} />
      <span className="tm-faint tm-num tm-event-time">
        <Stamp at={event.at}>
          {format(event.at, "clock")}
          {newDay && <small>{format(event.at, "day")}</small>}
        </Stamp>
      </span>
      <div className="tm-grow">
        <div>
          <strong>{pick(event.title)}</strong>{" "}
          <span className="tm-faint tm-event-who">{[who, attempt].filter(Boolean).join(" · ")}</span>
        </div>
        <div className="tm-line tm-event-data">
          {typeof event.data["model"] === "string" && <ModelLink model={event.data["model"]} />}
          {[...words, ...(said ? [said] : [])].map((text) => (
            <span key={text}>{text}</span>
          ))}
        </div>
      </div>
    </li>
  );
}
