/** Settings of the person: looks and language, workspaces, password, API tokens, notifications; and what server this is. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { App, Segmented, Tabs } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readCluster } from "../../api/cluster";
import { type Language, setLanguage, useLanguage } from "../../i18n";
import { SETTINGS_TABS, type SettingsTab } from "../../shared/address";
import { useSession } from "../../shared/session";
import { Facts, PageHeader } from "../../shared/ui";
import { type Look, useLook } from "../../theme";
import { PasswordForm } from "../signin";
import { SshKeysPanel } from "./keys";
import { NoticeChoices } from "./notices";
import { Sessions } from "./sessions";
import { Tokens } from "./tokens";
import { Webhooks } from "./webhooks";
import { Workspaces } from "./workspaces";

export function SettingsPage(): ReactNode {
  const { t, i18n } = useTranslation();
  const session = useSession();
  const { tab = "account" } = useSearch({ from: "/settings" });
  const navigate = useNavigate({ from: "/settings" });
  return (
    <>
      <PageHeader
        title={t("settings.title")}
        sub={
          session
            ? t("settings.signedInAs", {
                name: session.user.name,
                role: i18n.exists(`role.${session.user.role}`)
                  ? t(`role.${session.user.role}` as "role.user")
                  : session.user.role,
              })
            : undefined
        }
      />
      <Tabs
        activeKey={tab}
        onChange={(key) =>
          void navigate({ search: { tab: key === "account" ? undefined : (key as SettingsTab) }, replace: true })
        }
        destroyOnHidden
        items={SETTINGS_TABS.map((key) => ({
          key,
          children: <div className="tm-settings">{key === "account" ? <AccountSettings /> : <NoticeSettings />}</div>,
          label: <span data-testid={`settings-${key}`}>{t(`settings.tabs.${key}`)}</span>,
        }))}
      />
    </>
  );
}

function AccountSettings(): ReactNode {
  return (
    <>
      <Looks />
      <Workspaces />
      <Tokens />
      <SshKeysPanel />
      <Sessions />
      <Password />
      <About />
    </>
  );
}

function NoticeSettings(): ReactNode {
  return (
    <>
      <NoticeChoices />
      <Webhooks />
    </>
  );
}

function Looks(): ReactNode {
  const { t } = useTranslation();
  const { look, setLook } = useLook();
  const language = useLanguage();
  return (
    <section className="tm-panel">
      <h2>{t("settings.looks")}</h2>
      <div className="tm-panel-body tm-looks">
        <span>{t("language.title")}</span>
        <Segmented<Language>
          value={language}
          onChange={setLanguage}
          options={[
            { value: "zh", label: "中文" },
            { value: "en", label: "English" },
          ]}
        />
        <span>{t("theme.title")}</span>
        <Segmented<Look>
          value={look}
          onChange={setLook}
          options={(["light", "dark", "system"] as const).map((value) => ({ value, label: t(`theme.${value}`) }))}
        />
      </div>
    </section>
  );
}

function Password(): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  return (
    <section className="tm-panel">
      <h2>{t("user.password")}</h2>
      <div className="tm-panel-body tm-narrow">
        <PasswordForm label={t("signin.set")} onDone={() => message.success(t("signin.changed"))} />
      </div>
    </section>
  );
}

function About(): ReactNode {
  const { t } = useTranslation();
  const session = useSession();
  const cluster = useQuery({ queryKey: ["cluster"], queryFn: readCluster });
  if (!session) return null;
  const sandbox = cluster.data?.sandbox;
  return (
    <section className="tm-panel">
      <h2>{t("settings.about")}</h2>
      <div className="tm-panel-body">
        <Facts
          columns={3}
          items={[
            [t("settings.server"), session.server.name || window.location.host],
            [t("settings.version"), session.server.version],
            [
              t("settings.sandbox"),
              sandbox ? (
                <>
                  {sandbox.kind}
                  {sandbox.detail !== sandbox.kind && <span className="tm-faint"> {sandbox.detail}</span>}
                </>
              ) : (
                "–"
              ),
            ],
          ]}
        />
      </div>
    </section>
  );
}
