/** In plain words: why it waits, why it failed (with a way into the log, R222), what it saved. */
import {
  CheckCircleFilled,
  CloseCircleFilled,
  CloudDownloadOutlined,
  FieldTimeOutlined,
  InfoCircleOutlined,
  PauseCircleOutlined,
  StopOutlined,
} from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { explainJob } from "../../api/jobs";
import { readModel } from "../../api/models";
import type { JobDetail, Verdict } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useEngineOf } from "../../shared/engines";
import { duration, modelName, replicaName, shortId } from "../../shared/format";
import { useNow } from "../../shared/time";
import { Box } from "./box";
import { Remedies } from "./remedies";
import type { TabProps } from "./tab";
import { WaitBox } from "./wait";

const EXPLAINED = new Set(["failed", "expired", "retained"]);

export function VerdictBox(props: TabProps): ReactNode {
  const { state, reason } = props.job;
  if (state === "queued" || state === "pending") return <WaitBox job={props.job} />;
  if (state === "initialising" && reason) return <StagingBox message={reason.message} />;
  return <EndBox {...props} />;
}

/** How far fetching what a job reads is. */
function StagingBox({ message }: { message: NonNullable<TabProps["job"]["reason"]>["message"] }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  return (
    <Box tone="grey" icon={<CloudDownloadOutlined />} title={t("state.initialising")} test="staging">
      <p>{pick(message)}</p>
    </Box>
  );
}

function EndBox({ job, search, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const enters = useEngineOf()(job.pool)?.can.attaches !== false;
  const explained = useQuery({
    queryKey: ["explain", job.id, job.version],
    queryFn: () => explainJob(job.id),
    enabled: EXPLAINED.has(job.state),
  });
  if (
    (job.state === "failed" || job.state === "expired" || job.state === "retained") &&
    (job.verdict ?? explained.data?.verdict)
  ) {
    const verdict = (job.verdict ?? explained.data?.verdict) as Verdict;
    const look =
      job.state === "failed"
        ? (["red", <CloseCircleFilled key="i" />, "failed"] as const)
        : job.state === "retained"
          ? (["amber", <PauseCircleOutlined key="i" />, "retained"] as const)
          : (["amber", <FieldTimeOutlined key="i" />, "expired"] as const);
    return (
      <Box
        tone={look[0]}
        icon={look[1]}
        title={
          job.state === "expired" && job.duration_s !== null
            ? t("job.verdict.atLimit", { limit: duration(job.duration_s) })
            : `${t(`job.verdict.${look[2]}`)}${t("mark.colon")}${pick(verdict.title) || verdict.code}`
        }
        test="verdict"
      >
        {job.state === "retained" && (
          <p>
            {t(enters ? "job.verdict.retainedHint" : "job.verdict.retainedLook")}
            <Until at={job.attempt_list[job.attempt_list.length - 1]?.retained_until} />
          </p>
        )}
        {job.state === "expired" ? (
          <p>{t("job.verdict.atLimitHint")}</p>
        ) : (
          <VerdictText job={job} verdict={verdict} update={update} />
        )}
        <Remedies job={job} all={explained.data?.suggestions ?? []} />
      </Box>
    );
  }
  if (job.state === "stopped" && job.verdict)
    return (
      <Box tone="grey" icon={<StopOutlined />} title={pick(job.verdict.title)} test="verdict">
        {job.verdict.message.en && <p>{pick(job.verdict.message)}</p>}
      </Box>
    );
  if (job.state === "succeeded" && (search.tab ?? "overview") === "overview") {
    return (
      <Box tone="green" icon={<CheckCircleFilled />} title={t("job.verdict.succeeded")} test="verdict">
        {job.model ? (
          <p>
            <SavedModel model={job.model} />
          </p>
        ) : (
          <p className="tm-faint">{t("job.verdict.noModel")}</p>
        )}
      </Box>
    );
  }
  return null;
}

function Until({ at }: { at: number | null | undefined }): ReactNode {
  const { t } = useTranslation();
  const current = useNow();
  return at == null ? null : (
    <span className="tm-num">
      {t("mark.aside", { text: t("time.left", { time: duration(Math.max(0, at - current)) }) })}
    </span>
  );
}

/** A model version by its name, and the way to it for who may see it. For others, and while that is asked, it is a text. */
export function ModelLink({ model }: { model: string }): ReactNode {
  const { id, version } = modelName(model);
  const named = useQuery({ queryKey: ["model", id], queryFn: () => readModel(id), staleTime: 60_000 });
  if (!named.data)
    return (
      <span className="tm-mono" title={model} data-testid="unseen-model">
        {shortId(id)}
        {version !== undefined && `@${version}`}
      </span>
    );
  return (
    <Link to="/models/$id" params={{ id }} search={{ version }} data-testid="saved-model">
      {`${named.data.name}@${version ?? ""}`}
    </Link>
  );
}

export function SavedModel({ model }: { model: string }): ReactNode {
  const { t } = useTranslation();
  // A character that no text holds stands where the link goes.
  const [before, after] = t("job.verdict.savedAs", { model: "\u0000" }).split("\u0000");
  return (
    <>
      {before}
      <ModelLink model={model} />
      {after}
    </>
  );
}

const TELLING = /\w*(Error|Exception)\b|killed|out of memory|fatal|not found/i;
const LONGEST_FIND = 200;

/** The line of the evidence worth looking for in the log: the first that names an error, else the last with words. Pure. */
export function tellingLine(evidence: string): string {
  const lines = evidence
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /\p{L}{3}/u.test(line) && line.length <= LONGEST_FIND);
  return lines.find((line) => TELLING.test(line)) ?? lines[lines.length - 1] ?? "";
}

