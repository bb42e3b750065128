/** Why a job waits, here or in the queue of a cluster, its place and when it is expected to start; who holds what it lacks, and what would help (B1). */
import { ClockCircleOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JobDetail } from "../../api/types";
import { useBilingual } from "../../i18n";
import { Elapsed } from "../../shared/time";
import { ErrorPanel } from "../../shared/ui";
import { Holders, SoonerOf, useWaiting } from "../queue/detail";
import { ForecastWords } from "../queue/forecast";
import { Box } from "./box";

export function WaitBox({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const query = useWaiting(job.id, job.version);
  const reason = query.data?.reason ?? job.reason;
  const position = reason?.position ?? 0;
  const failed = Boolean(query.error) && !query.data;
  return (
    <Box tone="grey" icon={<ClockCircleOutlined />} title={t("job.verdict.waits")} test="wait">
      <p>{reason ? pick(reason.message) : t(`state.${job.state}`)}</p>
      <dl className="tm-wait-facts">
        {position > 0 && (
          <div>
            <dt>{t("job.wait.place")}</dt>
            <dd>
              <Link to="/queue" search={job.pool === "default" ? {} : { pool: job.pool }} data-testid="wait-place">
                {t("jobs.position", { n: position })}
              </Link>
            </dd>
          </div>
        )}
        {reason?.decided_by && (
          <div>
            <dt>{t("job.wait.decidedBy")}</dt>
            <dd data-testid="decided-by">{reason.decided_by}</dd>
          </div>
        )}
        <div>
          <dt>{t("queue.col.since")}</dt>
          <dd>
            <Elapsed from={job.queued_at} to={null} />
          </dd>
        </div>
        <div>
          <dt>{t("queue.col.forecast")}</dt>
          <dd>
            <ForecastWords forecast={query.data?.forecast ?? null} line={false} />
          </dd>
        </div>
      </dl>
      {failed && <ErrorPanel error={query.error} retry={() => void query.refetch()} />}
      {!failed && job.state === "queued" && (
        <div className="tm-wait-more">
          <section>
            <h3>{t("queue.detail.sooner")}</h3>
            <SoonerOf query={query} job={job} />
          </section>
          <section>
            <Holders reason={reason} />
          </section>
        </div>
      )}
    </Box>
  );
}
