/** The bar above every page: whether it is live, search, language, looks, help, and who is signed in. */
import {
  BulbOutlined,
  DesktopOutlined,
  MenuOutlined,
  MoonOutlined,
  QuestionCircleOutlined,
  SearchOutlined,
} from "@ant-design/icons";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { Button, Dropdown, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { BASE } from "../../api/client";
import type { Session } from "../../api/types";
import { useLanguage } from "../../i18n";
import { Bell } from "../../shared/bell";
import { LanguageSwitch } from "../../shared/brand";
import { useLiveFeed } from "../../shared/live";
import { type Look, useLook } from "../../theme";
import { useSignOut } from "./leave";
import { chapterOf, currentPage, pagesFor, whereOf } from "./pages";
import { show } from "./shown";

export function TopBar({ session, openMenu }: { session: Session; openMenu: (() => void) | undefined }): ReactNode {
  const { t } = useTranslation();
  return (
    <header className="tm-header">
      {openMenu && (
        <Button type="text" icon={<MenuOutlined />} aria-label={t("nav.menu")} data-testid="menu" onClick={openMenu} />
      )}
      <Feed />
      <Tooltip title={t("palette.open")}>
        <Button
          type="text"
          icon={<SearchOutlined />}
          aria-label={t("palette.open")}
          data-testid="open-palette"
          onClick={() => show("palette")}
        />
      </Tooltip>
      <Bell />
      <LanguageSwitch />
      <LookSwitch />
      <Help session={session} />
      <Account session={session} />
    </header>
  );
}

function Feed(): ReactNode {
  const { t } = useTranslation();
  const status = useLiveFeed();
  return (
    <Tooltip title={t("feed.hint")}>
      <span className={`tm-feed tm-feed-${status}`} role="status" data-testid="feed" data-status={status}>
        <i />
        {t(`feed.${status}`)}
      </span>
    </Tooltip>
  );
}

const LOOKS: [Look, ReactNode][] = [
  ["light", <BulbOutlined key="i" />],
  ["dark", <MoonOutlined key="i" />],
  ["system", <DesktopOutlined key="i" />],
];

function LookSwitch(): ReactNode {
  const { t } = useTranslation();
  const { look, dark, setLook } = useLook();
  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        selectable: true,
        selectedKeys: [look],
        items: LOOKS.map(([key, icon]) => ({
          key,
          icon,
          label: <span data-testid={`look-${key}`}>{t(`theme.${key}`)}</span>,
          onClick: () => setLook(key),
        })),
      }}
    >
      <Button
        type="text"
        icon={dark ? <MoonOutlined /> : <BulbOutlined />}
        data-testid="look"
        aria-label={t("theme.title")}
      />
    </Dropdown>
  );
}

/** What is known of this page elsewhere: the guide, the API, the keys. */
function Help({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const path = useRouterState({ select: (state) => whereOf(state.location) });
  const here = pagesFor(session.user.role).find(({ to }) => to === currentPage(path))?.name ?? "jobs";
  const page = path.startsWith("/submit")
    ? t("nav.newJob")
    : path.startsWith("/notifications")
      ? t("notices.title")
      : t(`nav.${here}`);
  const away = (to: string, text: string, id: string): ReactNode => (
    <a href={to} target="_blank" rel="noreferrer" data-testid={id}>
      {text}
    </a>
  );
  return (
    <Dropdown
      trigger={["click"]}
      placement="bottomRight"
      menu={{
        items: [
          { key: "guide", label: away(chapterOf(path, language), t("assist.guide", { page }), "help-guide") },
          { key: "api", label: away(`${BASE}/openapi.json`, t("assist.api"), "help-api") },
          { key: "keys", label: t("assist.keys"), extra: "?", onClick: () => show("keys") },
          { type: "divider" },
          {
            key: "version",
            type: "group",
            label: t("assist.version", { version: session.server.version }),
          },
        ],
      }}
    >
      <Button type="text" icon={<QuestionCircleOutlined />} aria-label={t("assist.title")} data-testid="help" />
    </Dropdown>
  );
}

function Account({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const leave = useSignOut();
  const { name } = session.user;
  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        items: [
          { key: "settings", label: t("user.password"), onClick: () => void navigate({ to: "/settings" }) },
          { type: "divider" },
          { key: "out", label: <span data-testid="sign-out">{t("user.signOut")}</span>, onClick: () => void leave() },
        ],
      }}
    >
      <Button type="text" data-testid="user-menu">
        <span className="tm-avatar" data-letter={name.slice(0, 1).toUpperCase()} />
        <span className="tm-said">{t("user.menu")}</span>
        <span className="tm-user-name">{name}</span>
      </Button>
    </Dropdown>
  );
}
