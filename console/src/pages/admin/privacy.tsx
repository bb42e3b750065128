/** The administrator's switch: whether people are told whose the jobs are that they may not see. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Switch } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { readPrivacy, savePrivacy } from "../../api/cluster";
import { useAttempt } from "../../shared/attempt";
import { Ago } from "../../shared/time";
import { Pending } from "../../shared/ui";

const KEY = ["privacy"];

export function PrivacyAdmin(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const attempt = useAttempt();
  const query = useQuery({ queryKey: KEY, queryFn: readPrivacy });
  const [busy, setBusy] = useState(false);
  const change = async (owners_told: boolean): Promise<void> => {
    setBusy(true);
    const saved = await attempt(() => savePrivacy({ owners_told }), t("admin.saved"));
    if (saved) client.setQueryData(KEY, saved.made);
    setBusy(false);
  };
  const now = query.data;
  return (
    <section className="tm-panel" data-testid="privacy">
      {now === undefined ? (
        <div className="tm-panel-body">
          <Pending query={query} rows={1} />
        </div>
      ) : (
        <div className="tm-admin-head">
          <div className="tm-grow">
            <h2>{t("people.privacy.title")}</h2>
            <p className="tm-faint tm-flat">
              {t(now.owners_told ? "people.privacy.told" : "people.privacy.hidden")}
              {now.unreadable && ` ${t("people.privacy.unreadable")}`}
              {now.changed_at !== null && (
                <>
                  {" "}
                  {t("admin.policy.changedBy", { name: now.changed_by ?? "–" })} <Ago at={now.changed_at} />
                  {t("mark.stop")}
                </>
              )}
            </p>
          </div>
          <Switch
            checked={now.owners_told}
            loading={busy}
            onChange={(told) => void change(told)}
            aria-label={t("people.privacy.title")}
            data-testid="owners-told"
          />
        </div>
      )}
    </section>
  );
}
