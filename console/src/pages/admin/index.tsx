/** For administrators: by which rules the queue works, and how the machines are shared. */
import { LockOutlined } from "@ant-design/icons";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Tabs } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AdminTab } from "../../shared/address";
import { useSession } from "../../shared/session";
import { Empty, PageHeader } from "../../shared/ui";
import { FlavorsAdmin } from "./flavors";
import { NodesAdmin } from "./nodes";
import { PolicyAdmin } from "./policy";
import { PoolsAdmin } from "./pools";
import { WorkspacesAdmin } from "./workspaces";

const TABS: [AdminTab, ReactNode][] = [
  ["policy", <PolicyAdmin key="p" />],
  ["pools", <PoolsAdmin key="p" />],
  ["workspaces", <WorkspacesAdmin key="w" />],
  ["flavors", <FlavorsAdmin key="f" />],
  ["nodes", <NodesAdmin key="n" />],
];

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
        activeKey={tab ?? "policy"}
        onChange={(key) =>
          void navigate({ search: { tab: key === "policy" ? undefined : (key as AdminTab) }, replace: true })
        }
        destroyOnHidden
        items={TABS.map(([key, children]) => ({
          key,
          children,
          label: <span data-testid={`admin-${key}`}>{t(`admin.tabs.${key}`)}</span>,
        }))}
      />
    </div>
  );
}
