/** The facts, the attempts as a picture, the sub-tasks and their replicas (R206). */
import { FileTextOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, Table, type TableColumnsType, Tag, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { AttemptView, JobDetail, RoleView, TaskView } from "../../api/types";
import { duration, labelFilter, labelText, mib, number, shellWords } from "../../shared/format";
import { useFrameworkTitle } from "../../shared/meta";
import { TaskState } from "../../shared/state";
import { Elapsed, Stamp } from "../../shared/time";
import { CopyButton, Facts, Nothing } from "../../shared/ui";
import { getAt, isObject } from "../submit/document";
import type { TabProps } from "./tab";
import { Timeline } from "./timeline";
import { ModelLink, Warnings } from "./verdict";

export function Overview({ job, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const attempt = job.attempt_list[job.attempt_list.length - 1];
  return (
    <div className="tm-stack">
      <section className="tm-panel">
        <div className="tm-panel-body">
          <JobFacts job={job} />
        </div>
      </section>
      <section className="tm-panel">
        <h2>{t("job.timeline.title")}</h2>
        <div className="tm-panel-body">
          <Timeline job={job} update={update} />
        </div>
      </section>
      <section className="tm-panel">
        <h2>{t("job.tasks.roles")}</h2>
        <div className="tm-panel-body tm-roles">
          {job.roles.map((role, i) => (
            <RoleCard key={role.name} role={role} parameters={parametersOf(job, i)} />
          ))}
        </div>
      </section>
      {attempt && (
        <section className="tm-panel">
          <h2>{t("job.tasks.title")}</h2>
          <Tasks attempt={attempt} update={update} />
        </section>
      )}
      <Warnings job={job} />
    </div>
  );
}

function JobFacts({ job }: { job: JobDetail }): ReactNode {
  const { t, i18n } = useTranslation();
  const framework = useFrameworkTitle()(job.framework);
  const r = job.resources;
  const resources = [
    t("unit.tasks", { count: job.tasks.total }),
    r.gpu > 0 ? `${t("unit.cards", { n: r.gpu, count: r.gpu })}${r.gpu_type ? ` (${r.gpu_type})` : ""}` : "",
    t("unit.cores", { n: number(r.cpu), count: r.cpu }),
    mib(r.memory_mib),
  ]
    .filter(Boolean)
    .join(" · ");
  const priority = `priority.${job.priority}`;
  const none = <Nothing />;
  const items: [string, ReactNode][] = [
    [t("job.fact.owner"), job.owner],
    [t("job.fact.submitted"), <Stamp key="s" at={job.submitted_at} />],
    [t("job.fact.started"), job.started_at === null ? none : <Stamp key="s" at={job.started_at} />],
    [t("job.fact.ended"), job.ended_at === null ? none : <Stamp key="s" at={job.ended_at} />],
    [
      t("job.fact.wait"),
      job.wait_s === null ? <Elapsed key="w" from={job.queued_at} to={null} /> : duration(job.wait_s, true),
    ],
    [t("job.fact.duration"), job.duration_s === null ? t("time.noLimit") : duration(job.duration_s)],
    [t("job.fact.framework"), framework],
    [t("job.fact.resources"), resources],
    [t("job.fact.pool"), job.pool],
    [t("job.fact.priority"), i18n.exists(priority) ? t(priority as "priority.normal") : job.priority],
    [t("job.fact.retries"), `${job.retries.used} / ${job.retries.limit}`],
    [t("job.fact.dialect"), job.dialect === "pai" ? "OpenPAI" : t("job.json.native")],
  ];
  if (job.nodes.length > 0) items.push([t("job.fact.nodes"), job.nodes.join(", ")]);
  if (job.model) items.push([t("job.fact.model"), <ModelLink key="m" model={job.model} />]);
  if (job.description) items.push([t("job.fact.description"), job.description]);
  if (Object.keys(job.labels).length > 0)
    items.push([
      t("job.fact.labels"),
      <span key="l" className="tm-labels">
        {Object.entries(job.labels).map(([k, v]) => (
          <Link key={k} to="/" search={{ q: labelFilter([k, v]) }}>
            <Tag className="tm-tag">{labelText([k, v])}</Tag>
          </Link>
        ))}
      </span>,
    ]);
  return <Facts items={items} columns={4} />;
}

/** `--key=value` of the role's parameters, as the platform adds them to the command (R40). */
function parametersOf(job: JobDetail, index: number): string {
  const given = getAt(job.spec, `roles.${index}.parameters`);
  if (!isObject(given)) return "";
  return Object.entries(given)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `--${key}=${String(value)}`)
    .join(" ");
}

function RoleCard({ role, parameters }: { role: RoleView; parameters: string }): ReactNode {
  const { t } = useTranslation();
  const r = role.resources;
  const command = [Array.isArray(role.command) ? shellWords(role.command) : role.command, parameters]
    .filter(Boolean)
    .join(" ");
  const rules = [
    role.min_succeeded !== null ? t("job.tasks.minSucceeded", { count: role.min_succeeded }) : t("job.tasks.allEnd"),
    role.min_failed !== null ? t("job.tasks.minFailed", { count: role.min_failed }) : t("job.tasks.neverFails"),
  ];
  const each = [
    r.gpu > 0 ? t("unit.cards", { n: r.gpu, count: r.gpu }) : "",
    r.gpu_type ?? "",
    t("unit.cores", { n: number(r.cpu), count: r.cpu }),
    mib(r.memory_mib),
    `shm ${mib(r.shm_mib)}`,
  ]
    .filter(Boolean)
    .join(" · ");
  return (
    <div className="tm-role">
      <div className="tm-role-head">
        <strong>{role.name}</strong>
        <span className="tm-faint">× {role.replicas}</span>
        {(role.main || role.ends_job) && (
          <Tooltip title={t("job.tasks.mainHint")}>
            <Tag color="blue" className="tm-tag">
              {t("job.tasks.main")}
            </Tag>
          </Tooltip>
        )}
        <span className="tm-grow" />
        <span className="tm-faint">
          {t("job.tasks.each")}
          {t("mark.colon")}
          {each}
        </span>
      </div>
      <div className="tm-code tm-command-line">
        <span className="tm-grow">{command}</span>
        <CopyButton text={command} />
      </div>
      <div className="tm-line">
        {rules.join(" · ")}
        {role.ports.length > 0 &&
          ` · ${t("job.tasks.ports")}${t("mark.colon")}${role.ports.map((p) => `${p.label}×${p.count}`).join(", ")}`}
      </div>
    </div>
  );
}

function Tasks({ attempt, update }: { attempt: AttemptView; update: TabProps["update"] }): ReactNode {
  const { t } = useTranslation();
  const columns = useMemo(
    (): TableColumnsType<TaskView> => [
      {
        title: t("job.tasks.task"),
        key: "task",
        render: (_, one) => (
          <span>
            <strong>
              {one.role}[{one.index}]
            </strong>{" "}
            <span className="tm-faint tm-mono">{one.name}</span>
          </span>
        ),
      },
      {
        title: t("job.tasks.state"),
        key: "state",
        render: (_, one) => <TaskState phase={one.phase} exitCode={one.exit_code} />,
      },
      { title: t("job.tasks.node"), key: "node", render: (_, one) => <Tooltip title={one.host}>{one.node}</Tooltip> },
      {
        title: t("job.tasks.cards"),
        key: "cards",
        render: (_, one) => (one.gpus.length > 0 ? <span className="tm-num">{one.gpus.join(", ")}</span> : <Nothing />),
      },
      {
        title: t("job.tasks.ports"),
        key: "ports",
        render: (_, one) =>
          Object.entries(one.ports).map(([label, numbers]) => (
            <div key={label} className="tm-mono">
              {label} {numbers.join(", ")}
            </div>
          )),
      },
      {
        title: t("job.tasks.run"),
        key: "run",
        render: (_, one) => <Elapsed from={one.started_at} to={one.ended_at} />,
      },
      { title: t("job.tasks.exit"), key: "exit", render: (_, one) => <Exit task={one} /> },
      {
        title: "",
        key: "log",
        align: "end",
        render: (_, one) => (
          <Button
            size="small"
            icon={<FileTextOutlined />}
            onClick={() =>
              update({ tab: "logs", attempt: attempt.number, task: one.name, line: undefined, find: undefined })
            }
            data-testid={`task-log-${one.name}`}
          >
            {t("job.tasks.log")}
          </Button>
        ),
      },
    ],
    [attempt.number, t, update],
  );
  return (
    <Table<TaskView>
      rowKey="name"
      size="small"
      columns={columns}
      dataSource={attempt.tasks}
      pagination={attempt.tasks.length > 50 ? { pageSize: 50 } : false}
      scroll={{ x: 820 }}
      data-testid="tasks"
    />
  );
}

function Exit({ task }: { task: TaskView }): ReactNode {
  const { t } = useTranslation();
  if (task.signal !== null) return <span className="tm-bad">{t("job.verdict.signal", { signal: task.signal })}</span>;
  if (task.exit_code === null) return <Nothing />;
  return (
    <span className={task.exit_code === 0 ? "tm-num" : "tm-bad tm-num"}>
      {t("job.verdict.exit", { code: task.exit_code })}
    </span>
  );
}
