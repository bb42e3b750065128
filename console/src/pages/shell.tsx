/** The frame: who is signed in decides between the sign-in page and the console with its navigation. */
import {
  ClusterOutlined,
  ControlOutlined,
  DeploymentUnitOutlined,
  HourglassOutlined,
  PlusOutlined,
  SettingOutlined,
  UnorderedListOutlined,
} from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Button, Dropdown, Flex, Layout, Menu, Skeleton, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { signOut } from "../api/session";
import type { Session } from "../api/types";
import { LanguageSwitch, Logo, LookSwitch } from "../shared/brand";
import { useLiveFeed } from "../shared/live";
import { sessionOrNone } from "../shared/session";
import { ErrorPanel } from "../shared/ui";
import { SignInPage } from "./signin";

export function Shell(): ReactNode {
  const query = useQuery<Session | null>({
    queryKey: ["session"],
    queryFn: sessionOrNone,
    staleTime: 300_000,
    refetchInterval: (q) => (q.state.error ? 3000 : false),
  });
  if (query.data === undefined) {
    return (
      <div className="tm-boot">
        {query.error ? <ErrorPanel error={query.error} retry={() => void query.refetch()} /> : <Skeleton active />}
      </div>
    );
  }
  if (query.data === null || query.data.user.must_change_password) return <SignInPage session={query.data} />;
  return <Frame session={query.data} />;
}

const PAGES = [
  ["/", "jobs", <UnorderedListOutlined key="i" />],
  ["/queue", "queue", <HourglassOutlined key="i" />],
  ["/cluster", "cluster", <ClusterOutlined key="i" />],
  ["/models", "models", <DeploymentUnitOutlined key="i" />],
  ["/admin", "admin", <ControlOutlined key="i" />],
  ["/settings", "settings", <SettingOutlined key="i" />],
] as const;
const ADMINISTRATORS: ReadonlySet<string> = new Set(["/admin"]);

function currentPage(path: string): string {
  if (path.startsWith("/jobs") || path.startsWith("/submit")) return "/";
  return PAGES.find(([to]) => to !== "/" && path.startsWith(to))?.[0] ?? "/";
}

function Frame({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation();
  const [narrow, setNarrow] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Layout className="tm-frame">
      <Layout.Sider
        className="tm-sider"
        width={208}
        collapsedWidth={64}
        breakpoint="xl"
        collapsed={narrow}
        onBreakpoint={setNarrow}
        trigger={null}
        theme="light"
      >
        <Link to="/" className="tm-brand" aria-label="Trainmaster">
          <Logo />
          {!narrow && <span>Trainmaster</span>}
        </Link>
        <div className="tm-new">
          <Tooltip title={narrow ? t("nav.newJob") : ""} placement="right">
            <Link to="/submit" search={{}}>
              <Button type="primary" block icon={<PlusOutlined />} data-testid="new-job" aria-label={t("nav.newJob")}>
                {narrow ? "" : t("nav.newJob")}
              </Button>
            </Link>
          </Tooltip>
        </div>
        <nav aria-label={t("nav.main")}>
          <Menu
            mode="inline"
            selectedKeys={[currentPage(path)]}
            inlineCollapsed={narrow}
            items={PAGES.filter(([to]) => session.user.role === "admin" || !ADMINISTRATORS.has(to)).map(
              ([to, name, icon]) => ({
                key: to,
                icon,
                label: (
                  <Link to={to} data-testid={`nav-${name}`}>
                    {t(`nav.${name}`)}
                  </Link>
                ),
              }),
            )}
          />
        </nav>
      </Layout.Sider>
      <Layout>
        <TopBar session={session} />
        <Layout.Content className="tm-content">
          <Outlet />
        </Layout.Content>
      </Layout>
    </Layout>
  );
}

function TopBar({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation();
  const status = useLiveFeed();
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = async (): Promise<void> => {
    await signOut();
    // The session itself stays in the cache: clearing it under this page would leave the page looking at the old one.
    client.setQueryData(["session"], null);
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== "session" });
    await navigate({ to: "/", search: {} });
  };
  return (
    <Layout.Header className="tm-header">
      <Tooltip title={t("feed.hint")}>
        <span className={`tm-feed tm-feed-${status}`} role="status" data-testid="feed" data-status={status}>
          <i />
          {t(`feed.${status}`)}
        </span>
      </Tooltip>
      <Flex gap={4} align="center">
        <LanguageSwitch />
        <LookSwitch />
        <Dropdown
          trigger={["click"]}
          menu={{
            items: [
              { key: "settings", label: t("user.password"), onClick: () => void navigate({ to: "/settings" }) },
              { type: "divider" },
              {
                key: "out",
                label: <span data-testid="sign-out">{t("user.signOut")}</span>,
                onClick: () => void leave(),
              },
            ],
          }}
        >
          <Button type="text" data-testid="user-menu" aria-label={t("user.menu")}>
            <span className="tm-avatar">{session.user.name.slice(0, 1).toUpperCase()}</span>
            {session.user.name}
          </Button>
        </Dropdown>
      </Flex>
    </Layout.Header>
  );
}
