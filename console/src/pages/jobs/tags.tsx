/** Tags put on several jobs and taken away from them. */
import { Form, Modal, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { toSeveral } from "../../api/jobs";
import type { Chosen } from "../../api/types";
import { useReport } from "./report";

export function ChangeTags({
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
  const [add, setAdd] = useState<string[]>([]);
  const [gone, setGone] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await report(
        () => toSeveral("tags", chosen, { add, remove: gone }),
        (found) => t("jobs.tags.done", { count: found }),
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
      title={t("jobs.tags.title", { count })}
      onCancel={close}
      onOk={() => void save()}
      okText={t("action.save")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ disabled: add.length + gone.length === 0, ...{ "data-testid": "tags-ok" } }}
      width={460}
    >
      <Form layout="vertical">
        <Form.Item label={t("jobs.tags.add")} extra={t("jobs.tags.hint")}>
          <Select
            mode="tags"
            open={false}
            suffixIcon={null}
            value={add}
            onChange={setAdd}
            tokenSeparators={[",", "，"]}
            aria-label={t("jobs.tags.add")}
            data-testid="tags-add"
          />
        </Form.Item>
        <Form.Item label={t("jobs.tags.remove")}>
          <Select
            mode="tags"
            open={false}
            suffixIcon={null}
            value={gone}
            onChange={setGone}
            tokenSeparators={[",", "，"]}
            aria-label={t("jobs.tags.remove")}
            data-testid="tags-remove"
          />
        </Form.Item>
      </Form>
    </Modal>
  );
}