/** Verdicts whose message says no more than the title and the line below it. */
const SAID_BELOW = new Set(["exit_code"]);

function VerdictText({
  job,
  verdict,
  update,
}: {
  job: JobDetail;
  verdict: Verdict;
  update: TabProps["update"];
}): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const attempt = job.attempt_list[job.attempt_list.length - 1];
  const task =
    attempt?.tasks.find((one) => one.role === verdict.role && one.index === verdict.index) ??
    attempt?.tasks.find((one) => one.exit_code !== null && one.exit_code !== 0);
  const exit =
    verdict.signal != null
      ? t("job.verdict.signal", { signal: verdict.signal })
      : verdict.exit_code != null
        ? t("job.verdict.exit", { code: verdict.exit_code })
        : "";
  const evidence = verdict.evidence?.trim() ?? "";
  const telling = tellingLine(evidence);
  return (
    <>
      {verdict.message.en && !SAID_BELOW.has(verdict.code) && <p>{pick(verdict.message)}</p>}
      {evidence && (
        <pre className="tm-code" role="group" aria-label={t("job.verdict.evidence")} data-testid="evidence">
          {evidence}
        </pre>
      )}
      {attempt && task && (
        <p className="tm-verdict-foot">
          <span className="tm-faint">
            {t("job.verdict.where")}
            {t("mark.colon")}
            {replicaName(task)} · {task.node}
            {exit && ` · ${exit}`}
          </span>
          <Button
            size="small"
            onClick={() =>
              update({
                tab: "logs",
                attempt: attempt.number,
                task: task.name,
                line: undefined,
                find: telling || undefined,
              })
            }
            data-testid="open-log"
          >
            {t("job.verdict.openLog")}
          </Button>
        </p>
      )}
    </>
  );
}

export function Warnings({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (job.warnings.length === 0) return null;
  return (
    <section className="tm-panel">
      <h2>
        <InfoCircleOutlined /> {t("job.verdict.warnings")}
      </h2>
      <ul className="tm-notes">
        {job.warnings.map((w) => (
          <li key={w.code + w.message.en}>{pick(w.message)}</li>
        ))}
      </ul>
    </section>
  );
}
