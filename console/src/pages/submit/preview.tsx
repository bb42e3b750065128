/** Beside the form, always current: what will run, with which variables, where, whether now; and what to fix (R41, B8). */
import { CheckCircleFilled, ClockCircleOutlined, CloseCircleFilled, WarningOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Collapse, Input, Select, Spin } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { previewJob } from "../../api/jobs";
import { previewSweep } from "../../api/sweeps";
import type { JsonObject, Preview, Problem, Suggestion, SweepPreview } from "../../api/types";
import { useBilingual, useLanguage } from "../../i18n";
import { Command } from "../../shared/command";
import { shellWords } from "../../shared/format";
import { HookLine } from "../../shared/hooks";
import { CopyButton, ErrorPanel } from "../../shared/ui";
import { channelAt } from "./algorithm-doc";
import { labelOf } from "./labels";
import { useSettled } from "./state";
import { Helping, outlook, type Would, WouldDetail } from "./would";

const TYPING_MS = 350;

/** Without a name the platform would say no more than that; the rest is worth seeing before a name is found. */
const NAMELESS = "unnamed";

/** `insteadOf`: a queued job that this one replaces (D1). `previewed`: what the preview in hand is of; null while it is still that of an older document. */
export function usePreview(
  doc: JsonObject,
  insteadOf: string | undefined,
): {
  preview: (Preview & { sweep?: SweepPreview }) | undefined;
  busy: boolean;
  error: unknown;
  current: boolean;
  previewed: JsonObject | null;
} {
  const settled = useSettled(doc, TYPING_MS);
  const language = useLanguage();
  const asked = useMemo(() => (settled["name"] ? settled : { ...settled, name: NAMELESS }), [settled]);
  const query = useQuery({
    queryKey: ["preview", language, asked, insteadOf],
    queryFn: ({ signal }): Promise<Preview & { sweep?: SweepPreview }> =>
      asked["sweep"] === undefined
        ? previewJob({ spec: asked, dialect: "native", instead_of: insteadOf ?? null }, signal)
        : previewOfSweep(asked, signal),
    placeholderData: keepPreviousData,
    gcTime: 10_000, // every pause in typing is another question
    staleTime: 5000,
    retry: false,
  });
  return {
    preview: query.data,
    busy: query.isFetching || settled !== doc,
    error: query.error,
    current: settled === doc && !query.isPlaceholderData && query.data !== undefined,
    previewed: query.isPlaceholderData ? null : (query.data?.sweep?.job?.spec ?? asked),
  };
}

/** What a sweep would be, as the preview of its first entry with everything that is wrong with the sweep. */
async function previewOfSweep(spec: JsonObject, signal: AbortSignal): Promise<Preview & { sweep: SweepPreview }> {
  const sweep = await previewSweep(spec, signal);
  const none = { ok: false, warnings: [], spec: null, fits: null, roles: [], native: null };
  return sweep.job
    ? { ...sweep.job, warnings: [...sweep.job.warnings, ...sweep.warnings], sweep }
    : { ...none, problems: sweep.problems, sweep };
}

interface Props {
  preview: Preview | undefined;
  /** Whether it starts; null: that is not asked, as of a template. */
  start: Would | null;
  busy: boolean;
  error: unknown;
  problems: Problem[];
  go: (path: string) => void;
  apply: (change: Suggestion["change"]) => void;
}

export function PreviewPanel({ preview, start, busy, error, problems, go, apply }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <aside className="tm-preview" data-testid="preview" data-ok={preview?.ok ?? ""}>
      <section className="tm-panel">
        <h2>
          {t("submit.preview.title")}
          <span className="tm-grow" />
          {busy && <Spin size="small" />}
        </h2>
        <div className="tm-panel-body tm-stack">
          {error ? <ErrorPanel error={error} /> : null}
          <Verdict preview={preview} start={start} problems={problems} />
          {problems.length === 0 && <Helping all={start?.suggestions ?? []} apply={apply} />}
          {problems.length > 0 && <ProblemList problems={problems} go={go} />}
          <Warnings preview={preview} />
          {preview?.roles.map((role) => (
            <RolePreview key={role.name} role={role} placement={(start && preview.fits?.placement) ?? []} />
          ))}
        </div>
      </section>
    </aside>
  );
}

