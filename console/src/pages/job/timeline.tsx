/** The attempts as a picture: how long each waited, initialised, waited in a cluster's queue, ran, saved. One row per attempt, one common time axis. */
import { Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { type AttemptView, ENDED, type JobDetail } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration } from "../../shared/format";
import { useFormatTime, useNow } from "../../shared/time";
import type { TabProps } from "./tab";

export type Piece = { kind: "queued" | "initialising" | "pending" | "running" | "saving"; from: number; to: number };

/** The pieces of one attempt; `waitedFrom` is when the wait before it began. Pure. */
export function pieces(attempt: AttemptView, waitedFrom: number, end: number): Piece[] {
  const stop = attempt.ended_at ?? end;
  const marks: [Piece["kind"], number][] = [
    ["queued", waitedFrom],
    ["initialising", attempt.created_at],
  ];
  if (attempt.accepted_at !== null) marks.push(["pending", attempt.accepted_at]);
  if (attempt.started_at !== null) marks.push(["running", attempt.started_at]);
  if (attempt.draining_at !== null) marks.push(["saving", attempt.draining_at]);
  return marks
    .map(([kind, from], i): Piece => ({ kind, from, to: Math.min(marks[i + 1]?.[1] ?? stop, stop) }))
    .filter((piece) => piece.to > piece.from);
}

const KINDS = ["queued", "initialising", "pending", "running", "saving"] as const;
const MOST_ROWS = 12;

export function Timeline({ job, update }: { job: JobDetail; update: TabProps["update"] }): ReactNode {
  const { t } = useTranslation();
  const current = useNow();
  const time = useFormatTime();
  const end = job.ended_at ?? Math.max(current, job.submitted_at + 1);
  const span = Math.max(end - job.submitted_at, 0.001);
  const rows = job.attempt_list.slice(-MOST_ROWS);
  const last = job.attempt_list[job.attempt_list.length - 1];
  const waiting =
    job.state === "queued" ? [{ kind: "queued", from: last?.ended_at ?? job.submitted_at, to: end } as Piece] : [];
  const share = (seconds: number): string => `${(Math.max(0, seconds) / span) * 100}%`;
  const bars = (list: Piece[]): ReactNode =>
    list.map((piece) => (
      <Tooltip
        key={piece.kind + piece.from}
        title={`${t(`job.timeline.${piece.kind}`)} · ${duration(piece.to - piece.from, true)} · ${time(piece.from, "clock")} – ${time(piece.to, "clock")}`}
      >
        <i
          className={`tm-piece tm-piece-${piece.kind}`}
          style={{ left: share(piece.from - job.submitted_at), width: `max(3px, ${share(piece.to - piece.from)})` }}
        />
      </Tooltip>
    ));
  return (
    <div className="tm-timeline" data-testid="timeline">
      {rows.map((attempt, i) => (
        <div key={attempt.number} className="tm-timeline-row">
          <AttemptLabel
            attempt={attempt}
            open={() =>
              update({ tab: "logs", attempt: attempt.number, task: undefined, line: undefined, find: undefined })
            }
          />
          <div className="tm-timeline-track">
            {bars(
              pieces(
                attempt,
                rows[i - 1]?.ended_at ?? (attempt.number === 1 ? job.submitted_at : attempt.created_at),
                end,
              ),
            )}
          </div>
        </div>
      ))}
      {waiting.length > 0 && (
        <div className="tm-timeline-row">
          <div className="tm-timeline-label">{t("state.queued")}</div>
          <div className="tm-timeline-track">{bars(waiting)}</div>
        </div>
      )}
      <div className="tm-timeline-row tm-timeline-axis">
        <div className="tm-legend-inline">
          {KINDS.filter((kind) => kind !== "pending" || rows.some((attempt) => attempt.accepted_at !== null)).map(
            (kind) => (
              <span key={kind}>
                <i className={`tm-piece-${kind}`} />
                {t(`job.timeline.${kind}`)}
              </span>
            ),
          )}
        </div>
        <div className="tm-timeline-ends">
          <span>{time(job.submitted_at, "clock")}</span>
          <span>{duration(span, true)}</span>
          <span>{ENDED.has(job.state) ? time(end, "clock") : t("job.timeline.now")}</span>
        </div>
      </div>
    </div>
  );
}

function AttemptLabel({ attempt, open }: { attempt: AttemptView; open: () => void }): ReactNode {
  const { t, i18n } = useTranslation();
  const pick = useBilingual();
  const cause = `job.cause.${attempt.cause}`;
  const why = attempt.verdict && attempt.verdict.code !== "ok" ? pick(attempt.verdict.title) : "";
  const how = attempt.number === 1 ? "" : i18n.exists(cause) ? t(cause as "job.cause.first") : attempt.cause;
  return (
    <div className="tm-timeline-label">
      <button type="button" className="tm-link" onClick={open}>
        {t("job.timeline.attempt", { n: attempt.number })}
      </button>
      <span className="tm-line" title={why || how}>
        {why ? <span className="tm-bad">{why}</span> : how}
      </span>
    </div>
  );
}
