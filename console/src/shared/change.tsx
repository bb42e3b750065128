/** Change how long a job may run, or how urgent it is, from wherever it is shown. */
import { useQueryClient } from "@tanstack/react-query";
import { Alert, App, Form, Input, Modal, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { changeJob } from "../api/jobs";
import type { Job } from "../api/types";
import { parseDuration, spellDuration } from "./format";
import { useAllowedPriority } from "./session";
import { useErrorText } from "./ui";

export const LENGTHS = ["30m", "1h", "2h", "4h", "8h", "1d", "3d", "7d"];
const PRIORITIES = ["normal", "urgent", "very_urgent"] as const;

/** R191, R192: by list or free value, without touching the processes. */
export function ChangeJob({
  job,
  what,
  close,
  note,
}: {
  job: Pick<Job, "id" | "duration_s" | "priority">;
  what: "duration" | "priority";
  close: () => void;
  /** What the person should know before. */
  note?: string;
}): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [text, setText] = useState(job.duration_s === null ? "" : spellDuration(job.duration_s));
  const [priority, setPriority] = useState(job.priority);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const allowed = useAllowedPriority();
  const save = async (): Promise<void> => {
    const seconds = text.trim() === "" ? null : parseDuration(text);
    if (what === "duration" && seconds === null && text.trim() !== "") {
      setProblem(t("job.act.durationBad"));
      return;
    }
    setBusy(true);
    try {
      await changeJob(job.id, what === "duration" ? { duration_s: seconds } : { priority });
      for (const key of [["job", job.id], ["jobs"], ["queue"], ["timeline"]])
        void client.invalidateQueries({ queryKey: key });
      message.success(t("job.act.changed"));
      close();
    } catch (error) {
      setProblem(errorText(error).line);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t(`job.act.${what}`)}
      onCancel={close}
      onOk={() => void save()}
      okText={t("action.save")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ ...{ "data-testid": "change-ok" } }}
      width={460}
    >
      {note && <Alert type="info" showIcon className="tm-gap" title={note} />}
      <Form layout="vertical" onFinish={() => void save()}>
        {what === "duration" ? (
          <Form.Item
            label={t("job.fact.duration")}
            extra={t("job.act.durationHint")}
            validateStatus={problem ? "error" : ""}
            help={problem || undefined}
          >
            <Input value={text} onChange={(e) => setText(e.target.value)} autoFocus data-testid="duration-input" />
            <div className="tm-chips tm-quick">
              {LENGTHS.map((length) => (
                <button
                  type="button"
                  key={length}
                  className="tm-chip"
                  aria-pressed={text === length}
                  onClick={() => setText(length)}
                >
                  {length}
                </button>
              ))}
            </div>
          </Form.Item>
        ) : (
          <Form.Item label={t("job.fact.priority")} validateStatus={problem ? "error" : ""} help={problem || undefined}>
            <Select
              value={priority}
              onChange={setPriority}
              options={PRIORITIES.map((value) => ({
                value,
                label: allowed(value)
                  ? t(`priority.${value}`)
                  : `${t(`priority.${value}`)} · ${t("priority.adminsOnly")}`,
                disabled: !allowed(value),
              }))}
            />
          </Form.Item>
        )}
      </Form>
    </Modal>
  );
}
