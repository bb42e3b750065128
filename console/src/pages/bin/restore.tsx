/** Restores under another name what has lost its own to something else meanwhile. */

import { useQueryClient } from "@tanstack/react-query";
import { App, Form, Input, Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { restoreBinned } from "../../api/bin";
import type { Binned } from "../../api/types";
import { ErrorPanel } from "../../shared/ui";

export function RestoreAs({ of, read, close }: { of: Binned; read: readonly string[]; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message } = App.useApp();
  const [name, setName] = useState(of.name);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const restore = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const back = await restoreBinned(of.id, name.trim());
      message.success(t("bin.restored", { name: back.name }));
      for (const key of read) void client.invalidateQueries({ queryKey: [key] });
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t("bin.as.title", { name: of.name })}
      onCancel={close}
      onOk={() => void restore()}
      okText={t("bin.restore")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ disabled: ["", of.name].includes(name.trim()), ...{ "data-testid": "restore-as-ok" } }}
    >
      <Form layout="vertical" component="div" disabled={busy}>
        <p className="tm-faint">{t("bin.as.hint")}</p>
        <Form.Item label={t("bin.as.name")} htmlFor="restore-as">
          <Input
            id="restore-as"
            value={name}
            onChange={(event) => setName(event.target.value)}
            onPressEnter={() => void restore()}
            autoFocus
            data-testid="restore-as"
          />
        </Form.Item>
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}
