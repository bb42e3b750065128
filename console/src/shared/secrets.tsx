/** The secrets of a workspace, in one dialog: their names for who may use them; set, replaced and deleted by who leads it. */
import { DeleteOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Form, Input, Modal } from "antd";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteSecret, listSecrets, setSecret } from "../api/secrets";
import type { Secret } from "../api/types";
import { useAttempt } from "./attempt";
import { decides, roleIn } from "./people";
import { useSession } from "./session";
import { DataTable } from "./table";
import { Ago } from "./time";
import { Pending } from "./ui";

const PAGE = 10;
const LONGEST_NAME = 255;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LEAST = 4;

/** The button that opens them. */
export function SecretsButton({ workspace }: { workspace: string }): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        onClick={() => setOpen(true)}
        aria-label={t("secrets.of", { workspace })}
        data-testid={`secrets-${workspace}`}
      >
        {t("secrets.button")}
      </Button>
      {open && <SecretsDialog workspace={workspace} close={() => setOpen(false)} />}
    </>
  );
}

interface NewSecret {
  name: string;
  value: string;
}

function SecretsDialog({ workspace, close }: { workspace: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const me = useSession()?.user;
  const query = useQuery({ queryKey: ["secrets", workspace], queryFn: () => listSecrets(workspace) });
  const [form] = Form.useForm<NewSecret>();
  const value = useRef<HTMLDivElement>(null);
  const leads = me !== undefined && decides(roleIn(me, workspace));
  const replace = (name: string): void => {
    form.setFieldsValue({ name, value: "" });
    value.current?.querySelector("textarea")?.focus();
  };
  return (
    <Modal
      open
      title={t("secrets.of", { workspace })}
      width={720}
      footer={null}
      onCancel={close}
      mask={{ closable: false }}
    >
      <div className="tm-stack tm-dialog" data-testid="secrets">
        <p className="tm-faint tm-flat">{t(leads ? "secrets.hint" : "secrets.hintUse")}</p>
        {!query.data ? (
          <Pending query={query} rows={4} />
        ) : (
          <>
            {leads && (
              <div ref={value}>
                <SecretForm workspace={workspace} form={form} taken={query.data.items.map((one) => one.name)} />
              </div>
            )}
            <SecretTable workspace={workspace} secrets={query.data.items} replace={leads ? replace : undefined} />
          </>
        )}
      </div>
    </Modal>
  );
}

/** Something done to the secrets of a workspace, after which they are read again. */
function useChange(workspace: string): (work: () => Promise<unknown>, done: string) => Promise<boolean> {
  const attempt = useAttempt();
  const client = useQueryClient();
  return async (work, done) => {
    const good = (await attempt(work, done)) !== undefined;
    await client.invalidateQueries({ queryKey: ["secrets", workspace] });
    return good;
  };
}

interface FormProps {
  workspace: string;
  form: ReturnType<typeof Form.useForm<NewSecret>>[0];
  taken: string[];
}

function SecretForm({ workspace, form, taken }: FormProps): ReactNode {
  const { t } = useTranslation();
  const change = useChange(workspace);
  const [busy, setBusy] = useState(false);
  const name = Form.useWatch("name", form)?.trim() ?? "";
  const save = async ({ value, ...given }: NewSecret): Promise<void> => {
    setBusy(true);
    const wanted = given.name.trim();
    if (await change(() => setSecret(workspace, wanted, value), t("secrets.saved", { name: wanted })))
      form.resetFields();
    setBusy(false);
  };
  return (
    <Form<NewSecret> form={form} name="secret" className="tm-secret-new" onFinish={(values) => void save(values)}>
      <Form.Item
        name="name"
        rules={[
          { required: true, whitespace: true, message: t("secrets.needName") },
          { transform: (text: string) => text.trim(), pattern: NAME, message: t("secrets.badName") },
        ]}
      >
        <Input
          placeholder="WANDB_API_KEY"
          aria-label={t("secrets.name")}
          maxLength={LONGEST_NAME}
          className="tm-mono"
          autoComplete="off"
          spellCheck={false}
          data-testid="secret-name"
        />
      </Form.Item>
      <Form.Item
        name="value"
        rules={[
          { required: true, transform: (text: string) => text.trim(), min: LEAST, message: t("secrets.needValue") },
        ]}
      >
        <Input.TextArea
          autoSize={{ minRows: 1, maxRows: 6 }}
          placeholder={t("secrets.value")}
          aria-label={t("secrets.value")}
          className="tm-mono tm-masked"
          autoComplete="off"
          spellCheck={false}
          data-testid="secret-value"
        />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={busy} data-testid="secret-save">
        {t(taken.includes(name) ? "secrets.replace" : "secrets.add")}
      </Button>
    </Form>
  );
}

interface TableProps {
  workspace: string;
  secrets: Secret[];
  /** Absent for who only uses them. */
  replace: ((name: string) => void) | undefined;
}

function SecretTable({ workspace, secrets, replace }: TableProps): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const change = useChange(workspace);
  const ask = (name: string): void =>
    void modal.confirm({
      title: t("secrets.deleteTitle", { name }),
      icon: null,
      content: t("secrets.deleteHint"),
      okText: t("action.delete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: () => change(() => deleteSecret(workspace, name), t("secrets.deleted", { name })),
    });
  return (
    <DataTable<Secret>
      rowKey="name"
      size="small"
      scroll={{ x: replace ? 600 : 480 }}
      dataSource={secrets}
      pagination={secrets.length > PAGE ? { pageSize: PAGE, showSizeChanger: false } : false}
      locale={{ emptyText: <span className="tm-faint">{t("secrets.none")}</span> }}
      onRow={({ name }) => ({ "data-testid": `secret-${name}` }) as object}
      columns={[
        {
          title: t("secrets.name"),
          key: "name",
          render: (_, { name }) => <b className="tm-mono tm-break">{name}</b>,
        },
        {
          title: t("secrets.changed"),
          key: "changed",
          width: 190,
          render: (_, one) => (
            <>
              <Ago at={one.changed_at} /> <span className="tm-faint">· {one.changed_by}</span>
            </>
          ),
        },
        {
          title: t("secrets.used"),
          key: "used",
          width: 130,
          render: (_, one) => (one.used_at === null ? t("secrets.never") : <Ago at={one.used_at} />),
        },
        ...(replace
          ? [
              {
                title: <span className="tm-hidden">{t("admin.actions")}</span>,
                key: "actions",
                width: 130,
                align: "end" as const,
                render: (_: unknown, { name }: Secret) => (
                  <div className="tm-actions tm-one-line">
                    <Button size="small" onClick={() => replace(name)} data-testid={`replace-${name}`}>
                      {t("secrets.replace")}
                    </Button>
                    <Button
                      type="text"
                      size="small"
                      icon={<DeleteOutlined />}
                      aria-label={`${t("action.delete")} ${name}`}
                      onClick={() => ask(name)}
                      data-testid={`delete-${name}`}
                    />
                  </div>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}
