/** For administrators: how things stand, how the nodes are shared, and by which rules the queue works. */
import { LockOutlined } from "@ant-design/icons";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Tabs } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ADMIN_TABS, type AdminTab } from "../../shared/address";
import { useSession } from "../../shared/session";
import { Empty, PageHeader } from "../../shared/ui";
import { FlavorsAdmin } from "./flavors";
import { NodesAdmin } from "./nodes";
import { OverviewAdmin } from "./overview";
import { PolicyAdmin } from "./policy";
import { PoolsAdmin } from "./pools";
import { UsersAdmin } from "./users";
import { WorkspacesAdmin } from "./workspaces";

/** What is needed daily first, the rarest task last. */
const TABS: Record<AdminTab, ReactNode> = {
  overview: <OverviewAdmin />,
  nodes: <NodesAdmin />,
  pools: <PoolsAdmin />,
  workspaces: <WorkspacesAdmin />,
  users: <UsersAdmin />,
  flavors: <FlavorsAdmin />,
  policy: <PolicyAdmin />,
};

export function AdminPage(): ReactNode {
  const { t } = useTranslation();
  const { tab } = useSearch({ from: "/admin" });
  const navigate = useNavigate({ from: "/admin" });
  if (useSession()?.user.role !== "admin")
    return (
      <div className="tm-panel">
        <Empty title={t("admin.onlyAdmins")} icon={<LockOutlined className="tm-empty-icon" />}>
          <p className="tm-faint">{t("admin.onlyAdminsHint")}</p>
        </Empty>
      </div>
    );
  return (
    <div data-testid="admin">
      <PageHeader title={t("admin.title")} />
      <Tabs
        activeKey={tab ?? ADMIN_TABS[0]}
        onChange={(key) =>
          void navigate({ search: { tab: key === ADMIN_TABS[0] ? undefined : (key as AdminTab) }, replace: true })
        }
        destroyOnHidden
        items={ADMIN_TABS.map((key) => ({
          key,
          children: TABS[key],
          label: <span data-testid={`admin-${key}`}>{t(`admin.tabs.${key}`)}</span>,
        }))}
      />
    </div>
  );
}
