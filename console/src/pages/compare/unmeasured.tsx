/** What stands where curves would, of jobs that reported no metrics: and how a job reports some. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useLanguage } from "../../i18n";
import { docsPage } from "../../shared/docs";
import { Empty } from "../../shared/ui";

export function NoMetrics(): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-panel">
      <Empty title={t("compare.noMetrics")}>
        <a href={docsPage("guide/logs-and-metrics", useLanguage())} target="_blank" rel="noreferrer">
          {t("compare.howMetrics")}
        </a>
      </Empty>
    </div>
  );
}
