/** Asks for a name and saves a template: of the form, of a job, or what the form made of one that is edited (R42, R230, R231). */
import { useQueryClient } from "@tanstack/react-query";
import { App, Form, Input, Modal, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { createTemplate, editTemplate } from "../api/templates";
import type { JobShare, JsonObject, TemplateDetail } from "../api/types";
import { SHARES } from "./people";
import { ErrorPanel } from "./ui";

const LONGEST_NAME = 30;
const LONGEST_DESCRIPTION = 2000;

interface Props {
  /** What it is made of. */
  of: { spec: JsonObject } | { job: string };
  /** The template that is edited. */
  edits?: TemplateDetail;
  /** The name that it has at first. */
  name: string;
  close: () => void;
  done?: (saved: TemplateDetail) => void;
}

export function SaveTemplate({ of, edits, name: first, close, done }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message } = App.useApp();
  const [name, setName] = useState(first.slice(0, LONGEST_NAME));
  const [description, setDescription] = useState(edits?.description ?? "");
  const [share, setShare] = useState<JobShare>("none");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const words = { name: name.trim(), description: description.trim() };
      const saved = edits
        ? await editTemplate(edits.id, { ...words, ...of, version: edits.version })
        : await createTemplate({ ...words, share, ...of });
      message.success(t("templates.saved", { name: saved.name }));
      for (const key of ["templates", "template"]) void client.invalidateQueries({ queryKey: [key] });
      done?.(saved);
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t(edits ? "templates.saveChange" : "templates.save")}
      onCancel={close}
      onOk={() => void save()}
      okText={t("action.save")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ disabled: name.trim() === "", ...{ "data-testid": "template-save" } }}
    >
      <p className="tm-faint">{t("job" in of ? "templates.jobHint" : "templates.saveHint")}</p>
      <Form layout="vertical" component="div">
        <Form.Item label={t("templates.name")} htmlFor="template-name">
          <Input
            id="template-name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            maxLength={LONGEST_NAME}
            onPressEnter={() => name.trim() !== "" && void save()}
            autoFocus
            data-testid="template-name"
          />
        </Form.Item>
        <Form.Item label={t("templates.description")} htmlFor="template-description">
          <Input.TextArea
            id="template-description"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            maxLength={LONGEST_DESCRIPTION}
            autoSize={{ minRows: 2, maxRows: 6 }}
            data-testid="template-description"
          />
        </Form.Item>
        {!edits && (
          <Form.Item label={t("templates.shared")} htmlFor="template-share">
            <Select<JobShare>
              id="template-share"
              value={share}
              onChange={setShare}
              options={SHARES.map((value) => ({ value, label: t(`templates.share.${value}`) }))}
              data-testid="template-share"
            />
          </Form.Item>
        )}
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}
