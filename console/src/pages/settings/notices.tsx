/** What one is told and where: a switch for each kind and place, and the address of mails. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Input, Switch, type TableColumnsType } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  changeNoticeSettings,
  confirmAddress,
  giveAddress,
  NOTICE_KINDS,
  type NoticeKind,
  type NoticeWhere,
  readNoticeSettings,
  removeAddress,
} from "../../api/notices";
import type { NoticeSettings } from "../../api/types";
import { useLanguage } from "../../i18n";
import { docsPage } from "../../shared/docs";
import { useNoticeName } from "../../shared/notice";
import { useSession } from "../../shared/session";
import { DataTable } from "../../shared/table";
import { Stamp } from "../../shared/time";
import { Pending, useErrorText } from "../../shared/ui";

const KEY = ["notice-settings"];
const PLACES: readonly NoticeWhere[] = ["console", "mail", "webhook"];

/** Do something, and show what the settings are then; what is refused is said. */
function useDo(): (act: () => Promise<NoticeSettings | undefined>) => Promise<boolean> {
  const client = useQueryClient();
  const { message } = App.useApp();
  const errorText = useErrorText();
  return async (act) => {
    try {
      const after = await act();
      if (after) client.setQueryData(KEY, after);
      else await client.invalidateQueries({ queryKey: KEY });
      return true;
    } catch (error) {
      message.error(errorText(error).line);
      return false;
    }
  };
}

export function NoticeChoices(): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: KEY, queryFn: readNoticeSettings });
  return (
    <>
      <section className="tm-panel" data-testid="notice-settings">
        <h2>{t("notices.which")}</h2>
        <div className="tm-panel-body tm-stack">
          <p className="tm-faint tm-flat">{t("notices.whichHint")}</p>
          {query.data ? <Switches of={query.data} /> : <Pending query={query} rows={6} />}
        </div>
      </section>
      <section className="tm-panel" data-testid="notice-address">
        <h2>{t("notices.mail")}</h2>
        <div className="tm-panel-body tm-stack">
          {query.data ? <Address of={query.data} /> : <Pending query={query} rows={2} />}
        </div>
      </section>
    </>
  );
}

function Switches({ of }: { of: NoticeSettings }): ReactNode {
  const { t } = useTranslation();
  const name = useNoticeName();
  const act = useDo();
  const off = (where: NoticeWhere): boolean => where === "mail" && of.address === null;
  const mailless = t(of.sends_mail ? "notices.mailFirst" : "notices.noMail");
  const offHint = t(of.sends_mail ? "notices.mailNone" : "notices.mailOff");
  const about = (kind: NoticeKind): ReactNode => (
    <>
      <b>{name(kind)}</b>
      <div className="tm-faint">{t(`notices.about.${kind}`)}</div>
    </>
  );
  const one = (kind: NoticeKind, where: NoticeWhere): ReactNode => (
    <Switch
      size="small"
      checked={!off(where) && (of.kinds[kind]?.[where] ?? false)}
      disabled={off(where)}
      title={off(where) ? mailless : undefined}
      onChange={(on) => void act(() => changeNoticeSettings(kind, where, on))}
      aria-label={`${name(kind)}${t("mark.colon")}${t(`notices.places.${where}`)}`}
      data-testid={`switch-${kind}-${where}`}
    />
  );
  const columns: TableColumnsType<NoticeKind> = [
    { title: t("notices.kind"), key: "kind", render: (_, kind) => about(kind) },
    ...PLACES.map((where) => ({
      title: off(where) ? (
        <div className="tm-cell">
          {t(`notices.places.${where}`)}
          <span className="tm-line"> {offHint}</span>
        </div>
      ) : (
        t(`notices.places.${where}`)
      ),
      key: where,
      width: 110,
      render: (_: unknown, kind: NoticeKind) => one(kind, where),
    })),
  ];
  return (
    <DataTable<NoticeKind>
      rowKey={(kind) => kind}
      size="small"
      pagination={false}
      dataSource={[...NOTICE_KINDS]}
      columns={columns}
      className="tm-rows-beside"
    />
  );
}

function Address({ of }: { of: NoticeSettings }): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const act = useDo();
  const [typed, setTyped] = useState("");
  const [code, setCode] = useState("");
  const leads = useSession()?.user.role === "admin";
  if (!of.sends_mail && of.address === null)
    return (
      <p className="tm-flat">
        {t(leads ? "notices.noMailAdmin" : "notices.noMail")}{" "}
        {leads && (
          <a href={docsPage("guide/notifications", language)} target="_blank" rel="noreferrer">
            {t("notices.setMail")}
          </a>
        )}
      </p>
    );
  return (
    <>
      <p className="tm-flat">
        {of.address ? t("notices.mailsGoTo", { address: of.address }) : t("notices.mailsGoNowhere")}{" "}
        {of.address && (
          <Button
            size="small"
            danger
            onClick={() => void act(() => removeAddress().then(() => undefined))}
            data-testid="address-remove"
          >
            {t("action.remove")}
          </Button>
        )}
      </p>
      {of.trouble && (
        <Alert
          type="warning"
          showIcon
          title={t("notices.trouble")}
          description={
            <>
              {of.trouble.text[language]} · <Stamp at={of.trouble.at} />
            </>
          }
        />
      )}
      <div className="tm-notice-line">
        <Input
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
          placeholder="ann@example.org"
          aria-label={t("notices.address")}
          maxLength={254}
          data-testid="address"
        />
        <Button
          disabled={!typed.trim()}
          onClick={async () => (await act(() => giveAddress(typed.trim(), language))) && setTyped("")}
          data-testid="address-ask"
        >
          {t("notices.sendCode")}
        </Button>
      </div>
      {of.asked && (
        <>
          <p className="tm-flat">{t("notices.codeSent", { address: of.asked })}</p>
          <div className="tm-notice-line">
            <Input
              value={code}
              onChange={(e) => setCode(e.target.value)}
              placeholder="123456"
              aria-label={t("notices.code")}
              maxLength={6}
              data-testid="code"
            />
            <Button
              type="primary"
              disabled={code.trim().length !== 6}
              onClick={async () => (await act(() => confirmAddress(code.trim()))) && setCode("")}
              data-testid="code-confirm"
            >
              {t("notices.confirm")}
            </Button>
          </div>
        </>
      )}
    </>
  );
}
