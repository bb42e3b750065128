/** The columns of the queue. Of jobs that the reader may not know of only sizes, owner and workspace are told. */
import { FlagOutlined, MoreOutlined, StopOutlined } from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Grid, type TableColumnsType, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Waiting } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useJobActions } from "../../shared/actions";
import { duration, mib, number } from "../../shared/format";
import { Elapsed, Stamp, useFormatTime, useNow } from "../../shared/time";
import { Dotted, Hinted } from "../../shared/ui";
import { Priority } from "../jobs/columns";
import { ForecastWords } from "./forecast";
import { unchangedFor } from "./unchanged";

/** Widths of all but the reason, which takes what is left. */
const WIDE = { job: 190, size: 172, since: 108, forecast: 184 };
const MIDDLE = { job: 156, size: 152, since: 104, forecast: 152 };
const NARROW = { job: 148, size: 124, since: 80, forecast: 132 };

export function useQueueColumns(many: boolean, change: (job: Waiting) => void): TableColumnsType<Waiting> {
  const { t } = useTranslation();
  const screens = Grid.useBreakpoint();
  const width = screens.xl === false ? NARROW : screens.xxl === false ? MIDDLE : WIDE;
  return useMemo(() => {
    const actions: TableColumnsType<Waiting>[number] = {
      title: <span className="tm-hidden">{t("queue.col.actions")}</span>,
      key: "actions",
      width: 44,
      align: "end",
      render: (_, job) => job.job && <Menu job={job} change={change} />,
    };
    return [
      {
        title: (
          <Hinted hint={t("queue.col.positionHint")} className="tm-explained">
            {t("queue.col.position")}
          </Hinted>
        ),
        key: "position",
        width: many ? 96 : 72,
        className: "tm-row-before",
        render: (_, job) => (
          <div className="tm-cell">
            <b className="tm-num" data-testid="position">
              {job.position}
            </b>
            {many && <span className="tm-line">{job.pool}</span>}
          </div>
        ),
      },
      { title: t("queue.col.job"), key: "job", width: width.job, render: (_, job) => <NameCell job={job} /> },
      { title: t("queue.col.size"), key: "size", width: width.size, render: (_, job) => <SizeCell job={job} /> },
      { title: t("queue.col.reason"), key: "reason", render: (_, job) => <ReasonCell job={job} /> },
      {
        title: t("queue.col.since"),
        key: "since",
        width: width.since,
        render: (_, job) => (
          <div className="tm-cell">
            <Elapsed from={job.queued_at} to={null} />
            <span className="tm-line">
              <Since at={job.queued_at} />
            </span>
          </div>
        ),
      },
      {
        title: t("queue.col.forecast"),
        key: "forecast",
        width: width.forecast,
        render: (_, job) => <ForecastWords forecast={job.forecast} />,
      },
      actions,
    ];
  }, [t, many, change, width]);
}

function NameCell({ job }: { job: Waiting }): ReactNode {
  const { t } = useTranslation();
  const where = [job.job && job.owner, job.workspace, job.virtual_cluster].filter(Boolean).join(" · ");
  return (
    <div className="tm-cell">
      <span className="tm-name-line">
        {job.job ? (
          <Link to="/jobs/$id" params={{ id: job.job }} search={{}} className="tm-name" data-testid="queue-job">
            {job.name}
          </Link>
        ) : (
          <span className="tm-faint tm-ellipsis">
            {job.owner ? t("queue.anothers", { owner: job.owner }) : t("queue.another")}
          </span>
        )}
        {job.priority !== "normal" && <Priority priority={job.priority} />}
      </span>
      <span className="tm-line" title={where}>
        {where}
      </span>
    </div>
  );
}

function SizeCell({ job }: { job: Waiting }): ReactNode {
  const { t } = useTranslation();
  const r = job.resources;
  const cores = t("unit.cores", { n: number(r.cpu), count: r.cpu });
  const first = r.gpu > 0 ? [t("unit.cards", { n: r.gpu, count: r.gpu }), r.gpu_type ?? ""] : [cores];
  const limit = job.duration_s === null ? t("queue.detail.noEnd") : `≤\u00a0${duration(job.duration_s)}`;
  return (
    <Tooltip
      title={[t("unit.tasks", { count: job.tasks }), ...first, r.gpu > 0 ? cores : "", mib(r.memory_mib), limit]
        .filter(Boolean)
        .join(" · ")}
    >
      <div className="tm-cell">
        <Dotted items={first} />
        <Dotted className="tm-line" items={[t("unit.tasks", { count: job.tasks }), limit]} />
      </div>
    </Tooltip>
  );
}

function ReasonCell({ job }: { job: Waiting }): ReactNode {
  const pick = useBilingual();
  const text = job.reason ? pick(job.reason.message) : "–";
  return (
    <Tooltip title={text} placement="bottomLeft">
      <span className="tm-line-two" data-testid="queue-reason">
        {text}
      </span>
    </Tooltip>
  );
}

function Menu({ job, change }: { job: Waiting; change: (job: Waiting) => void }): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const act = useJobActions();
  return (
    <Dropdown
      trigger={["click"]}
      placement="bottomRight"
      menu={{
        items: [
          {
            key: "priority",
            icon: <FlagOutlined />,
            label: <span data-testid="queue-priority">{t("queue.detail.priority")}</span>,
            onClick: () => change(job),
          },
          {
            key: "open",
            label: t("queue.detail.open"),
            onClick: () => void navigate({ to: "/jobs/$id", params: { id: job.job ?? "" }, search: {} }),
          },
          { type: "divider" },
          {
            key: "stop",
            danger: true,
            icon: <StopOutlined />,
            label: <span data-testid="queue-stop">{t("action.stop")}</span>,
            onClick: () => act("stop", [{ id: job.job ?? "", name: job.name ?? "", state: "queued" }]),
          },
        ],
      }}
    >
      <Button
        type="text"
        icon={<MoreOutlined />}
        aria-label={t("mark.named", { what: t("queue.col.actions"), name: job.name ?? "" })}
        data-testid="queue-menu"
      />
    </Dropdown>
  );
}

function Since({ at }: { at: number }): ReactNode {
  const time = useFormatTime();
  return <Stamp at={at}>{time(at, "minute")}</Stamp>;
}

/** That the order is up to date: it is made anew with every change, and not while there is none (D19). */
export function PlannedAt({ at }: { at: number | null }): ReactNode {
  const { t } = useTranslation();
  const now = useNow();
  if (at === null) return null;
  const passed = unchangedFor(at, now);
  return (
    <>
      {" "}
      ·{" "}
      <Stamp at={at}>{passed === null ? t("queue.upToDate") : t("queue.unchanged", { time: duration(passed) })}</Stamp>
    </>
  );
}
