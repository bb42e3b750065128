/** Where the person is signed in: each browser, and a way to end it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { endSession, listSessions } from "../../api/session";
import type { BrowserSession } from "../../api/types";
import { DataTable } from "../../shared/table";
import { Ago, Stamp } from "../../shared/time";
import { Pending, useErrorText } from "../../shared/ui";

export function Sessions(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const query = useQuery({ queryKey: ["sessions"], queryFn: listSessions });
  const end = async (one: BrowserSession): Promise<void> => {
    try {
      await endSession(one.id);
      message.success(t("settings.sessionEnded"));
    } catch (error) {
      message.error(errorText(error).line);
    }
    void client.invalidateQueries({ queryKey: ["sessions"] });
  };
  return (
    <section className="tm-panel" data-testid="sessions">
      <h2>{t("settings.sessions")}</h2>
      <div className="tm-panel-body tm-stack">
        <p className="tm-faint tm-flat">{t("settings.sessionsHint")}</p>
        {!query.data ? (
          <Pending query={query} rows={2} />
        ) : (
          <DataTable<BrowserSession>
            rowKey="id"
            size="small"
            scroll={{ x: 560 }}
            pagination={false}
            dataSource={query.data.items}
            columns={[
              {
                title: t("settings.browser"),
                key: "browser",
                render: (_, one) => (
                  <span title={one.browser}>
                    {browserName(one.browser) || t("settings.browserUnknown")}{" "}
                    {one.current && <Tag className="tm-tag">{t("settings.thisOne")}</Tag>}
                  </span>
                ),
              },
              { title: t("settings.address"), key: "address", width: 150, render: (_, one) => one.address },
              {
                title: t("settings.signedInSince"),
                key: "since",
                width: 130,
                render: (_, one) => <Ago at={one.created_at} />,
              },
              {
                title: t("settings.until"),
                key: "until",
                width: 170,
                render: (_, one) => <Stamp at={one.expires_at} />,
              },
              {
                title: <span className="tm-hidden">{t("admin.actions")}</span>,
                key: "end",
                width: 110,
                align: "end",
                render: (_, one) =>
                  !one.current && (
                    <Button
                      size="small"
                      danger
                      onClick={() => void end(one)}
                      aria-label={`${t("settings.endSession")} ${browserName(one.browser)} ${one.address}`}
                      data-testid="session-end"
                    >
                      {t("settings.endSession")}
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

const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS", "macOS"],
  ["Linux", "Linux"],
] as const;

/** What people call the browser that says this of itself, as far as it is known. Pure. */
export function browserName(agent: string): string {
  const found = (names: readonly (readonly [string, string])[]): string =>
    names.find(([mark]) => agent.includes(mark))?.[1] ?? "";
  return [found(BROWSERS), found(SYSTEMS)].filter(Boolean).join(" · ") || shortened(agent);
}

/** Its first word, which names it, where all of it is long. */
const shortened = (agent: string): string =>
  agent.length <= 40 ? agent : `${(agent.split(/[\s(;]/, 1)[0] ?? "").slice(0, 38)} …`;
