/** Under a row: the whole reason, who holds what is short, and the changes that would start the job sooner, cheapest first (B1). */
import { CopyOutlined, ThunderboltOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { App, Button, Tag, Tooltip } from "antd";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { changeJob, explainJob } from "../../api/jobs";
import type { Explanation, Json, Waiting } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useFormatTime } from "../../shared/time";
import { Pending, useErrorText } from "../../shared/ui";

type Suggestion = Explanation["suggestions"][number];
type Change = Record<string, unknown>;

/** What can be changed of a job while it waits (R170, R191); everything else it asked for stays what it is. Pure. */
export function changeable(change: Change | null | undefined): { duration_s?: number | null; priority?: string } | null {
  if (!change) return null;
  const wanted: { duration_s?: number | null; priority?: string } = {};
  for (const [path, value] of Object.entries(change)) {
    if ((path === "duration_s" || path === "duration") && (typeof value === "number" || value === null)) wanted.duration_s = value;
    else if (path === "priority" && typeof value === "string") wanted.priority = value;
    else return null;
  }
  return Object.keys(wanted).length > 0 ? wanted : null;
}

export function WaitDetail({ job }: { job: Waiting }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const id = job.job ?? "";
  const query = useQuery({ queryKey: ["explain", id], queryFn: () => explainJob(id), enabled: id !== "", refetchInterval: 10_000 });
  const reason = query.data?.reason ?? job.reason;
  return (
    <div className="tm-wait-detail" data-testid="wait-detail">
      <section>
        <h3>{t("queue.detail.reason")}</h3>
        <p>{reason ? pick(reason.message) : t("state.queued")}</p>
        <Holders evidence={reason?.evidence ?? {}} />
        {job.flavors.length > 0 && <p className="tm-faint">{t("queue.detail.flavors")}{t("mark.colon")}{job.flavors.map((name) => <Tag key={name} className="tm-tag">{name}</Tag>)}</p>}
      </section>
      <section>
        <h3>{t("queue.detail.sooner")}</h3>
        {id === "" ? <p className="tm-faint">{t("queue.detail.notYours")}</p> : query.data ? <Suggestions id={id} all={query.data.suggestions} /> : <Pending query={query} rows={1} />}
      </section>
    </div>
  );
}

function Suggestions({ id, all }: { id: string; all: Suggestion[] }): ReactNode {
  const { t } = useTranslation();
  if (all.length === 0) return <p className="tm-faint">{t("queue.detail.noneKnown")}</p>;
  return <ol className="tm-sooner">{all.map((one, i) => <Sooner key={one.message.en} id={id} suggestion={one} best={i === 0} />)}</ol>;
}

function Sooner({ id, suggestion, best }: { id: string; suggestion: Suggestion; best: boolean }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const direct = changeable(suggestion.change);
  const apply = async (): Promise<void> => {
    if (!direct) return;
    setBusy(true);
    try {
      await changeJob(id, direct);
      message.success(t("queue.detail.applied"));
      for (const key of ["queue", "timeline", "explain"]) void client.invalidateQueries({ queryKey: [key] });
    } catch (error) {
      const { title, remedy } = errorText(error);
      message.error(`${title} ${remedy}`, 6);
    }
    setBusy(false);
  };
  return (
    <li data-testid="sooner">
      <span className="tm-grow">{pick(suggestion.message)} {best && <Tag color="green" className="tm-tag">{t("queue.detail.best")}</Tag>}</span>
      {direct ? <Button size="small" type={best ? "primary" : "default"} icon={<ThunderboltOutlined />} loading={busy} onClick={() => void apply()} data-testid="sooner-apply">{t("queue.detail.apply")}</Button>
        : suggestion.change && (
          <Tooltip title={t("queue.detail.copyHint")}>
            <Button size="small" icon={<CopyOutlined />} data-testid="sooner-copy" onClick={() => void navigate({ to: "/submit", search: { clone: id, set: JSON.stringify(suggestion.change) } })}>{t("queue.detail.copy")}</Button>
          </Tooltip>
        )}
    </li>
  );
}

interface Holder {
  job: string | null;
  name: string;
  holds: number;
  until: number | null;
}

function holders(evidence: Record<string, unknown>): Holder[] {
  const list = evidence["holders"];
  if (!Array.isArray(list)) return [];
  return (list as Record<string, Json>[]).map((one) => ({
    job: typeof one["job"] === "string" ? one["job"] : null, name: String(one["name"] ?? one["job"] ?? ""), holds: Number(one["holds"] ?? 0),
    until: typeof one["expires_at"] === "number" ? one["expires_at"] : null,
  }));
}

function Holders({ evidence }: { evidence: Record<string, unknown> }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const found = holders(evidence);
  if (found.length === 0) return null;
  return (
    <>
      <p className="tm-faint tm-flat">{t("queue.detail.holders")}</p>
      <ul className="tm-holders">
        {found.map((one, i) => (
          <li key={one.job ?? i}>
            {one.job ? <Link to="/jobs/$id" params={{ id: one.job }} search={{}}>{one.name}</Link> : <span>{t("queue.another")}</span>}
            <span className="tm-num">{one.holds}</span><span className="tm-faint">{one.until === null ? t("queue.detail.noEnd") : t("queue.detail.until", { time: time(one.until, "minute") })}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
