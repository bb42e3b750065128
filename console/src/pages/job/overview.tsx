/** What somebody comes to learn first: how far it is, whether it learns, what it printed last, with what and where; the rest is folded (R206). */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Skeleton, Tag } from "antd";
import type { TFunction } from "i18next";
import { lazy, type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type JobDetail, type TaskView } from "../../api/types";
import { readLogTail } from "../../api/watch";
import { ansi } from "../../shared/ansi";
import { duration, labelFilter, labelText, mib, number, replicaName } from "../../shared/format";
import { useFrameworkTitle } from "../../shared/meta";
import { Elapsed, Stamp } from "../../shared/time";
import { CopyButton, Dotted, Nothing } from "../../shared/ui";
import { getAt, isObject } from "../submit/document";
import { severityOf } from "./log/severity";
import { NoteFact, TagsFact } from "./marks";
import { Roles, Tasks } from "./replicas";
import { ShareFact } from "./share";
import type { TabProps } from "./tab";
import { Timeline } from "./timeline";
import { Uploads } from "./uploads";
import { ModelLink, Warnings } from "./verdict";

const KeyChart = lazy(() => import("./metrics").then((m) => ({ default: m.KeyChart })));
const LINES = 10;

export function Overview({ job, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const attempt = job.attempt_list[job.attempt_list.length - 1];
  const measures = Object.keys(job.metrics).length > 0;
  const roles = (
    <section className="tm-panel">
      <h2>{t("job.tasks.roles")}</h2>
      <div className="tm-panel-body tm-roles">
        <Roles job={job} />
      </div>
    </section>
  );
  // Without a curve the wide column would end far above the facts.
  const aside = (
    <>
      {roles}
      <Parameters job={job} />
    </>
  );
  return (
    <div className="tm-stack">
      <div className="tm-overview">
        <div className="tm-stack">
          {measures && (
            <div className="tm-key-chart">
              <Suspense fallback={<Skeleton active paragraph={{ rows: 5 }} title={false} />}>
                <KeyChart job={job} />
              </Suspense>
            </div>
          )}
          {attempt && <LastLines job={job} update={update} />}
          {!measures && aside}
        </div>
        <div className="tm-stack">
          <section className="tm-panel" data-testid="facts">
            <div className="tm-panel-body">
              <Facts items={firstFacts(job, t)} />
              <details className="tm-details" data-testid="details">
                <summary>{t("job.fact.details")}</summary>
                <Details job={job} />
              </details>
            </div>
          </section>
          {measures && <Parameters job={job} />}
        </div>
      </div>
      {measures && roles}
      {job.attempt_list.length > 1 && (
        <section className="tm-panel">
          <h2>{t("job.timeline.title")}</h2>
          <div className="tm-panel-body">
            <Timeline job={job} update={update} />
          </div>
        </section>
      )}
      {attempt && (
        <section className="tm-panel">
          <h2>{t("job.tasks.title")}</h2>
          <Tasks attempt={attempt} update={update} />
        </section>
      )}
      <Uploads job={job} />
      <Warnings job={job} />
    </div>
  );
}

type Item = [label: string, value: ReactNode];

function Facts({ items }: { items: Item[] }): ReactNode {
  return (
    <dl className="tm-fact-lines">
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function firstFacts(job: JobDetail, t: TFunction): Item[] {
  const r = job.resources;
  const resources = [
    t("unit.tasks", { count: job.tasks.total }),
    r.gpu > 0
      ? `${t("unit.cards", { n: r.gpu, count: r.gpu })}${r.gpu_type ? t("mark.aside", { text: r.gpu_type }) : ""}`
      : "",
    t("unit.cores", { n: number(r.cpu), count: r.cpu }),
    mib(r.memory_mib),
  ];
  const flavors = [...new Set(job.roles.map((role) => role.flavor).filter((name) => name !== null))];
  const items: Item[] = [
    [t("job.fact.resources"), <Dotted key="r" items={resources} />],
    [t("job.fact.duration"), job.duration_s === null ? t("time.noLimit") : duration(job.duration_s)],
    [t("job.fact.workspace"), job.workspace],
    [t("job.fact.share"), <ShareFact key="s" job={job} />],
    [t("job.fact.pool"), job.virtual_cluster ? `${job.pool} · ${job.virtual_cluster}` : job.pool],
  ];
  if (flavors.length > 0) items.push([t("job.fact.flavor"), flavors.join(", ")]);
  if (job.nodes.length > 0) items.push([t("job.fact.where"), <Where key="w" job={job} />]);
  const algorithm = getAt(job.spec, "algorithm");
  if (typeof algorithm === "string")
    items.push([t("job.fact.algorithm"), <AlgorithmLink key="a" algorithm={algorithm} />]);
  const code = codeOf(job);
  if (code !== null) items.push([t("job.fact.code"), <Code key="c" {...code} />]);
  if (job.model) items.push([t("job.fact.model"), <ModelLink key="m" model={job.model} />]);
  items.push(
    [t("job.fact.tags"), <TagsFact key="t" job={job} />],
    [t("job.fact.note"), <NoteFact key="n" job={job} />],
  );
  if (Object.keys(job.labels).length > 0) items.push([t("job.fact.labels"), <LabelLinks key="l" job={job} />]);
  return items;
}

/** Where its code comes from: the name of a folder, else what an upload is known by. Pure. */
export function codeOf(job: Pick<JobDetail, "spec">): { name: string; whole: string } | null {
  const path = getAt(job.spec, "code.path");
  const upload = getAt(job.spec, "code.upload");
  if (typeof path === "string") return { name: path.split("/").filter(Boolean).at(-1) ?? path, whole: path };
  if (typeof upload === "string") return { name: upload.replace(/^sha256:/, "").slice(0, 12), whole: upload };
  return null;
}

function Code({ name, whole }: { name: string; whole: string }): ReactNode {
  return (
    <span title={whole}>
      <span className="tm-mono">{name}</span>
      <CopyButton text={whole} />
    </span>
  );
}

/** The version that it runs, as NAME@VERSION. */
function AlgorithmLink({ algorithm }: { algorithm: string }): ReactNode {
  const at = algorithm.lastIndexOf("@");
  return (
    <Link
      to="/algorithms/$id"
      params={{ id: algorithm.slice(0, at) }}
      search={{ version: Number(algorithm.slice(at + 1)) }}
      data-testid="job-algorithm"
    >
      {algorithm}
    </Link>
  );
}

/** The nodes, and the GPUs on each. */
function Where({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const held = new Map<string, Set<number>>(job.nodes.map((node) => [node, new Set()]));
  for (const task of job.task_list) for (const gpu of task.gpus) held.get(task.node)?.add(gpu);
  return (
    <ul className="tm-plain-list" data-testid="where">
      {[...held].map(([node, gpus]) => (
        <li key={node}>
          {node}
          {gpus.size > 0 && (
            <span className="tm-faint">
              {" "}
              · {t("job.fact.gpus", { list: [...gpus].sort((a, b) => a - b).join(", ") })}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function LabelLinks({ job }: { job: JobDetail }): ReactNode {
  return (
    <span className="tm-labels">
      {Object.entries(job.labels).map(([k, v]) => (
        <Link key={k} to="/jobs" search={{ q: labelFilter([k, v]) }}>
          <Tag className="tm-tag">{labelText([k, v])}</Tag>
        </Link>
      ))}
    </span>
  );
}

/** What hardly anybody looks for. */
function Details({ job }: { job: JobDetail }): ReactNode {
  const { t, i18n } = useTranslation();
  const framework = useFrameworkTitle()(job.framework);
  const priority = `priority.${job.priority}`;
  const stamp = (at: number | null): ReactNode => (at === null ? <Nothing /> : <Stamp at={at} />);
  return (
    <Facts
      items={[
        [t("job.fact.owner"), job.owner],
        [t("job.fact.submitted"), stamp(job.submitted_at)],
        [t("job.fact.started"), stamp(job.started_at)],
        [t("job.fact.ended"), stamp(job.ended_at)],
        [
          t("job.fact.wait"),
          job.wait_s === null ? <Elapsed key="w" from={job.queued_at} to={null} /> : duration(job.wait_s, true),
        ],
        [t("job.fact.priority"), i18n.exists(priority) ? t(priority as "priority.normal") : job.priority],
        [t("job.fact.framework"), framework],
        [t("job.fact.retries"), `${job.retries.used} / ${job.retries.limit}`],
        [t("job.fact.dialect"), job.dialect === "pai" ? "OpenPAI" : t("job.json.native")],
      ]}
    />
  );
}

/** The replica whose log tells most: the first that failed and said something, else any that failed, else the first. */
export function tellingTask(tasks: readonly TaskView[]): TaskView | undefined {
  const failed = tasks
    .filter((one) => one.state === "failed" || one.state === "lost")
    .sort((a, b) => (a.ended_at ?? Number.POSITIVE_INFINITY) - (b.ended_at ?? Number.POSITIVE_INFINITY));
  return failed.find((one) => one.verdict?.evidence) ?? failed[0] ?? tasks[0];
}

/** The end of one replica's log. */
function LastLines({ job, update }: Pick<TabProps, "job" | "update">): ReactNode {
  const { t } = useTranslation();
  const attempt = job.attempt_list[job.attempt_list.length - 1];
  const task = attempt && tellingTask(attempt.tasks);
  const ended = ENDED.has(job.state);
  const query = useQuery({
    queryKey: ["log-tail", job.id, attempt?.number, task?.name, ended],
    queryFn: ({ signal }) =>
      readLogTail({ job: job.id, attempt: attempt?.number ?? 1, task: task?.name ?? "" }, LINES, signal),
    enabled: task !== undefined,
    refetchInterval: ended ? false : 2500,
  });
  if (!attempt || !task) return null;
  const lines = (query.data?.text ?? "").replace(/\n$/, "").split("\n").slice(-LINES);
  const empty = query.data !== undefined && query.data.text === "";
  return (
    <section className="tm-panel" data-testid="last-lines">
      <h2 className="tm-head-line">
        <span className="tm-grow">
          {t("job.log.last")}
          {attempt.tasks.length > 1 && <span className="tm-faint tm-light"> · {replicaName(task)}</span>}
        </span>
        <button
          type="button"
          className="tm-link tm-light"
          onClick={() =>
            update({ tab: "logs", attempt: attempt.number, task: task.name, line: undefined, find: undefined })
          }
          data-testid="open-logs"
        >
          {t("job.log.open")}
        </button>
      </h2>
      <pre className="tm-log-glance">
        {empty
          ? t(ended ? "job.log.emptyEnded" : "job.log.empty")
          : lines.map((line, i) => {
              const severity = severityOf(line);
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines are drawn anew together.
                <div key={i} className={severity ? `tm-log-${severity}` : undefined}>
                  {ansi(line).map((span, k) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line are nothing but text.
                    <span key={k} className={span.style || undefined}>
                      {span.text}
                    </span>
                  ))}
                  {/* A character without a width: an empty line is as high as any. */}
                  {line === "" && "\u200b"}
                </div>
              );
            })}
      </pre>
    </section>
  );
}

/** What the job was told to train with, by sub-task. */
function Parameters({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const all = job.roles.flatMap((role, i) => {
    const given = getAt(job.spec, `roles.${i}.parameters`);
    const pairs = isObject(given) ? Object.entries(given).filter(([, value]) => value !== null) : [];
    return pairs.length > 0 ? [{ role: role.name, pairs }] : [];
  });
  if (all.length === 0) return null;
  return (
    <section className="tm-panel" data-testid="parameters">
      <h2>{t("job.fact.parameters")}</h2>
      <div className="tm-panel-body tm-stack">
        {all.map(({ role, pairs }) => (
          <div key={role}>
            {all.length > 1 && <h3 className="tm-small-head">{role}</h3>}
            <dl className="tm-parameters">
              {pairs.map(([key, value]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{typeof value === "object" ? JSON.stringify(value) : String(value)}</dd>
                </div>
              ))}
            </dl>
          </div>
        ))}
      </div>
    </section>
  );
}
