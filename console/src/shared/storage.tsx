/** The storage connections of a workspace, in one dialog: where they go for who may use them; kept and deleted by who leads it. */
import { DeleteOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Form, Input, Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { checkConnection, deleteConnection, listConnections, setConnection } from "../api/storage";
import type { Connection, ConnectionBody, ConnectionCheck } from "../api/types";
import { useBilingual } from "../i18n";
import { useAttempt } from "./attempt";
import { decides, roleIn } from "./people";
import { useSession } from "./session";
import { DataTable } from "./table";
import { Ago } from "./time";
import { Pending, Sentences } from "./ui";

const PAGE = 10;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const FIELDS = ["name", "endpoint", "bucket", "prefix", "region", "key_id", "secret"] as const;
const OPTIONAL = new Set<string>(["prefix", "region"]);
const LONGEST = 1024;
const SHOWN: Record<string, string> = { endpoint: "https://s3.example.org", name: "team-data" };

type NewConnection = Record<(typeof FIELDS)[number], string>;

/** The button that opens them. */
export function StorageButton({ workspace }: { workspace: string }): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        onClick={() => setOpen(true)}
        aria-label={t("storage.of", { workspace })}
        data-testid={`storage-${workspace}`}
      >
        {t("storage.button")}
      </Button>
      {open && <StorageDialog workspace={workspace} close={() => setOpen(false)} />}
    </>
  );
}

