/** Under a row: the whole reason, who holds what is short, and what would start the job sooner (B1). */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { explainJob } from "../../api/jobs";
import type { Explanation, Json, Waiting } from "../../api/types";
import { useBilingual } from "../../i18n";
import { mib, number } from "../../shared/format";
import { useFormatTime } from "../../shared/time";
import { Pending } from "../../shared/ui";
import { type Changing, Sooner } from "./sooner";

const REFRESH_MS = 10_000;

/** Why a job waits, asked again while it does. `version` changes with the job, so that an answer is never of an older one. */
export function useWaiting(id: string, version?: number): UseQueryResult<Explanation> {
  return useQuery({
    queryKey: ["explain", id, version],
    queryFn: () => explainJob(id),
    enabled: id !== "",
    refetchInterval: REFRESH_MS,
  });
}

export function WaitDetail({ job }: { job: Waiting }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const query = useWaiting(job.job ?? "");
  const reason = query.data?.reason ?? job.reason;
  return (
    <div className="tm-wait-detail" data-testid="wait-detail">
      <section>
        <h3>{t("queue.detail.reason")}</h3>
        <p>{reason ? pick(reason.message) : t("state.queued")}</p>
        <Holders reason={reason} />
        {job.flavors.length > 0 && (
          <p className="tm-faint">
            {t("queue.detail.flavors")}
            {t("mark.colon")}
            {job.flavors.map((name) => (
              <Tag key={name} className="tm-tag">
                {name}
              </Tag>
            ))}
          </p>
        )}
      </section>
      <section>
        <h3>{t("queue.detail.sooner")}</h3>
        {job.job === null ? (
          <p className="tm-faint">{t("queue.detail.notYours")}</p>
        ) : (
          <SoonerOf
            query={query}
            job={{ id: job.job, name: job.name ?? "", duration_s: job.duration_s, priority: job.priority }}
          />
        )}
      </section>
    </div>
  );
}

export function SoonerOf({ query, job }: { query: UseQueryResult<Explanation>; job: Changing }): ReactNode {
  return query.data ? <Sooner job={job} all={query.data.suggestions} /> : <Pending query={query} rows={1} />;
}

interface Holder {
  job: string | null;
  name: string;
  owner: string | null;
  holds: number;
  until: number | null;
}

function holders(evidence: Record<string, unknown>): Holder[] {
  const list = evidence["holders"];
  if (!Array.isArray(list)) return [];
  return (list as Record<string, Json>[]).map((one) => ({
    job: typeof one["job"] === "string" ? one["job"] : null,
    name: String(one["name"] ?? one["job"] ?? ""),
    owner: typeof one["owner"] === "string" ? one["owner"] : null,
    holds: Number(one["holds"] ?? 0),
    until: typeof one["expires_at"] === "number" ? one["expires_at"] : null,
  }));
}

/** Who holds most of what the job lacks, how much, and until when. Nothing where the reason is another. */
export function Holders({ reason }: { reason: Explanation["reason"] }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const found = holders(reason?.evidence ?? {});
  if (found.length === 0) return null;
  const amount = (held: number): string => {
    if (reason?.code === "waiting_memory") return mib(held);
    return t(reason?.code === "waiting_cpu" ? "unit.cores" : "unit.cards", { n: number(held), count: held });
  };
  return (
    <>
      <h3>{t("queue.detail.holders")}</h3>
      <ul className="tm-holders" data-testid="holders">
        {found.map((one, i) => (
          <li key={one.job ?? i}>
            {one.job ? (
              <Link to="/jobs/$id" params={{ id: one.job }} search={{}} className="tm-ellipsis">
                {one.name}
              </Link>
            ) : (
              <span className="tm-faint">
                {one.owner ? t("queue.anothers", { owner: one.owner }) : t("queue.another")}
              </span>
            )}
            <span className="tm-num tm-nowrap">{amount(one.holds)}</span>
            <span className="tm-faint tm-nowrap">
              {one.until === null
                ? t("queue.detail.noEnd")
                : t("queue.detail.until", { time: time(one.until, "minute") })}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
