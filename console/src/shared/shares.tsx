/** Shares of a resource by name, and how they are used. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Share, StorageUse } from "../api/types";
import { useBilingual } from "../i18n";
import { mib, number, percent } from "./format";

const NAMED = ["gpu", "cpu", "memory_mib", "jobs", "storage_mib", "files"] as const;

const isNamed = (resource: string): resource is (typeof NAMED)[number] =>
  (NAMED as readonly string[]).includes(resource);

export function useResourceName(): (resource: string) => string {
  const { t } = useTranslation();
  return (resource) => {
    if (resource.startsWith("gpu:")) return t("admin.limits.of", { model: resource.slice(4) });
    return isNamed(resource) ? t(`admin.limits.names.${resource}`) : resource;
  };
}

/** An amount of a resource as people read it. Pure. */
export const amount = (resource: string, value: number): string =>
  resource === "memory_mib" || resource === "storage_mib" ? mib(value) : number(value);

/** What is kept, of as much as may be, as shares are: only what is limited. Pure. */
export function storageShares(use: StorageUse): Share[] {
  const full = { cap: null, borrowed: 0, warning: null };
  const found = [
    { resource: "storage_mib", nominal: use.limit_mib, used: use.used_bytes / 2 ** 20, ...full },
    { resource: "files", nominal: use.limit_files, used: use.used_files, ...full },
  ].flatMap(({ nominal, ...one }) => (nominal === null ? [] : [{ nominal, ...one }]));
  return found.map((one, at) => (at === found.length - 1 ? { ...one, warning: use.warning } : one));
}

export function Shares({ share }: { share: readonly Share[] }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const name = useResourceName();
  if (share.length === 0) return <span className="tm-faint">{t("admin.limits.none")}</span>;
  return (
    <div className="tm-shares">
      {share.map((one) => {
        const most = Math.max(one.nominal, one.cap ?? 0, one.used, 1e-9);
        return (
          <div key={one.resource} className="tm-used">
            <span className="tm-used-head">
              <span className="tm-ellipsis">{name(one.resource)}</span>
              <span className="tm-num tm-nowrap">
                {amount(one.resource, one.used)} / {amount(one.resource, one.nominal)}
                {one.cap !== null && one.cap > one.nominal && (
                  <span className="tm-faint">
                    {t("mark.aside", { text: t("admin.limits.upTo", { cap: amount(one.resource, one.cap) }) })}
                  </span>
                )}
              </span>
            </span>
            <span className="tm-demand-track">
              <i className="tm-fill-violet" style={{ width: `${percent((one.used - one.borrowed) / most)}%` }} />
              <i className="tm-fill-amber" style={{ width: `${percent(one.borrowed / most)}%` }} />
              {one.nominal < most && <em style={{ left: `${percent(one.nominal / most)}%` }} />}
            </span>
            {one.borrowed > 0 && (
              <span className="tm-line tm-warn">
                {t("admin.limits.borrowed", { borrowed: amount(one.resource, one.borrowed) })}
              </span>
            )}
            {one.warning && <span className="tm-line tm-warn tm-wrap-line">{pick(one.warning)}</span>}
          </div>
        );
      })}
    </div>
  );
}
