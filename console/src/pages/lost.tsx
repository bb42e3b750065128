/** Shown at an address without a page, and in place of a page that failed. */
import { Link } from "@tanstack/react-router";
import { Button, Result } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

export function Missing(): ReactNode {
  const { t } = useTranslation();
  return (
    <Result
      status="404"
      data-testid="missing"
      title={t("error.notFound")}
      subTitle={t("error.notFoundHint")}
      extra={
        <Link to="/">
          <Button type="primary">{t("nav.jobs")}</Button>
        </Link>
      }
    />
  );
}

export function Crash({ error }: { error: unknown }): ReactNode {
  const { t } = useTranslation();
  return (
    <Result
      status="warning"
      title={t("error.render")}
      subTitle={t("error.renderHint")}
      extra={
        <Button type="primary" onClick={() => window.location.reload()}>
          {t("action.reload")}
        </Button>
      }
    >
      <pre className="tm-code">{error instanceof Error ? error.message : String(error)}</pre>
    </Result>
  );
}
