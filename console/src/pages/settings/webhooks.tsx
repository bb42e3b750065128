/** Webhooks, one's own and those of workspaces that one leads: made (the secret is shown once), tried, switched, removed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Input, Modal, Select, Switch } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  addWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  NOTICE_KINDS,
  testWebhook,
  turnWebhook,
} from "../../api/notices";
import type { Delivery, Webhook } from "../../api/types";
import { useLanguage } from "../../i18n";
import { useNoticeName } from "../../shared/notice";
import { decides } from "../../shared/people";
import { useFreshSession } from "../../shared/session";
import { Toned } from "../../shared/state";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { CopyButton, Pending, useErrorText } from "../../shared/ui";

export function Webhooks(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message, modal } = App.useApp();
  const errorText = useErrorText();
  const language = useLanguage();
  const user = useFreshSession()?.user;
  const [workspace, setWorkspace] = useState("");
  const [fresh, setFresh] = useState<string | null>(null);
  const [looked, setLooked] = useState<Webhook | null>(null);
  const query = useQuery({ queryKey: ["webhooks", workspace], queryFn: () => listWebhooks(workspace) });
  const led = user?.workspaces.filter(({ role }) => user.role === "admin" || decides(role)) ?? [];
  const act = async (what: () => Promise<unknown>): Promise<boolean> => {
    try {
      await what();
      return true;
    } catch (error) {
      message.error(errorText(error).line);
      return false;
    } finally {
      void client.invalidateQueries({ queryKey: ["webhooks"] });
    }
  };
  const test = (one: Webhook): Promise<boolean> =>
    act(async () => {
      const done = await testWebhook(one.id);
      if (done.state === "sent") message.success(t("notices.testSent", { status: done.status ?? "" }));
      else message.error(`${t("notices.testFailed")}${t("mark.colon")}${done.error?.[language] ?? ""}`);
    });
  const drop = (one: Webhook): void =>
    void modal.confirm({
      title: t("notices.hookDelete"),
      icon: null,
      content: one.name,
      okText: t("action.delete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true },
      onOk: () => act(() => deleteWebhook(one.id)),
    });
  return (
    <section className="tm-panel" data-testid="webhooks">
      <h2>{t("notices.hooks")}</h2>
      <div className="tm-panel-body tm-stack">
        <p className="tm-faint tm-flat">{t("notices.hooksHint")}</p>
        {led.length > 0 && (
          <Select
            value={workspace}
            onChange={setWorkspace}
            aria-label={t("notices.hookOf")}
            style={{ width: 260 }}
            data-testid="webhook-of"
            options={[
              { value: "", label: t("notices.hookMine") },
              ...led.map((one) => ({ value: one.workspace, label: t("notices.hookTeam", { name: one.workspace }) })),
            ]}
          />
        )}
        <NewWebhook
          workspace={workspace}
          make={(body) =>
            act(async () => {
              setFresh((await addWebhook({ ...body, ...(workspace && { workspace }) })).secret);
            })
          }
        />
        {fresh !== null && (
          <Alert
            type="success"
            title={t("notices.secretOnce")}
            closable={{ onClose: () => setFresh(null) }}
            description={
              <span className="tm-mono tm-break" data-testid="webhook-secret">
                {fresh}
                <CopyButton text={fresh} />
              </span>
            }
          />
        )}
        {!query.data ? (
          <Pending query={query} rows={2} />
        ) : (
          <DataTable<Webhook>
            rowKey="id"
            size="small"
            scroll={{ x: 660 }}
            pagination={false}
            dataSource={query.data.items}
            locale={{ emptyText: t("notices.noHooks") }}
            columns={[
              { title: t("notices.hook"), key: "name", render: (_, one) => <Named of={one} /> },
              {
                title: t("notices.hookOn"),
                key: "on",
                width: 90,
                render: (_, one) => (
                  <Switch
                    size="small"
                    checked={one.state === "on"}
                    onChange={(on) => void act(() => turnWebhook(one.id, on))}
                    aria-label={`${t("notices.hookOn")} ${one.name}`}
                    data-testid="webhook-on"
                  />
                ),
              },
              {
                title: <span className="tm-hidden">{t("admin.actions")}</span>,
                key: "actions",
                width: 290,
                align: "end",
                render: (_, one) => (
                  <div className="tm-actions tm-actions-end">
                    <Button
                      size="small"
                      onClick={() => void test(one)}
                      aria-label={`${t("notices.test")} ${one.name}`}
                      data-testid="webhook-test"
                    >
                      {t("notices.sendTest")}
                    </Button>
                    <Button
                      size="small"
                      onClick={() => setLooked(one)}
                      aria-label={`${t("notices.deliveries")} ${one.name}`}
                      data-testid="webhook-deliveries"
                    >
                      {t("notices.deliveries")}
                    </Button>
                    <Button
                      size="small"
                      danger
                      onClick={() => drop(one)}
                      aria-label={`${t("action.delete")} ${one.name}`}
                      data-testid="webhook-delete"
                    >
                      {t("action.delete")}
                    </Button>
                  </div>
                ),
              },
            ]}
          />
        )}
      </div>
      {looked && <Deliveries of={looked} close={() => setLooked(null)} />}
    </section>
  );
}

function Named({ of }: { of: Webhook }): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const name = useNoticeName();
  return (
    <>
      <b>{of.name}</b> {of.state === "broken" && <Toned tone="red">{t("notices.broken")}</Toned>}
      <div className="tm-faint tm-break">{of.url}</div>
      {of.workspace && <div className="tm-faint">{of.kinds.map(name).join(t("mark.comma"))}</div>}
      {of.error && (
        <div className="tm-notice-error">
          {t("notices.failures", { count: of.failures })}
          {t("mark.colon")}
          {of.error[language]}
        </div>
      )}
    </>
  );
}

function NewWebhook(props: {
  workspace: string;
  make: (body: { url: string; name?: string; kinds?: string[] }) => Promise<boolean>;
}): ReactNode {
  const { t } = useTranslation();
  const kindName = useNoticeName();
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [kinds, setKinds] = useState<string[]>([]);
  const make = async (): Promise<void> => {
    const body = { url: url.trim(), ...(name.trim() && { name: name.trim() }), ...(props.workspace && { kinds }) };
    if (await props.make(body)) {
      setUrl("");
      setName("");
      setKinds([]);
    }
  };
  return (
    <div className="tm-notice-line">
      <Input
        value={url}
        onChange={(e) => setUrl(e.target.value)}
        placeholder="https://example.org/hook"
        aria-label={t("notices.hookUrl")}
        maxLength={2048}
        data-testid="webhook-url"
      />
      <Input
        value={name}
        onChange={(e) => setName(e.target.value)}
        placeholder={t("notices.hookName")}
        aria-label={t("notices.hookName")}
        maxLength={100}
        data-testid="webhook-name"
      />
      {props.workspace && (
        <Select
          mode="multiple"
          allowClear
          maxTagCount="responsive"
          value={kinds}
          onChange={setKinds}
          placeholder={t("notices.everyKind")}
          aria-label={t("notices.hookKinds")}
          options={NOTICE_KINDS.filter((kind) => kind !== "webhook").map((kind) => ({
            value: kind,
            label: kindName(kind),
          }))}
        />
      )}
      <Button type="primary" disabled={!url.trim()} onClick={() => void make()} data-testid="webhook-add">
        {t("notices.hookAdd")}
      </Button>
    </div>
  );
}

function Deliveries({ of, close }: { of: Webhook; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const name = useNoticeName();
  const answer = (one: Delivery): string => one.error?.[language] ?? (one.status === null ? "–" : `HTTP ${one.status}`);
  const query = useQuery({ queryKey: ["webhooks", "deliveries", of.id], queryFn: () => listDeliveries(of.id) });
  return (
    <Modal open title={t("notices.deliveriesOf", { name: of.name })} onCancel={close} footer={null} width={760}>
      {!query.data ? (
        <Pending query={query} rows={3} />
      ) : (
        <DataTable<Delivery>
          rowKey="id"
          size="small"
          scroll={{ x: 620, y: 420 }}
          lead="kind"
          pagination={false}
          dataSource={query.data.items}
          locale={{ emptyText: t("notices.nothingSent") }}
          columns={[
            { title: t("notices.when"), key: "at", width: 120, render: (_, one) => <Ago at={one.created_at} /> },
            { title: t("notices.kind"), key: "kind", width: 150, render: (_, one) => name(one.kind) },
            {
              title: t("notices.state"),
              key: "state",
              width: 110,
              render: (_, one) => (
                <Toned tone={one.state === "sent" ? "green" : one.state === "waiting" ? "blue" : "red"}>
                  {t(`notices.states.${one.state}`)}
                </Toned>
              ),
            },
            { title: t("notices.tries"), key: "tries", width: 70, render: (_, one) => one.tries },
            { title: t("notices.answer"), key: "answer", render: (_, one) => answer(one) },
          ]}
        />
      )}
    </Modal>
  );
}
