/** What other workspaces offer to one of the reader's, and what that one subscribes to (R141). */
import { CheckOutlined, PlusOutlined } from "@ant-design/icons";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { App, Button, Form, Input, Modal, Select, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import { listPublished, listSubscriptions, type PassedKind, subscribe, unsubscribe } from "../../api/passing";
import type { Published, Subscription } from "../../api/types";
import { useAct } from "../act";
import { useKept } from "../kept";
import { LoadMore } from "../more";
import { DEFAULT_WORKSPACE, homeOf, maySubmit, roleIn } from "../people";
import { useSession } from "../session";
import { DataTable } from "../table";
import { Ago } from "../time";
import { ErrorPanel, Outdated, Pending, TwoLines } from "../ui";
import { newestColumns } from "./columns";

const LONGEST_NAME = 30;
/** What shows what is passed on of a kind: read again after each change. */
export const touchedBy = (kind: PassedKind): string[] => [
  `${kind}s`,
  kind,
  "published",
  "subscriptions",
  ...(kind === "dataset" ? ["to mount"] : []),
];

export function PublishedList({ kind, q }: { kind: PassedKind; q: string }): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const mine = (spaces.data?.items ?? []).map((one) => one.name).filter((one) => user && roleIn(user, one));
  const [chosen, setChosen] = useState<string>();
  const workspace = chosen ?? (user && (homeOf(user) ?? user.workspaces[0]?.workspace)) ?? DEFAULT_WORKSPACE;
  const query = useInfiniteQuery({
    queryKey: ["published", kind, workspace, q],
    queryFn: ({ pageParam, signal }) => listPublished(kind, workspace, { q, limit: 100, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: 30_000,
  });
  const taken = useQuery({
    queryKey: ["subscriptions", kind, workspace],
    queryFn: () => listSubscriptions(kind, workspace),
  });
  const kept = useKept(query);
  const [wanted, setWanted] = useState<Published>();
  const submits = user !== undefined && maySubmit(user, workspace);
  const columns = useColumns(kind, workspace, submits, setWanted);
  const lapsed = (taken.data?.items ?? []).filter((one) => one.called === null);
  return (
    <>
      {mine.length > 1 && (
        <div className="tm-published-for">
          <span className="tm-faint">{t("passing.for")}</span>
          <Select<string>
            value={workspace}
            onChange={setChosen}
            options={mine.map((value) => ({ value, label: value }))}
            popupMatchSelectWidth={false}
            aria-label={t("passing.for")}
            data-testid="published-workspace"
          />
        </div>
      )}
      <Outdated query={kept} />
      {kept.data ? (
        <div className="tm-panel tm-table" data-testid="published">
          <DataTable<Published>
            rowKey="id"
            size="middle"
            columns={columns}
            dataSource={kept.data.pages.flatMap((page) => page.items)}
            tableLayout="fixed"
            scroll={{ x: 900 }}
            pagination={false}
            locale={{ emptyText: <span className="tm-faint">{t(`passing.none.${kind}`, { workspace })}</span> }}
          />
        </div>
      ) : (
        <Pending query={kept} />
      )}
      <LoadMore query={query} className="tm-gap" testid="published-more">
        {t("listing.more")}
      </LoadMore>
      {lapsed.length > 0 && <Lapsed kind={kind} of={lapsed} submits={submits} />}
      {wanted && <Subscribe kind={kind} to={wanted} workspace={workspace} close={() => setWanted(undefined)} />}
    </>
  );
}

function useColumns(
  kind: PassedKind,
  workspace: string,
  submits: boolean,
  want: (one: Published) => void,
): TableColumnsType<Published> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("passing.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              one.taken_as === null ? (
                <b>{one.name}</b>
              ) : (
                <ToAsset kind={kind} id={one.id}>
                  {one.name}
                </ToAsset>
              )
            }
            second={one.description || "–"}
          />
        ),
      },
      {
        title: t("passing.from"),
        key: "from",
        width: 152,
        render: (_, one) => <TwoLines first={one.workspace} second={one.owner} />,
      },
      ...newestColumns(kind, t),
      {
        title: t("passing.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("passing.subscribe")}</span>,
        key: "act",
        width: 216,
        align: "end",
        render: (_, one) =>
          one.taken_as !== null ? (
            <span className="tm-subscribed">
              <TwoLines
                first={
                  <span data-testid="subscribed">
                    <CheckOutlined /> {t("passing.subscribed")}
                  </span>
                }
                second={one.taken_as}
              />
              {submits && <Unsubscribe kind={kind} workspace={workspace} name={one.taken_as} />}
            </span>
          ) : (
            submits && (
              <Button
                size="small"
                icon={<PlusOutlined />}
                onClick={() => want(one)}
                aria-label={t("passing.subscribeTo", { name: one.name })}
                data-testid="subscribe"
              >
                {t("passing.subscribe")}
              </Button>
            )
          ),
      },
    ],
    [t, kind, workspace, submits, want],
  );
}

