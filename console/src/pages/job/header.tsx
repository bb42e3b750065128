/** Name, state, progress and what can be done with the job now. */
import {
  AuditOutlined,
  ClockCircleOutlined,
  CodeOutlined,
  CopyOutlined,
  DeleteOutlined,
  DiffOutlined,
  ExperimentOutlined,
  FileDoneOutlined,
  FlagOutlined,
  MoreOutlined,
  StopOutlined,
  UnlockOutlined,
} from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { App, Button, Dropdown } from "antd";
import { Fragment, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { releaseJob } from "../../api/jobs";
import { ENDED, type JobDetail } from "../../api/types";
import { useJobActions } from "../../shared/actions";
import { ChangeJob } from "../../shared/change";
import { keepsWhatItWasTold, useEngineOf, useRanks } from "../../shared/engines";
import { duration, number } from "../../shared/format";
import { ButtonLink } from "../../shared/link";
import { StateTag } from "../../shared/state";
import { SaveTemplate } from "../../shared/template";
import { Ago, Elapsed } from "../../shared/time";
import { jobTitle } from "../../shared/title";
import { CopyButton, Crumb, Dotted, JobProgress, PageHeader, useErrorText } from "../../shared/ui";
import { Priority } from "../jobs/columns";
import { STAYS_UP } from "../submit/document";
import { FavoriteButton } from "./marks";
import { Versions } from "./versions";

export function JobHeader({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <Crumb>
        <Link to="/jobs" search={{}}>
          {t("jobs.title")}
        </Link>
      </Crumb>
      <PageHeader
        title={
          <span className="tm-title-line">
            {job.name} <StateTag state={job.state} />{" "}
            {job.priority !== "normal" && <Priority priority={job.priority} />} <Versions job={job} />
          </span>
        }
        name={jobTitle(job, t(`state.${job.state}`))}
        sub={
          <Dotted
            items={[
              <Fragment key="id">
                <span className="tm-mono" data-testid="job-id">
                  {job.id}
                </span>
                <CopyButton text={job.id} label={t("job.fact.id")} />
              </Fragment>,
              job.sweep && (
                <Link key="sweep" to="/sweeps/$id" params={{ id: job.sweep.id }} search={{}} data-testid="job-sweep">
                  {t("jobs.sweep.of", { name: job.sweep.name, n: job.sweep.index })}
                </Link>
              ),
              job.owner,
              <Ago key="at" at={job.submitted_at} />,
              job.started_at !== null && (
                <span key="run">
                  {t("job.fact.run")} <Elapsed from={job.started_at} to={job.ended_at} />
                  {job.duration_s !== null &&
                    !ENDED.has(job.state) &&
                    ` ${t("jobs.ranOf", { run: "", limit: duration(job.duration_s) }).trim()}`}
                </span>
              ),
            ]}
          />
        }
        actions={<Actions job={job} />}
      />
      {job.description && <p className="tm-description">{job.description}</p>}
      {!ENDED.has(job.state) && job.state !== "queued" && <Progress job={job} />}
    </>
  );
}

/** How far, how fast by the recent steps, and how long by that: each only where it is known (R206, D5). */
function Progress({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const each = job.progress?.step_s ?? null;
  const pace = each !== null && each > 0 && (
    <span className="tm-num" data-testid="pace">
      {each >= 1
        ? t("job.progress.each", { time: duration(each, true) })
        : t("job.progress.rate", { n: number(Number((1 / each).toPrecision(2))) })}
    </span>
  );
  return (
    <div className="tm-progress-line">
      <JobProgress job={job} wide pace={pace} />
    </div>
  );
}

/** From a job to one like it that is worked in, and from a session back to one that trains (R204, R58). */
function SessionLink({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const way = job.roles.every((role) => role.command === STAYS_UP) ? "train" : "session";
  return (
    <ButtonLink
      to="/submit"
      search={{ [way]: job.id }}
      icon={way === "train" ? <ExperimentOutlined /> : <CodeOutlined />}
      title={t(`action.${way}Hint`)}
      data-testid={way}
    >
      {t(`action.${way}`)}
    </ButtonLink>
  );
}

function Actions({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const act = useJobActions();
  const navigate = useNavigate();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const [saving, setSaving] = useState(false);
  const [changing, setChanging] = useState<"duration" | "priority" | null>(null);
  const engine = useEngineOf()(job.pool);
  const ended = ENDED.has(job.state);
  const acts = job.may.includes("write");
  const ranks = useRanks()(job);
  const release = async (): Promise<void> => {
    try {
      await releaseJob(job.id);
      message.success(t("job.act.released"));
    } catch (error) {
      message.error(errorText(error).title);
    }
  };
  return (
    <>
      {acts && job.state === "retained" && (
        <Button type="primary" icon={<UnlockOutlined />} onClick={() => void release()} data-testid="release">
          {t("job.act.release")}
        </Button>
      )}
      {acts && !ended && (
        <Button
          icon={<StopOutlined />}
          disabled={job.state === "stopping"}
          onClick={() => act("stop", [job])}
          data-testid="stop"
        >
          {t("action.stop")}
        </Button>
      )}
      <FavoriteButton job={job} />
      <ButtonLink
        to="/audit"
        search={{ subject: `job:${job.id}` }}
        icon={<AuditOutlined />}
        title={t("audit.jobLink")}
        data-testid="job-audit"
      >
        {t("audit.link")}
      </ButtonLink>
      <ButtonLink to="/submit" search={{ clone: job.id }} icon={<CopyOutlined />} data-testid="clone">
        {t("action.clone")}
      </ButtonLink>
      <SessionLink job={job} />
      <ButtonLink to="/compare" search={{ job: [job.id] }} icon={<DiffOutlined />} data-testid="compare">
        {t("compare.action")}
      </ButtonLink>
      {acts && ended && (
        <Button
          danger
          icon={<DeleteOutlined />}
          onClick={() => act("delete", [job], () => void navigate({ to: "/jobs", search: {} }))}
          data-testid="delete"
        >
          {t("action.delete")}
        </Button>
      )}
      <Dropdown
        trigger={["click"]}
        placement="bottomRight"
        menu={{
          items: [
            {
              key: "template",
              icon: <FileDoneOutlined />,
              label: <span data-testid="job-template">{t("templates.save")}</span>,
              onClick: () => setSaving(true),
            },
            ...(acts && !ended
              ? [
                  {
                    key: "duration",
                    icon: <ClockCircleOutlined />,
                    label: <span data-testid="change-duration">{t("job.act.duration")}</span>,
                    onClick: () => setChanging("duration"),
                  },
                  {
                    key: "priority",
                    icon: <FlagOutlined />,
                    disabled: !ranks,
                    label: <span data-testid="change-priority">{t("job.act.priority")}</span>,
                    onClick: () => setChanging("priority"),
                  },
                ]
              : []),
          ],
        }}
      >
        <Button icon={<MoreOutlined />} aria-label={t("action.more")} data-testid="more" />
      </Dropdown>
      {saving && <SaveTemplate of={{ job: job.id }} name={job.name} close={() => setSaving(false)} />}
      {changing && (
        <ChangeJob
          job={job}
          what={changing}
          close={() => setChanging(null)}
          note={
            engine && job.state !== "queued" && keepsWhatItWasTold(engine)
              ? t("job.act.untold", { engine: engine.name })
              : undefined
          }
        />
      )}
    </>
  );
}
