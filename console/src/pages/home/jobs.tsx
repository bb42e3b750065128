/** One's own jobs: those that run with how far they are, those that wait with when they start, those that failed with what helps. */
import { MedicineBoxOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button } from "antd";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Home, Job, Waiting } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration } from "../../shared/format";
import { leftOf } from "../../shared/left";
import { StateTag } from "../../shared/state";
import { Ago, useNow } from "../../shared/time";
import { JobProgress } from "../../shared/ui";
import { ForecastWords } from "../queue/forecast";

const Help = lazy(() => import("./help"));

export function RunningJobs({ home }: { home: Home }): ReactNode {
  const { t } = useTranslation();
  return (
    <Part
      title={t("home.running")}
      test="home-running"
      none={home.running.length === 0 && t("home.nothingRuns")}
      more={
        home.running_total > home.running.length && (
          <Link to="/jobs" search={{ who: "mine", state: "running" }}>
            {t("home.more", { n: home.running_total })}
          </Link>
        )
      }
    >
      {home.running.map((job) => (
        <li key={job.id} data-testid="home-job">
          <Name id={job.id} name={job.name} second={<Left job={job} />} />
          <StateTag state={job.state} quiet />
          <JobProgress job={job} />
        </li>
      ))}
    </Part>
  );
}

/** How long it still takes: by its progress, else until its time limit, else how long it has run. */
function Left({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const now = useNow();
  const left = leftOf(job, now);
  if (left !== null && left.cut === null) return t("home.left", { time: duration(left.eta) });
  if (job.expires_at !== null) return t("home.limitLeft", { time: duration(Math.max(0, job.expires_at - now)) });
  return job.started_at === null ? "" : t("home.runs", { time: duration(Math.max(0, now - job.started_at)) });
}

export function WaitingJobs({ home }: { home: Home }): ReactNode {
  const { t } = useTranslation();
  return (
    <Part
      title={t("home.waiting")}
      test="home-waiting"
      none={home.waiting_total === 0 && t("home.nothingWaits")}
      more={
        home.waiting_total > home.waiting.length && (
          <Link to="/queue" search={{ mine: true }}>
            {t("home.more", { n: home.waiting_total })}
          </Link>
        )
      }
    >
      {home.waiting.map((one) => (
        <WaitingRow key={one.job} one={one} />
      ))}
    </Part>
  );
}

export function WaitingRow({ one, whose = false }: { one: Waiting; whose?: boolean }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const name = one.name ?? t("home.hiddenJob");
  const reason = one.reason ? pick(one.reason.message) : "";
  return (
    <li data-testid="home-waits">
      <Name
        id={one.job}
        name={whose && one.owner ? `${name} · ${one.owner}` : name}
        second={
          <span className="tm-home-said" title={reason}>
            {reason}
          </span>
        }
      />
      <ForecastWords forecast={one.forecast} />
    </li>
  );
}

export function FailedJobs({ home }: { home: Home }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const [helping, setHelping] = useState<Job | null>(null);
  return (
    <Part
      title={t("home.failed")}
      test="home-failed"
      none={home.failed.length === 0 && t("home.nothingFailed")}
      more={
        home.failed.length > 0 && (
          <Link to="/jobs" search={{ who: "mine", state: "failed,expired" }}>
            {t("home.allFailed")}
          </Link>
        )
      }
    >
      {home.failed.map((job) => (
        <li key={job.id} data-testid="home-bad">
          <Name
            id={job.id}
            name={job.name}
            second={
              <span className="tm-home-said">
                {job.verdict ? pick(job.verdict.title) || job.verdict.code : t(`state.${job.state}`)} ·{" "}
                <Ago at={job.ended_at} />
              </span>
            }
          />
          <StateTag state={job.state} quiet />
          <Button
            size="small"
            icon={<MedicineBoxOutlined />}
            onClick={() => setHelping(job)}
            data-testid="home-help"
            aria-label={t("home.helpFor", { name: job.name })}
          >
            {t("home.help")}
          </Button>
        </li>
      ))}
      {helping && (
        <Suspense fallback={null}>
          <Help job={helping} close={() => setHelping(null)} />
        </Suspense>
      )}
    </Part>
  );
}

/** A card with rows, or a sentence that there are none. */
export function Part({
  title,
  test,
  none = false,
  more,
  children,
}: {
  title: string;
  test: string;
  none?: string | false;
  more?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <section className="tm-panel" data-testid={test} aria-label={title}>
      <h2 className="tm-use-head">
        {title}
        <span className="tm-grow" />
        {more && <span className="tm-home-more">{more}</span>}
      </h2>
      {none ? <p className="tm-home-none tm-faint">{none}</p> : <ul className="tm-home-rows">{children}</ul>}
    </section>
  );
}

function Name({ id, name, second }: { id: string | null; name: string; second: ReactNode }): ReactNode {
  return (
    <div className="tm-cell tm-grow">
      {id === null ? (
        <span className="tm-ellipsis">{name}</span>
      ) : (
        <Link to="/jobs/$id" params={{ id }} search={{}} className="tm-name tm-ellipsis" title={name}>
          {name}
        </Link>
      )}
      <span className="tm-line">{second}</span>
    </div>
  );
}
