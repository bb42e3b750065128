/** The columns of the list (R200 and more). Two lines per cell keep them on one screen. */
import { CopyOutlined, DeleteOutlined, MoreOutlined, StopOutlined } from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, type TableColumnsType, Tag, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type Job } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useJobActions } from "../../shared/actions";
import { duration, labelText, mib, number } from "../../shared/format";
import { useFrameworkTitle } from "../../shared/meta";
import { StateTag } from "../../shared/state";
import { Ago, Elapsed, useFormatTime } from "../../shared/time";
import { JobProgress, Nothing } from "../../shared/ui";

export function useColumns(): TableColumnsType<Job> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("jobs.col.name"),
        key: "name",
        width: 172,
        fixed: "start",
        render: (_, job) => <NameCell job={job} />,
      },
      { title: t("jobs.col.state"), key: "state", width: 112, render: (_, job) => <StateTag state={job.state} /> },
      { title: t("jobs.col.progress"), key: "progress", width: 98, render: (_, job) => <JobProgress job={job} /> },
      {
        title: t("jobs.col.metric"),
        key: "metric",
        width: 80,
        render: (_, job) => <KeyMetric metrics={job.metrics} />,
      },
      { title: t("jobs.col.owner"), key: "owner", width: 76, ellipsis: true, render: (_, job) => job.owner },
      {
        title: t("jobs.col.submitted"),
        key: "submitted",
        width: 96,
        render: (_, job) => <Ago at={job.submitted_at} />,
      },
      { title: t("jobs.col.run"), key: "run", width: 88, render: (_, job) => <RunCell job={job} /> },
      { title: t("jobs.col.where"), key: "where", width: 100, render: (_, job) => <WhereCell job={job} /> },
      { title: t("jobs.col.resources"), key: "resources", width: 128, render: (_, job) => <ResourceCell job={job} /> },
      {
        title: <span className="tm-hidden">{t("jobs.col.actions")}</span>,
        key: "actions",
        width: 40,
        fixed: "end",
        align: "end",
        render: (_, job) => <RowActions job={job} />,
      },
    ],
    [t],
  );
}

function NameCell({ job }: { job: Job }): ReactNode {
  const pick = useBilingual();
  const failed = job.verdict && (job.state === "failed" || job.state === "expired") ? pick(job.verdict.title) : "";
  return (
    <div className="tm-cell">
      <span className="tm-name-line">
        <Link to="/jobs/$id" params={{ id: job.id }} search={{}} className="tm-name" data-testid="job-link">
          {job.name}
        </Link>
        {job.priority !== "normal" && <Priority priority={job.priority} />}
      </span>
      {job.reason ? (
        <WaitLine job={job} />
      ) : (
        <span className={failed ? "tm-line tm-line-bad" : "tm-line"}>
          {failed || job.description || Object.entries(job.labels).map(labelText).join(" · ") || job.id.slice(0, 12)}
        </span>
      )}
    </div>
  );
}

