/** The sub-tasks of a job with their commands, and the replicas of an attempt with where they run (R206). */
import { FileTextOutlined } from "@ant-design/icons";
import { Button, type TableColumnsType, Tag, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { AttemptView, JobDetail, RoleView, TaskView } from "../../api/types";
import { Command } from "../../shared/command";
import { mib, number, replicaName, shellWords } from "../../shared/format";
import { HookLine } from "../../shared/hooks";
import { TaskState } from "../../shared/state";
import { DataTable } from "../../shared/table";
import { Elapsed } from "../../shared/time";
import { CopyButton, Dotted, Nothing } from "../../shared/ui";
import { getAt, isObject } from "../submit/document";
import type { TabProps } from "./tab";

export function Roles({ job }: { job: JobDetail }): ReactNode {
  return job.roles.map((role, i) => (
    <RoleCard key={role.name} role={role} parameters={parametersOf(job, i)} hooks={hooksOf(job, i)} />
  ));
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

/** The commands before and after the command of a role, in shell words; empty where there is none (R53). */
function hooksOf(job: JobDetail, index: number): { before: string; after: string } {
  const text = (name: string): string => {
    const given = getAt(job.spec, `roles.${index}.hooks.${name}`);
    return Array.isArray(given) ? shellWords(given.map(String)) : typeof given === "string" ? given : "";
  };
  return { before: text("before"), after: text("after") };
}

function RoleCard({
  role,
  parameters,
  hooks,
}: {
  role: RoleView;
  parameters: string;
  hooks: { before: string; after: string };
}): ReactNode {
  const { t } = useTranslation();
  const r = role.resources;
  const command = [Array.isArray(role.command) ? shellWords(role.command) : role.command, parameters]
    .filter(Boolean)
    .join(" ");
  const rules = [
    role.min_succeeded !== null ? t("job.tasks.minSucceeded", { count: role.min_succeeded }) : t("job.tasks.allEnd"),
    role.min_failed === null
      ? t("job.tasks.neverFails")
      : role.min_failed === 1
        ? t("job.tasks.anyFails")
        : t("job.tasks.minFailed", { count: role.min_failed }),
  ];
  const each = [
    r.gpu > 0 ? t("unit.cards", { n: r.gpu, count: r.gpu }) : "",
    r.gpu_type ?? "",
    t("unit.cores", { n: number(r.cpu), count: r.cpu }),
    mib(r.memory_mib),
    t("unit.shm", { size: mib(r.shm_mib) }),
  ];
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
          <Dotted items={each} />
        </span>
      </div>
      <HookLine name="before" command={hooks.before} />
      <div className="tm-code tm-command-line">
        <span className="tm-grow">
          <Command text={command} />
        </span>
        <CopyButton text={command} />
      </div>
      <HookLine name="after" command={hooks.after} />
      <div className="tm-line">
        {rules.join(" · ")}
        {role.ports.length > 0 &&
          ` · ${t("job.tasks.ports")}${t("mark.colon")}${role.ports.map((p) => `${p.label}×${p.count}`).join(", ")}`}
      </div>
    </div>
  );
}

/** Whether a signal ended a replica because somebody stopped the job, or its time was over: no failure of its own. */
export const endedOnPurpose = (attempt: AttemptView, task: TaskView): boolean =>
  task.signal !== null && attempt.verdict?.fault === "none";

export function Tasks({ attempt, update }: { attempt: AttemptView; update: TabProps["update"] }): ReactNode {
  const { t } = useTranslation();
  const columns = useMemo(
    (): TableColumnsType<TaskView> => [
      {
        title: t("job.tasks.task"),
        key: "task",
        render: (_, one) => (
          <span>
            <strong>{replicaName(one)}</strong> <span className="tm-faint tm-mono">{one.name}</span>
          </span>
        ),
      },
      {
        title: t("job.tasks.state"),
        key: "state",
        render: (_, one) => (
          <TaskState phase={one.phase} exitCode={one.exit_code} stopped={endedOnPurpose(attempt, one)} />
        ),
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
          Object.keys(one.ports).length === 0 ? (
            <Nothing />
          ) : (
            Object.entries(one.ports).map(([label, numbers]) => (
              <div key={label} className="tm-mono">
                {label} {numbers.join(", ")}
              </div>
            ))
          ),
      },
      {
        title: t("job.tasks.run"),
        key: "run",
        render: (_, one) => <Elapsed from={one.started_at} to={one.ended_at} />,
      },
      {
        title: t("job.tasks.exit"),
        key: "exit",
        render: (_, one) => <Exit task={one} stopped={endedOnPurpose(attempt, one)} />,
      },
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
    [attempt, t, update],
  );
  return (
    <DataTable<TaskView>
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

function Exit({ task, stopped }: { task: TaskView; stopped: boolean }): ReactNode {
  const { t } = useTranslation();
  if (task.signal !== null)
    return <span className={stopped ? "" : "tm-bad"}>{t("job.verdict.signal", { signal: task.signal })}</span>;
  if (task.exit_code === null) return <Nothing />;
  return (
    <span className={task.exit_code === 0 ? "tm-num" : "tm-bad tm-num"}>
      {t("job.verdict.exit", { code: task.exit_code })}
    </span>
  );
}