function StorageDialog({ workspace, close }: { workspace: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const me = useSession()?.user;
  const query = useQuery({ queryKey: ["storage", workspace], queryFn: () => listConnections(workspace) });
  const [form] = Form.useForm<NewConnection>();
  const leads = me !== undefined && decides(roleIn(me, workspace));
  const replace = ({ name, endpoint, bucket, prefix, region }: Connection): void => {
    form.setFieldsValue({ name, endpoint, bucket, prefix, region, key_id: "", secret: "" });
    form.getFieldInstance("key_id")?.focus();
  };
  return (
    <Modal
      open
      title={t("storage.of", { workspace })}
      width={820}
      footer={null}
      onCancel={close}
      mask={{ closable: false }}
    >
      <div className="tm-stack tm-dialog" data-testid="storage">
        <p className="tm-faint tm-flat">{t(leads ? "storage.hint" : "storage.hintUse")}</p>
        {!query.data ? (
          <Pending query={query} rows={4} />
        ) : (
          <>
            {leads && (
              <ConnectionForm workspace={workspace} form={form} taken={query.data.items.map((one) => one.name)} />
            )}
            <ConnectionTable
              workspace={workspace}
              connections={query.data.items}
              replace={leads ? replace : undefined}
            />
          </>
        )}
      </div>
    </Modal>
  );
}

/** Something done to the connections of a workspace, after which they are read again. */
function useChange(workspace: string): (work: () => Promise<unknown>, done: string) => Promise<boolean> {
  const attempt = useAttempt();
  const client = useQueryClient();
  return async (work, done) => {
    const good = (await attempt(work, done)) !== undefined;
    await client.invalidateQueries({ queryKey: ["storage", workspace] });
    return good;
  };
}

interface FormProps {
  workspace: string;
  form: ReturnType<typeof Form.useForm<NewConnection>>[0];
  taken: string[];
}

function ConnectionForm({ workspace, form, taken }: FormProps): ReactNode {
  const { t } = useTranslation();
  const change = useChange(workspace);
  const [busy, setBusy] = useState(false);
  const name = Form.useWatch("name", form)?.trim() ?? "";
  const save = async (values: NewConnection): Promise<void> => {
    setBusy(true);
    const given = Object.fromEntries(FIELDS.map((field) => [field, values[field]?.trim() ?? ""])) as NewConnection;
    const { name: wanted, ...body } = given;
    const kept: ConnectionBody = body;
    if (await change(() => setConnection(workspace, wanted, kept), t("storage.saved", { name: wanted })))
      form.resetFields();
    setBusy(false);
  };
  return (
    <Form<NewConnection>
      form={form}
      name="storage"
      layout="vertical"
      requiredMark={false}
      className="tm-storage-new"
      onFinish={(values) => void save(values)}
    >
      {FIELDS.map((field) => (
        <Form.Item
          key={field}
          name={field}
          label={t(`storage.${keyOf(field)}`)}
          rules={
            OPTIONAL.has(field)
              ? []
              : [
                  { required: true, whitespace: true, message: t("storage.need") },
                  ...(field === "name"
                    ? [{ transform: (text: string) => text.trim(), pattern: NAME, message: t("storage.badName") }]
                    : []),
                ]
          }
        >
          <Input
            placeholder={SHOWN[field] ?? (OPTIONAL.has(field) ? t("storage.optional") : "")}
            maxLength={LONGEST}
            className={field === "secret" ? "tm-mono tm-masked" : "tm-mono"}
            autoComplete="off"
            spellCheck={false}
            data-testid={`storage-field-${field}`}
          />
        </Form.Item>
      ))}
      <Button type="primary" htmlType="submit" loading={busy} data-testid="storage-save">
        {t(taken.includes(name) ? "storage.replace" : "storage.add")}
      </Button>
    </Form>
  );
}

const keyOf = (field: (typeof FIELDS)[number]): Exclude<typeof field, "key_id"> | "keyId" =>
  field === "key_id" ? "keyId" : field;

/** Where a connection goes, as one line. Pure. */
export const placeOf = ({ endpoint, bucket, prefix }: Connection): string =>
  [endpoint, bucket, prefix].filter((part) => part !== "").join("/");

interface TableProps {
  workspace: string;
  connections: Connection[];
  /** Absent for who only uses them. */
  replace: ((one: Connection) => void) | undefined;
}

function ConnectionTable({ workspace, connections, replace }: TableProps): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const change = useChange(workspace);
  const attempt = useAttempt();
  const [checking, setChecking] = useState("");
  const [seen, setSeen] = useState<{ name: string; check: ConnectionCheck } | null>(null);
  const look = async (name: string): Promise<void> => {
    setChecking(name);
    setSeen(null);
    const found = await attempt(() => checkConnection(workspace, name));
    if (found !== undefined) setSeen({ name, check: found.made });
    setChecking("");
  };
  const ask = (name: string): void =>
    void modal.confirm({
      title: t("storage.deleteTitle", { name }),
      icon: null,
      content: t("storage.deleteHint"),
      okText: t("action.delete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: () => change(() => deleteConnection(workspace, name), t("storage.deleted", { name })),
    });
  return (
    <>
      {seen && <Checked name={seen.name} check={seen.check} />}
      <DataTable<Connection>
        rowKey="name"
        size="small"
        scroll={{ x: replace ? 700 : 560 }}
        dataSource={connections}
        pagination={connections.length > PAGE ? { pageSize: PAGE, showSizeChanger: false } : false}
        locale={{ emptyText: <span className="tm-faint">{t("storage.none")}</span> }}
        onRow={({ name }) => ({ "data-testid": `storage-row-${name}` }) as object}
        columns={[
          {
            title: t("storage.name"),
            key: "name",
            width: 140,
            render: (_, { name }) => <b className="tm-mono tm-break">{name}</b>,
          },
          {
            title: t("storage.place"),
            key: "place",
            render: (_, one) => <span className="tm-mono tm-break">{placeOf(one)}</span>,
          },
          {
            title: t("storage.changed"),
            key: "changed",
            width: 170,
            render: (_, one) => (
              <>
                <Ago at={one.changed_at} /> <span className="tm-faint">· {one.changed_by}</span>
              </>
            ),
          },
          {
            title: <span className="tm-hidden">{t("admin.actions")}</span>,
            key: "actions",
            width: replace ? 190 : 90,
            align: "end" as const,
            render: (_, one) => (
              <div className="tm-actions tm-one-line">
                <Button
                  size="small"
                  loading={checking === one.name}
                  disabled={checking !== ""}
                  onClick={() => void look(one.name)}
                  data-testid={`check-${one.name}`}
                >
                  {t("storage.check")}
                </Button>
                {replace && (
                  <>
                    <Button size="small" onClick={() => replace(one)} data-testid={`replace-${one.name}`}>
                      {t("storage.replace")}
                    </Button>
                    <Button
                      type="text"
                      size="small"
                      icon={<DeleteOutlined />}
                      aria-label={`${t("action.delete")} ${one.name}`}
                      onClick={() => ask(one.name)}
                      data-testid={`delete-${one.name}`}
                    />
                  </>
                )}
              </div>
            ),
          },
        ]}
      />
    </>
  );
}

/** What a look found. */
function Checked({ name, check }: { name: string; check: ConnectionCheck }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const wrong = check.steps.find((one) => one.wrong !== null);
  if (!wrong?.wrong)
    return <Alert type="success" showIcon title={t("storage.checked", { name })} data-testid="storage-checked" />;
  const step = t(`storage.step.${wrong.step as "list" | "write" | "read" | "delete"}`);
  return (
    <Alert
      type="error"
      showIcon
      title={t("storage.failed", { name, step })}
      description={<Sentences of={[`${pick(wrong.wrong)}${t("mark.stop")}`, wrong.remedy ? pick(wrong.remedy) : ""]} />}
      data-testid="storage-checked"
    />
  );
}