const PAGES = { dataset: "/datasets/$id", algorithm: "/algorithms/$id", image: "/images/$id" } as const;

/** Leads to what was taken in: to its page, or of a template to the form that it fills. */
function ToAsset({ kind, id, children }: { kind: PassedKind; id: string; children: ReactNode }): ReactNode {
  return kind === "template" ? (
    <Link to="/submit" search={{ template: id }} className="tm-name">
      {children}
    </Link>
  ) : (
    <Link to={PAGES[kind]} params={{ id }} search={{}} className="tm-name">
      {children}
    </Link>
  );
}

/** Asks what it is to be called here, and takes it in. */
function Subscribe({
  kind,
  to,
  workspace,
  close,
}: {
  kind: PassedKind;
  to: Published;
  workspace: string;
  close: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const [name, setName] = useState(to.name);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = useAct(touchedBy(kind));
  const go = async (): Promise<void> => {
    setBusy(true);
    try {
      await subscribe(kind, workspace, name.trim(), to.id);
      await act(async () => t("passing.done", { name: name.trim() }));
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t("passing.subscribeTo", { name: to.name })}
      onCancel={close}
      onOk={() => void go()}
      okText={t("passing.subscribe")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{ disabled: name.trim() === "", ...{ "data-testid": "subscribe-ok" } }}
    >
      <p className="tm-faint">{t(`passing.what.${kind}`, { workspace })}</p>
      <Form layout="vertical" component="div">
        <Form.Item label={t("passing.as")} htmlFor="subscribe-name">
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

export function Unsubscribe({
  kind,
  workspace,
  name,
}: {
  kind: PassedKind;
  workspace: string;
  name: string;
}): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const act = useAct(touchedBy(kind));
  const end = async (): Promise<void> => {
    await act(async () => {
      await unsubscribe(kind, workspace, name);
      return t("passing.ended", { name });
    });
  };
  const ask = (): void =>
    void modal.confirm({
      title: t("passing.endTitle", { name, workspace }),
      icon: null,
      content: t(`passing.endWhat.${kind}`),
      okText: t("passing.end"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: end,
    });
  return (
    <Button size="small" onClick={ask} aria-label={t("passing.endOf", { name, workspace })} data-testid="unsubscribe">
      {t("passing.end")}
    </Button>
  );
}

/** Names that mean nothing any more, since what they were for is not offered. */
function Lapsed({ kind, of, submits }: { kind: PassedKind; of: Subscription[]; submits: boolean }): ReactNode {
  const { t } = useTranslation();
  return (
    <section className="tm-panel tm-lapsed-panel" data-testid="lapsed">
      <h2>{t("passing.lapsed")}</h2>
      <div className="tm-panel-body">
        <p className="tm-faint tm-lapsed-hint">{t(`passing.lapsedHint.${kind}`)}</p>
        {of.map((one) => (
          <div key={one.name} className="tm-lapsed">
            <b>{one.name}</b>
            <span className="tm-faint tm-grow">
              {one.by} · <Ago at={one.at} />
            </span>
            {submits && <Unsubscribe kind={kind} workspace={one.workspace} name={one.name} />}
          </div>
        ))}
      </div>
    </section>
  );
}