function WaitLine({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const time = useFormatTime();
  if (!job.reason) return null;
  const at = job.forecast?.at ?? null;
  const start = at === null ? "" : t("queue.forecast.about", { time: time(at, "minute") });
  const by = job.forecast?.by && start ? t("queue.forecast.by", { engine: job.forecast.by }) : "";
  const text = [pick(job.reason.message), start].filter(Boolean).join(" · ");
  const place =
    job.reason.position != null && job.reason.position > 0 ? t("jobs.position", { n: job.reason.position }) : "";
  return (
    <Tooltip title={[text, by, place].filter(Boolean).join(" · ")} placement="bottomLeft">
      <span className="tm-line" data-testid="wait-reason">
        {text}
      </span>
    </Tooltip>
  );
}

export function Priority({ priority }: { priority: string }): ReactNode {
  const { t, i18n } = useTranslation();
  const key = `priority.${priority}`;
  return (
    <Tag color={priority === "normal" ? "default" : priority === "urgent" ? "orange" : "red"} className="tm-tag">
      {i18n.exists(key) ? t(key as "priority.normal") : priority}
    </Tag>
  );
}

/** Which of many metrics is shown in one cell: what people ask for first. */
const KEY_METRICS = [
  "accuracy",
  "acc",
  "val_accuracy",
  "eval_accuracy",
  "top1",
  "reward",
  "f1",
  "val_loss",
  "eval_loss",
  "loss",
];

export function keyMetric(metrics: Record<string, number | null>): [string, number] | null {
  const names = Object.keys(metrics).filter((name) => metrics[name] !== null);
  const wanted =
    KEY_METRICS.find((name) => names.includes(name)) ?? names.find((name) => name !== "step" && name !== "epoch");
  return wanted === undefined ? null : [wanted, metrics[wanted] ?? Number.NaN];
}

function KeyMetric({ metrics }: { metrics: Record<string, number | null> }): ReactNode {
  const found = keyMetric(metrics);
  if (!found) return <Nothing />;
  const all = Object.entries(metrics).map(([name, value]) => (
    <div key={name}>
      {name}: {value === null ? "–" : number(value)}
    </div>
  ));
  return (
    <Tooltip title={all}>
      <div className="tm-cell">
        <span className="tm-num">{number(found[1])}</span>
        <span className="tm-line">{found[0]}</span>
      </div>
    </Tooltip>
  );
}

function RunCell({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-cell">
      <Elapsed from={job.started_at} to={job.ended_at} />
      {!ENDED.has(job.state) && job.duration_s != null && (
        <span className="tm-line">{t("jobs.ranOf", { run: "", limit: duration(job.duration_s) }).trim()}</span>
      )}
    </div>
  );
}

function WhereCell({ job }: { job: Job }): ReactNode {
  const nodes = job.nodes.join(", ");
  return (
    <Tooltip title={nodes}>
      <div className="tm-cell">
        <span className="tm-ellipsis">{job.pool}</span>
        {nodes && (
          <span className="tm-line">{job.nodes.length > 2 ? `${job.nodes[0]} +${job.nodes.length - 1}` : nodes}</span>
        )}
      </div>
    </Tooltip>
  );
}

function ResourceCell({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const framework = useFrameworkTitle()(job.framework);
  const r = job.resources;
  const parts = [
    r.gpu > 0 ? t("unit.cards", { n: r.gpu, count: r.gpu }) : "",
    t("unit.cores", { n: number(r.cpu), count: r.cpu }),
    mib(r.memory_mib),
  ].filter(Boolean);
  return (
    <Tooltip
      title={[framework, t("unit.tasks", { count: job.tasks.total }), ...parts, r.gpu_type ?? ""]
        .filter(Boolean)
        .join(" · ")}
    >
      <div className="tm-cell">
        <span className="tm-ellipsis">{framework}</span>
        <span className="tm-line">{parts.slice(0, 2).join(" · ")}</span>
      </div>
    </Tooltip>
  );
}

function RowActions({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const act = useJobActions();
  const navigate = useNavigate();
  const ended = ENDED.has(job.state);
  return (
    <Dropdown
      trigger={["click"]}
      placement="bottomRight"
      menu={{
        items: [
          {
            key: "clone",
            icon: <CopyOutlined />,
            label: <span data-testid="row-clone">{t("action.clone")}</span>,
            onClick: () => void navigate({ to: "/submit", search: { clone: job.id } }),
          },
          {
            key: "stop",
            icon: <StopOutlined />,
            disabled: ended || job.state === "stopping",
            label: <span data-testid="row-stop">{t("action.stop")}</span>,
            onClick: () => act("stop", [job]),
          },
          {
            key: "delete",
            icon: <DeleteOutlined />,
            danger: true,
            disabled: !ended,
            label: <span data-testid="row-delete">{t("action.delete")}</span>,
            onClick: () => act("delete", [job]),
          },
        ],
      }}
    >
      <Button
        type="text"
        icon={<MoreOutlined />}
        aria-label={`${t("jobs.col.actions")}: ${job.name}`}
        data-testid="row-menu"
      />
    </Dropdown>
  );
}