function Verdict({
  preview,
  start,
  problems,
}: {
  preview: Preview | undefined;
  start: Would | null;
  problems: Problem[];
}): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (!preview) return null;
  if (problems.length > 0)
    return (
      <p className="tm-fits tm-tone-red" data-testid="fits">
        <CloseCircleFilled /> <span className="tm-fits-text">{t("error.problems", { count: problems.length })}</span>
      </p>
    );
  if (!preview.ok || !preview.fits) return <p className="tm-faint">{t("submit.preview.notYet")}</p>;
  if (start === null)
    return (
      <p className="tm-fits tm-tone-green" data-testid="fits">
        <CheckCircleFilled /> <span className="tm-fits-text">{t("submit.preview.ok")}</span>
      </p>
    );
  const { when, reason } = outlook(preview.fits, start);
  const look = {
    now: ["green", <CheckCircleFilled key="i" />],
    queue: ["amber", <ClockCircleOutlined key="i" />],
    never: ["red", <CloseCircleFilled key="i" />],
  } as const;
  const [tone, icon] = look[when];
  return (
    <div className={`tm-fits tm-tone-${tone}`} data-testid="fits" data-when={when}>
      {icon}{" "}
      <span className="tm-fits-text">
        <b>{t(`submit.preview.${when}`)}</b>
        {start.current ? (
          <WouldDetail answer={start.current} />
        ) : (
          reason && <span className="tm-fits-why">{pick(reason.message)}</span>
        )}
      </span>
    </div>
  );
}

function Says({ problem }: { problem: Problem }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      {problem.rule}
      {t("mark.stop")}
      <span className="tm-faint">{problem.remedy}</span>
    </>
  );
}

function ProblemList({ problems, go }: { problems: Problem[]; go: (path: string) => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <ul className="tm-problem-list" data-testid="problems">
      {problems.map((p) => (
        <li key={p.path + p.rule}>
          {p.path && (
            <button
              type="button"
              className="tm-link"
              title={channelAt(p.path) === undefined ? p.path : "inputs"}
              onClick={() => go(p.path)}
            >
              {labelOf(p.path, t) || <code>{p.path}</code>}
            </button>
          )}
          <span>
            <Says problem={p} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Warnings({ preview }: { preview: Preview | undefined }): ReactNode {
  const { t } = useTranslation();
  if (!preview || preview.warnings.length === 0) return null;
  return (
    <ul className="tm-problem-list">
      {preview.warnings.map((w) => (
        <li key={w.path + w.rule}>
          <span>
            <WarningOutlined className="tm-warn" /> {w.path && <b>{labelOf(w.path, t) || <code>{w.path}</code>}</b>}{" "}
            <Says problem={w} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function RolePreview({
  role,
  placement,
}: {
  role: Preview["roles"][number];
  placement: { task: string; node: string; gpus: number[] }[];
}): ReactNode {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState(0);
  const [filter, setFilter] = useState("");
  const task = role.tasks[Math.min(chosen, role.tasks.length - 1)];
  const command = task ? shellWords(task.argv) : role.command;
  const env = useMemo(() => Object.entries(task?.env ?? {}).sort(([a], [b]) => a.localeCompare(b)), [task]);
  const shown = env.filter(([name, value]) => `${name}=${value}`.toLowerCase().includes(filter.toLowerCase()));
  const place = placement.find((one) => one.task === task?.name);
  return (
    <div className="tm-role-preview" data-testid={`preview-${role.name}`}>
      <div className="tm-role-head">
        <strong>{role.name}</strong>
        <span className="tm-grow" />
        {role.tasks.length > 1 && (
          <Select
            size="small"
            value={chosen}
            onChange={setChosen}
            options={role.tasks.map((_, i) => ({ value: i, label: `${role.name}-${i}` }))}
            aria-label={t("submit.preview.replica")}
            style={{ minWidth: 110 }}
          />
        )}
        {role.more_tasks > 0 && (
          <span className="tm-faint">{t("submit.preview.moreReplicas", { count: role.more_tasks })}</span>
        )}
      </div>
      <HookLine name="before" command={role.before} />
      <div className="tm-code tm-command-line">
        <span className="tm-grow" data-testid="command-preview">
          <Command text={command} />
        </span>
        <CopyButton text={command} />
      </div>
      <HookLine name="after" command={role.after} />
      {place && (
        <span className="tm-line">
          {t("submit.preview.placement")}
          {t("mark.colon")}
          {place.node}
          {place.gpus.length > 0 && ` [${place.gpus.join(", ")}]`}
        </span>
      )}
      {task && (
        <Collapse
          ghost
          size="small"
          items={[
            {
              key: "env",
              label: <span className="tm-faint">{t("submit.preview.variables", { count: env.length })}</span>,
              children: (
                <>
                  <Input
                    size="small"
                    allowClear
                    placeholder={t("submit.preview.filter")}
                    value={filter}
                    onChange={(e) => setFilter(e.target.value)}
                  />
                  <div className="tm-env">
                    {shown.map(([name, value]) => (
                      <div key={name}>
                        <b>{name}</b>={value}
                      </div>
                    ))}
                  </div>
                  {task.more_env > 0 && (
                    <div className="tm-faint">{t("submit.preview.moreVariables", { count: task.more_env })}</div>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
    </div>
  );
}
