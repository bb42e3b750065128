/** Name, state, progress and what can be done with the job now. */
import { ClockCircleOutlined, CopyOutlined, DeleteOutlined, FlagOutlined, MoreOutlined, StopOutlined, UnlockOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { App, Button, Dropdown, Form, Input, Modal, Select } from "antd";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { changeJob, releaseJob } from "../../api/jobs";
import { ENDED, type JobDetail } from "../../api/types";
import { useJobActions } from "../../shared/actions";
import { duration, parseDuration } from "../../shared/format";
import { StateTag } from "../../shared/state";
import { Ago, Elapsed } from "../../shared/time";
import { CopyButton, JobProgress, PageHeader, useErrorText } from "../../shared/ui";
import { Priority } from "../jobs/columns";

export function JobHeader({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <div className="tm-crumb"><Link to="/" search={{}}>{t("jobs.title")}</Link> / </div>
      <PageHeader
        title={<span className="tm-title-line">{job.name} <StateTag state={job.state} /> {job.priority !== "normal" && <Priority priority={job.priority} />}</span>}
        sub={
          <span className="tm-sub-line">
            <span className="tm-mono" data-testid="job-id">{job.id}</span><CopyButton text={job.id} label={t("job.fact.id")} />
            <span>{job.owner}</span><span>·</span><Ago at={job.submitted_at} />
            {job.started_at !== null && <><span>·</span><span>{t("job.fact.run")} <Elapsed from={job.started_at} to={job.ended_at} />{job.duration_s !== null && !ENDED.has(job.state) && ` ${t("jobs.ranOf", { run: "", limit: duration(job.duration_s) }).trim()}`}</span></>}
          </span>
        }
        actions={<Actions job={job} />} />
      {!ENDED.has(job.state) && job.state !== "queued" && <div className="tm-gap"><JobProgress job={job} wide /></div>}
    </>
  );
}

function Actions({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const act = useJobActions();
  const navigate = useNavigate();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const [changing, setChanging] = useState<"duration" | "priority" | null>(null);
  const ended = ENDED.has(job.state);
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
      {job.state === "retained" && <Button type="primary" icon={<UnlockOutlined />} onClick={() => void release()} data-testid="release">{t("job.act.release")}</Button>}
      {!ended && <Button icon={<StopOutlined />} disabled={job.state === "stopping" || job.state === "saving"} title={job.state === "saving" ? t("jobs.saving") : undefined} onClick={() => act("stop", [job])} data-testid="stop">{t("action.stop")}</Button>}
      <Link to="/submit" search={{ clone: job.id }}><Button icon={<CopyOutlined />} data-testid="clone">{t("action.clone")}</Button></Link>
      {ended && <Button danger icon={<DeleteOutlined />} onClick={() => act("delete", [job], () => void navigate({ to: "/", search: {} }))} data-testid="delete">{t("action.delete")}</Button>}
      {!ended && (
        <Dropdown trigger={["click"]} placement="bottomRight" menu={{
          items: [
            { key: "duration", icon: <ClockCircleOutlined />, label: <span data-testid="change-duration">{t("job.act.duration")}</span>, onClick: () => setChanging("duration") },
            { key: "priority", icon: <FlagOutlined />, disabled: job.state !== "queued", label: <span data-testid="change-priority">{t("job.act.priority")}</span>, onClick: () => setChanging("priority") },
          ],
        }}>
          <Button icon={<MoreOutlined />} aria-label={t("action.more")} data-testid="more" />
        </Dropdown>
      )}
      {changing && <Change job={job} what={changing} close={() => setChanging(null)} />}
    </>
  );
}

const LENGTHS = ["30m", "1h", "2h", "4h", "8h", "1d", "3d", "7d"];
const PRIORITIES = ["normal", "urgent", "very_urgent"] as const;

/** R191, R192: by list or free value, without touching the processes. */
function Change({ job, what, close }: { job: JobDetail; what: "duration" | "priority"; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [text, setText] = useState(job.duration_s === null ? "" : duration(job.duration_s).replaceAll(" ", ""));
  const [priority, setPriority] = useState(job.priority);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    const seconds = text.trim() === "" ? null : parseDuration(text);
    if (what === "duration" && seconds === null && text.trim() !== "") {
      setProblem(t("job.act.durationBad"));
      return;
    }
    setBusy(true);
    try {
      await changeJob(job.id, what === "duration" ? { duration_s: seconds } : { priority });
      void client.invalidateQueries({ queryKey: ["job", job.id] });
      message.success(t("job.act.changed"));
      close();
    } catch (error) {
      const { title, remedy } = errorText(error);
      setProblem(`${title} ${remedy}`);
      setBusy(false);
    }
  };
  return (
    <Modal open title={t(`job.act.${what}`)} onCancel={close} onOk={() => void save()} okText={t("action.save")} cancelText={t("action.cancel")} confirmLoading={busy} okButtonProps={{ ...{ "data-testid": "change-ok" } }} width={460}>
      <Form layout="vertical" onFinish={() => void save()}>
        {what === "duration" ? (
          <Form.Item label={t("job.fact.duration")} extra={t("job.act.durationHint")} validateStatus={problem ? "error" : ""} help={problem || undefined}>
            <Input value={text} onChange={(e) => setText(e.target.value)} autoFocus data-testid="duration-input" />
            <div className="tm-chips tm-quick">{LENGTHS.map((length) => <button type="button" key={length} className="tm-chip" aria-pressed={text === length} onClick={() => setText(length)}>{length}</button>)}</div>
          </Form.Item>
        ) : (
          <Form.Item label={t("job.fact.priority")} validateStatus={problem ? "error" : ""} help={problem || undefined}>
            <Select value={priority} onChange={setPriority} options={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))} />
          </Form.Item>
        )}
      </Form>
    </Modal>
  );
}
