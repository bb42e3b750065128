/** A new time limit for several jobs at once (R193). */
import { Form, Input, Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { toSeveral } from "../../api/jobs";
import type { Chosen } from "../../api/types";
import { LENGTHS } from "../../shared/change";
import { parseDuration } from "../../shared/format";
import { useReport } from "./report";

export function ChangeLimits({
  chosen,
  count,
  close,
  done,
}: {
  chosen: Chosen;
  count: number;
  close: () => void;
  done: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const report = useReport();
  const [text, setText] = useState("");
  const [bad, setBad] = useState(false);
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    const seconds = text.trim() === "" ? null : parseDuration(text);
    if (seconds === null && text.trim() !== "") return setBad(true);
    setBusy(true);
    try {
      await report(
        () => toSeveral("change", chosen, { duration_s: seconds }),
        (found) => t("jobs.limit.done", { count: found }),
      );
      close();
      done();
    } catch {
      setBusy(false); // what is the matter has been said
    }
  };
  return (
    <Modal
      open
      title={t("jobs.limit.title", { count })}
      onCancel={close}
      onOk={() => void save()}
      okText={t("action.save")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ ...{ "data-testid": "change-ok" } }}
      width={460}
    >
      <Form layout="vertical" onFinish={() => void save()}>
        <Form.Item
          label={t("job.fact.duration")}
          extra={t("jobs.limit.hint")}
          validateStatus={bad ? "error" : ""}
          help={bad ? t("job.act.durationBad") : undefined}
        >
          <Input
            value={text}
            onChange={(e) => {
              setText(e.target.value);
              setBad(false);
            }}
            placeholder={t("time.noLimit")}
            autoFocus
            data-testid="duration-input"
          />
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
      </Form>
    </Modal>
  );
}
