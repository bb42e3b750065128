/** SSH public keys of the person: added, listed with where they came from, deleted. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Form, Input } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { addSshKey, deleteSshKey, listSshKeys } from "../../api/session";
import type { SshKey } from "../../api/types";
import { useAttempt } from "../../shared/attempt";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { Pending } from "../../shared/ui";

const LONGEST = 16_384;

/** A private key does not leave the browser. */
const refusePrivate = async (_: unknown, text?: string): Promise<void> => {
  if (text?.includes("PRIVATE KEY")) throw new Error("private");
};

export function SshKeysPanel(): ReactNode {
  const { t } = useTranslation();
  const attempt = useAttempt();
  const client = useQueryClient();
  const { modal } = App.useApp();
  const [form] = Form.useForm<{ key: string }>();
  const query = useQuery({ queryKey: ["ssh-keys"], queryFn: listSshKeys });
  const change = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
    const good = (await attempt(work, done)) !== undefined;
    await client.invalidateQueries({ queryKey: ["ssh-keys"] });
    return good;
  };
  const add = async ({ key }: { key: string }): Promise<void> => {
    if (await change(() => addSshKey(key.trim()), t("settings.keyAdded"))) form.resetFields();
  };
  const ask = (one: SshKey): void =>
    void modal.confirm({
      title: t("settings.keyDeleteTitle"),
      icon: null,
      content: one.comment || one.fingerprint,
      okText: t("settings.keyDelete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true },
      onOk: () => change(() => deleteSshKey(one.fingerprint), t("settings.keyDeleted")),
    });
  const changed = query.data?.changed_at;
  return (
    <section className="tm-panel" data-testid="ssh-keys">
      <h2>{t("settings.keys")}</h2>
      <div className="tm-panel-body tm-stack">
        <p className="tm-faint tm-flat">{t("settings.keysHint")}</p>
        <Form form={form} onFinish={(values) => void add(values)} className="tm-key-new">
          <Form.Item
            name="key"
            rules={[
              { required: true, whitespace: true, message: t("settings.keyMissing") },
              { validator: refusePrivate, message: t("settings.keyPrivate") },
            ]}
          >
            <Input.TextArea
              rows={2}
              maxLength={LONGEST}
              className="tm-mono"
              placeholder="ssh-ed25519 AAAA… ann@laptop"
              aria-label={t("settings.key")}
              spellCheck={false}
              data-testid="ssh-key"
            />
          </Form.Item>
          <Button type="primary" htmlType="submit" data-testid="ssh-key-add">
            {t("settings.keyAdd")}
          </Button>
        </Form>
        {!query.data ? (
          <Pending query={query} rows={2} />
        ) : (
          <DataTable<SshKey>
            rowKey="fingerprint"
            size="small"
            scroll={{ x: 620 }}
            pagination={false}
            dataSource={query.data.items}
            locale={{ emptyText: <span className="tm-faint">{t("settings.keyNone")}</span> }}
            columns={[
              { title: t("settings.keyComment"), key: "comment", render: (_, one) => one.comment || "–" },
              { title: t("settings.keyType"), key: "kind", render: (_, one) => `${one.kind} ${one.bits}` },
              {
                title: t("settings.keyFingerprint"),
                key: "fingerprint",
                render: (_, one) => <span className="tm-mono tm-break">{one.fingerprint}</span>,
              },
              { title: t("settings.created"), key: "created", render: (_, one) => <Ago at={one.created_at} /> },
              { title: t("settings.address"), key: "address", render: (_, one) => one.address || "–" },
              {
                title: <span className="tm-hidden">{t("admin.actions")}</span>,
                key: "delete",
                align: "end",
                render: (_, one) => (
                  <Button
                    size="small"
                    danger
                    onClick={() => ask(one)}
                    aria-label={`${t("settings.keyDelete")} ${one.comment} ${one.fingerprint}`}
                    data-testid="ssh-key-delete"
                  >
                    {t("settings.keyDelete")}
                  </Button>
                ),
              },
            ]}
          />
        )}
        {typeof changed === "number" && (
          <p className="tm-faint tm-flat">
            {t("settings.keysChanged", { from: query.data?.changed_from || "–" })} <Ago at={changed} />
          </p>
        )}
      </div>
    </section>
  );
}
