/** API tokens: made (and shown once), listed, revoked. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Form, Input, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { createToken, deleteToken, listTokens } from "../../api/session";
import type { Token } from "../../api/types";
import { useFreshSession } from "../../shared/session";
import { DataTable } from "../../shared/table";
import { Ago, Stamp } from "../../shared/time";
import { CopyButton, Pending, useErrorText } from "../../shared/ui";

const DAYS = [7, 30, 90, 365];
const DAY_S = 86_400;
/** Scopes of a token by what people want it for. */
export const KINDS = {
  read: [
    "jobs:read",
    "cluster:read",
    "models:read",
    "templates:read",
    "datasets:read",
    "volumes:read",
    "algorithms:read",
    "images:read",
    "account:self",
  ],
  run: [
    "jobs:read",
    "jobs:write",
    "jobs:submit",
    "secrets:use",
    "jobs:share",
    "cluster:read",
    "models:read",
    "templates:read",
    "templates:write",
    "datasets:read",
    "datasets:write",
    "volumes:read",
    "volumes:write",
    "algorithms:read",
    "algorithms:write",
    "images:read",
    "images:write",
    "uploads:write",
    "account:self",
  ],
} as const;

/** Which of the kinds a token's scopes are. Pure. */
export function kindOf(scopes: readonly string[]): keyof typeof KINDS | undefined {
  const same = (kind: readonly string[]): boolean =>
    kind.length === scopes.length && kind.every((one) => scopes.includes(one));
  return (["read", "run"] as const).find((kind) => same(KINDS[kind]));
}

interface Wanted {
  name: string;
  days: number;
  kind: keyof typeof KINDS | "all";
  workspace: string;
}

export function Tokens(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message, modal } = App.useApp();
  const errorText = useErrorText();
  const query = useQuery({ queryKey: ["tokens"], queryFn: listTokens });
  const [fresh, setFresh] = useState<string | null>(null);
  const [form] = Form.useForm<Wanted>();
  const workspaces = useFreshSession()?.user.workspaces ?? [];
  const refresh = (): void => void client.invalidateQueries({ queryKey: ["tokens"] });
  const create = async ({ name, days, kind, workspace }: Wanted): Promise<void> => {
    try {
      const made = await createToken({
        name,
        ...(days > 0 && { expires_in_s: days * DAY_S }),
        ...(workspace && { workspace }),
        ...(kind !== "all" && { scopes: [...KINDS[kind]] }),
      });
      setFresh(made.token);
      form.resetFields();
      refresh();
    } catch (error) {
      message.error(errorText(error).line);
    }
  };
  const may = (scopes: Token["scopes"]): string => {
    const kind = scopes ? kindOf(scopes) : "all";
    return kind ? t(`settings.tokenKinds.${kind}`) : (scopes ?? []).join(", ");
  };
  const revoke = (token: Token): void =>
    void modal.confirm({
      title: t("settings.tokenDelete"),
      icon: null,
      content: `${token.name}${t("mark.colon")}${t("settings.tokenDeleteHint")}`,
      okText: t("settings.revoke"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true },
      onOk: async () => {
        await deleteToken(token.id);
        refresh();
      },
    });
  return (
    <section className="tm-panel">
      <h2>{t("settings.tokens")}</h2>
      <div className="tm-panel-body tm-stack">
        <p className="tm-faint tm-flat">{t("settings.tokensHint")}</p>
        <Form
          form={form}
          layout="inline"
          className="tm-token-new"
          initialValues={{ days: 90, kind: "all", workspace: "" }}
          onFinish={(values) => void create(values)}
        >
          <Form.Item name="name" rules={[{ required: true, message: t("settings.needName") }]}>
            <Input
              placeholder={t("settings.tokenName")}
              maxLength={100}
              data-testid="token-name"
              aria-label={t("settings.tokenName")}
            />
          </Form.Item>
          <Form.Item name="days">
            <Select
              style={{ width: 120 }}
              aria-label={t("settings.tokenExpires")}
              options={[
                ...DAYS.map((days) => ({ value: days, label: t("settings.days", { count: days }) })),
                { value: 0, label: t("settings.forever") },
              ]}
            />
          </Form.Item>
          <Form.Item name="kind">
            <Select
              style={{ width: 200 }}
              aria-label={t("settings.tokenMay")}
              data-testid="token-kind"
              popupMatchSelectWidth={false}
              options={(["all", "run", "read"] as const).map((value) => ({
                value,
                label: t(`settings.tokenKinds.${value}`),
              }))}
            />
          </Form.Item>
          {workspaces.length > 0 && (
            <Form.Item name="workspace">
              <Select
                style={{ width: 176 }}
                aria-label={t("settings.tokenWorkspace")}
                data-testid="token-workspace"
                popupMatchSelectWidth={false}
                options={[
                  { value: "", label: t("settings.tokenEverywhere") },
                  ...workspaces.map((one) => ({ value: one.workspace, label: one.workspace })),
                ]}
              />
            </Form.Item>
          )}
          <Button type="primary" htmlType="submit" data-testid="token-create">
            {t("settings.tokenCreate")}
          </Button>
        </Form>
        {fresh !== null && (
          <Alert
            type="success"
            title={t("settings.tokenOnce")}
            closable={{ onClose: () => setFresh(null) }}
            description={
              <span className="tm-mono tm-break" data-testid="token">
                {fresh}
                <CopyButton text={fresh} />
              </span>
            }
          />
        )}
        {!query.data ? (
          <Pending query={query} rows={3} />
        ) : (
          <DataTable<Token>
            rowKey="id"
            size="small"
            scroll={{ x: 520 }}
            pagination={false}
            dataSource={query.data.items}
            locale={{ emptyText: <span className="tm-faint">{t("settings.tokenNone")}</span> }}
            columns={[
              { title: t("settings.tokenName"), dataIndex: "name" },
              {
                title: t("settings.tokenMay"),
                key: "may",
                render: (_, token) => [may(token.scopes), token.workspace].filter(Boolean).join(" · "),
              },
              {
                title: t("settings.created"),
                key: "created",
                width: 120,
                render: (_, token) => <Ago at={token.created_at} />,
              },
              {
                title: t("settings.expires"),
                key: "expires",
                width: 180,
                render: (_, token) => (token.expires_at ? <Stamp at={token.expires_at} /> : t("settings.forever")),
              },
              {
                title: <span className="tm-hidden">{t("admin.actions")}</span>,
                key: "revoke",
                align: "end",
                render: (_, token) => (
                  <Button
                    size="small"
                    danger
                    onClick={() => revoke(token)}
                    aria-label={`${t("settings.revoke")} ${token.name}`}
                  >
                    {t("settings.revoke")}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </div>
    </section>
  );
}
