/** Accounts: who may sign in, and in which workspaces they are. */
import {
  DeleteOutlined,
  KeyOutlined,
  LockOutlined,
  MoreOutlined,
  SearchOutlined,
  UnlockOutlined,
} from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Dropdown, Input, type MenuProps, type TableColumnsType, Tag, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listUsers, unlockUser } from "../../api/people";
import type { Account } from "../../api/types";
import { useAttempt } from "../../shared/attempt";
import { BUILT_IN } from "../../shared/people";
import { useRoleWords } from "../../shared/roles";
import { useSession } from "../../shared/session";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { Labels, Pending } from "../../shared/ui";
import { AddUser, LeaveDialog, type Leaving, type Once, OnceDialog, useReset } from "./account";
import { useRefresh } from "./dialog";
import { PrivacyAdmin } from "./privacy";

const PAGE = 50;

export function UsersAdmin(): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["users"], queryFn: listUsers, refetchInterval: 15_000 });
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<{ name: string; how: Leaving } | null>(null);
  const [once, setOnce] = useState<Once | null>(null);
  const [q, setQ] = useState("");
  const columns = useColumns((name, how) => setLeaving({ name, how }), setOnce);
  const wanted = q.trim().toLowerCase();
  const shown = query.data?.items.filter(({ name, workspaces }) =>
    [name, ...workspaces.map((one) => one.workspace)].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <div className="tm-stack">
      <section className="tm-panel">
        <div className="tm-admin-head">
          <p className="tm-faint tm-flat tm-grow">{t("people.hint")}</p>
          <Input
            allowClear
            prefix={<SearchOutlined />}
            value={q}
            onChange={(e) => setQ(e.target.value)}
            placeholder={t("people.find")}
            aria-label={t("people.find")}
            className="tm-node-search"
            data-testid="user-search"
          />
          <Button type="primary" onClick={() => setAdding(true)} data-testid="user-add">
            {t("people.add")}
          </Button>
        </div>
        {!shown ? (
          <div className="tm-panel-body">
            <Pending query={query} rows={3} />
          </div>
        ) : (
          <DataTable<Account>
            rowKey="name"
            size="middle"
            tableLayout="fixed"
            scroll={{ x: 980 }}
            dataSource={shown}
            pagination={shown.length > PAGE ? { pageSize: PAGE, showSizeChanger: false } : false}
            locale={{ emptyText: <span className="tm-faint">{t("admin.none")}</span> }}
            onRow={({ name, state }) => ({ "data-testid": `user-${name}`, "data-state": state }) as object}
            columns={columns}
          />
        )}
        {adding && <AddUser close={() => setAdding(false)} made={setOnce} />}
        {leaving && <LeaveDialog {...leaving} close={() => setLeaving(null)} />}
        {once && <OnceDialog once={once} close={() => setOnce(null)} />}
      </section>
      <PrivacyAdmin />
    </div>
  );
}

function useColumns(
  leave: (name: string, how: Leaving) => void,
  show: (once: Once) => void,
): TableColumnsType<Account> {
  const { t } = useTranslation();
  return [
    { title: t("admin.name"), key: "name", render: (_, { name }) => <b className="tm-break">{name}</b> },
    {
      title: t("people.platformRole"),
      key: "role",
      width: 130,
      render: (_, { role }) =>
        role === "admin" ? (
          <Tag className="tm-tag" color="blue">
            {t("people.platformAdmin")}
          </Tag>
        ) : (
          t("people.platformUser")
        ),
    },
    { title: t("people.state"), key: "state", width: 190, render: (_, account) => <StateCell account={account} /> },
    {
      title: t("people.workspaces"),
      key: "workspaces",
      width: 300,
      render: (_, account) => <WorkspacesCell account={account} />,
    },
    {
      title: t("people.created"),
      key: "created",
      width: 120,
      render: (_, { created_at }) => <Ago at={created_at} />,
    },
    {
      title: <span className="tm-hidden">{t("admin.actions")}</span>,
      key: "act",
      width: 60,
      align: "end",
      render: (_, account) => <AccountMenu account={account} leave={leave} show={show} />,
    },
  ];
}

function StateCell({ account }: { account: Account }): ReactNode {
  const { t } = useTranslation();
  const locked = account.state === "locked";
  return (
    <div className="tm-cell">
      <span>
        <span className={`tm-state tm-tone-${locked ? "amber" : "green"}`}>
          {t(locked ? "people.states.locked" : "people.states.active")}
        </span>
      </span>
      {account.must_change_password && <span className="tm-line">{t("people.passwordUnused")}</span>}
    </div>
  );
}

function WorkspacesCell({ account }: { account: Account }): ReactNode {
  const { t } = useTranslation();
  const words = useRoleWords();
  if (account.workspaces.length === 0) return <span className="tm-faint">{t("people.noWorkspace")}</span>;
  return <Labels names={account.workspaces.map(({ workspace, role }) => `${workspace} · ${words(role).name}`)} />;
}

/** What can be done to an account; what cannot says why. */
function AccountMenu({
  account: { name, state },
  leave,
  show,
}: {
  account: Account;
  leave: (name: string, how: Leaving) => void;
  show: (once: Once) => void;
}): ReactNode {
  const { t } = useTranslation();
  const attempt = useAttempt();
  const refresh = useRefresh();
  const reset = useReset(show);
  const own = useSession()?.user.name === name;
  const stays = own ? t("people.ownStays") : name === BUILT_IN ? t("people.builtInStays") : undefined;
  const entry = (
    key: "reset" | "lock" | "unlock" | "delete",
    why?: string,
  ): { key: string; label: ReactNode; disabled: boolean } => ({
    key,
    disabled: why !== undefined,
    label: (
      <Tooltip title={why} placement="left">
        <span data-testid={`user-${key}`}>{t(`people.${key}`)}</span>
      </Tooltip>
    ),
  });
  const unlock = async (): Promise<void> => {
    await attempt(() => unlockUser(name), t("people.unlocked", { name }));
    refresh();
  };
  const items: MenuProps["items"] = [
    {
      ...entry("reset", own ? t("people.ownPassword") : undefined),
      icon: <KeyOutlined />,
      onClick: () => reset(name),
    },
    state === "locked"
      ? { ...entry("unlock"), icon: <UnlockOutlined />, onClick: () => void unlock() }
      : { ...entry("lock", stays), icon: <LockOutlined />, onClick: () => leave(name, "lock") },
    { ...entry("delete", stays), icon: <DeleteOutlined />, danger: true, onClick: () => leave(name, "delete") },
  ];
  return (
    <Dropdown trigger={["click"]} placement="bottomRight" menu={{ items }}>
      <Button
        type="text"
        size="small"
        icon={<MoreOutlined />}
        aria-label={t("people.actions", { name })}
        aria-haspopup="menu"
        data-testid={`user-actions-${name}`}
      />
    </Dropdown>
  );
}
