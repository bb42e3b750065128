/** What other workspaces offer to one of the reader's, and what that one subscribes to (R141). */
import { CheckOutlined, PlusOutlined } from "@ant-design/icons";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { App, Button, Form, Input, Modal, Select, Table, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import { listPublished, listSubscriptions, subscribe, unsubscribe } from "../../api/datasets";
import type { Published, Subscription } from "../../api/types";
import { useAct } from "../../shared/act";
import { useKept } from "../../shared/kept";
import { LoadMore } from "../../shared/more";
import { DEFAULT_WORKSPACE, homeOf, maySubmit, roleIn } from "../../shared/people";
import { useSession } from "../../shared/session";
import { Ago } from "../../shared/time";
import { ErrorPanel, Outdated, Pending, TwoLines } from "../../shared/ui";
import { newestColumns } from "./columns";

const LONGEST_NAME = 30;
/** What shows them. */
const TOUCHED = ["datasets", "dataset", "published", "subscriptions", "to mount"];

export function PublishedDatasets({ q }: { q: string }): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const mine = (spaces.data?.items ?? []).map((one) => one.name).filter((one) => user && roleIn(user, one));
  const [chosen, setChosen] = useState<string>();
  const workspace = chosen ?? (user && (homeOf(user) ?? user.workspaces[0]?.workspace)) ?? DEFAULT_WORKSPACE;
  const query = useInfiniteQuery({
    queryKey: ["published", workspace, q],
    queryFn: ({ pageParam, signal }) => listPublished(workspace, { q, limit: 100, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: 30_000,
  });
  const taken = useQuery({ queryKey: ["subscriptions", workspace], queryFn: () => listSubscriptions(workspace) });
  const kept = useKept(query);
  const [wanted, setWanted] = useState<Published>();
  const submits = user !== undefined && maySubmit(user, workspace);
  const columns = useColumns(workspace, submits, setWanted);
  const lapsed = (taken.data?.items ?? []).filter((one) => one.called === null);
  return (
    <>
      {mine.length > 1 && (
        <div className="tm-published-for">
          <span className="tm-faint">{t("datasets.passing.for")}</span>
          <Select<string>
            value={workspace}
            onChange={setChosen}
            options={mine.map((value) => ({ value, label: value }))}
            popupMatchSelectWidth={false}
            aria-label={t("datasets.passing.for")}
            data-testid="published-workspace"
          />
        </div>
      )}
      <Outdated query={kept} />
      {kept.data ? (
        <div className="tm-panel tm-table" data-testid="published">
          <Table<Published>
            rowKey="id"
            size="middle"
            columns={columns}
            dataSource={kept.data.pages.flatMap((page) => page.items)}
            tableLayout="fixed"
            scroll={{ x: 900 }}
            pagination={false}
            locale={{ emptyText: <span className="tm-faint">{t("datasets.passing.none", { workspace })}</span> }}
          />
        </div>
      ) : (
        <Pending query={kept} />
      )}
      <LoadMore query={query} className="tm-gap" testid="published-more">
        {t("listing.more")}
      </LoadMore>
      {lapsed.length > 0 && <Lapsed of={lapsed} submits={submits} />}
      {wanted && <Subscribe to={wanted} workspace={workspace} close={() => setWanted(undefined)} />}
    </>
  );
}

function useColumns(workspace: string, submits: boolean, want: (one: Published) => void): TableColumnsType<Published> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("datasets.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              one.taken_as === null ? (
                <b>{one.name}</b>
              ) : (
                <Link to="/datasets/$id" params={{ id: one.id }} search={{}} className="tm-name">
                  {one.name}
                </Link>
              )
            }
            second={one.description || "–"}
          />
        ),
      },
      {
        title: t("datasets.passing.from"),
        key: "from",
        width: 152,
        render: (_, one) => <TwoLines first={one.workspace} second={one.owner} />,
      },
      ...newestColumns<Published>(t),
      {
        title: t("datasets.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("datasets.passing.subscribe")}</span>,
        key: "act",
        width: 216,
        align: "end",
        render: (_, one) =>
          one.taken_as !== null ? (
            <span className="tm-subscribed">
              <TwoLines
                first={
                  <span data-testid="subscribed">
                    <CheckOutlined /> {t("datasets.passing.subscribed")}
                  </span>
                }
                second={one.taken_as}
              />
              {submits && <Unsubscribe workspace={workspace} name={one.taken_as} />}
            </span>
          ) : (
            submits && (
              <Button
                size="small"
                icon={<PlusOutlined />}
                onClick={() => want(one)}
                aria-label={t("datasets.passing.subscribeTo", { name: one.name })}
                data-testid="subscribe"
              >
                {t("datasets.passing.subscribe")}
              </Button>
            )
          ),
      },
    ],
    [t, workspace, submits, want],
  );
}

/** Asks what it is to be called here, and takes it in. */
function Subscribe({ to, workspace, close }: { to: Published; workspace: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const [name, setName] = useState(to.name);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = useAct(TOUCHED);
  const go = async (): Promise<void> => {
    setBusy(true);
    try {
      await subscribe(workspace, name.trim(), to.id);
      await act(async () => t("datasets.passing.done", { name: name.trim() }));
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t("datasets.passing.subscribeTo", { name: to.name })}
      onCancel={close}
      onOk={() => void go()}
      okText={t("datasets.passing.subscribe")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ disabled: name.trim() === "", ...{ "data-testid": "subscribe-ok" } }}
    >
      <p className="tm-faint">{t("datasets.passing.what", { workspace })}</p>
      <Form layout="vertical" component="div">
        <Form.Item label={t("datasets.passing.as")} htmlFor="subscribe-name">
          <Input
            id="subscribe-name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            maxLength={LONGEST_NAME}
            data-testid="subscribe-name"
          />
        </Form.Item>
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}

export function Unsubscribe({ workspace, name }: { workspace: string; name: string }): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const act = useAct(TOUCHED);
  const end = async (): Promise<void> => {
    await act(async () => {
      await unsubscribe(workspace, name);
      return t("datasets.passing.ended", { name });
    });
  };
  const ask = (): void =>
    void modal.confirm({
      title: t("datasets.passing.endTitle", { name, workspace }),
      icon: null,
      content: t("datasets.passing.endWhat"),
      okText: t("datasets.passing.end"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: end,
    });
  return (
    <Button
      size="small"
      onClick={ask}
      aria-label={t("datasets.passing.endOf", { name, workspace })}
      data-testid="unsubscribe"
    >
      {t("datasets.passing.end")}
    </Button>
  );
}

/** Names that mean nothing any more, since what they were for is not offered. */
function Lapsed({ of, submits }: { of: Subscription[]; submits: boolean }): ReactNode {
  const { t } = useTranslation();
  return (
    <section className="tm-panel tm-lapsed-panel" data-testid="lapsed">
      <h2>{t("datasets.passing.lapsed")}</h2>
      <div className="tm-panel-body">
        <p className="tm-faint tm-lapsed-hint">{t("datasets.passing.lapsedHint")}</p>
        {of.map((one) => (
          <div key={one.name} className="tm-lapsed">
            <b>{one.name}</b>
            <span className="tm-faint tm-grow">
              {one.by} · <Ago at={one.at} />
            </span>
            {submits && <Unsubscribe workspace={one.workspace} name={one.name} />}
          </div>
        ))}
      </div>
    </section>
  );
}
