/** What an empty list says: how to begin, or how to see more. */
import { PlusOutlined, RocketOutlined } from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "../../shared/link";
import { CopyButton, Empty } from "../../shared/ui";

const FIRST_COMMAND = "tm submit examples/hello/job.yaml --wait";

export function FirstJob(): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-panel">
      <Empty title={t("jobs.emptyTitle")} icon={<RocketOutlined className="tm-empty-icon" />}>
        <p className="tm-faint">{t("jobs.emptyHint")}</p>
        <p>
          <code className="tm-command">
            {FIRST_COMMAND}
            <CopyButton text={FIRST_COMMAND} />
          </code>
        </p>
        <ButtonLink
          to="/submit"
          search={{}}
          color="primary"
          variant="solid"
          size="large"
          icon={<PlusOutlined />}
          data-testid="first-job"
        >
          {t("nav.newJob")}
        </ButtonLink>
      </Empty>
    </div>
  );
}

export function NoneMatches({
  clear,
  everybody,
}: {
  clear: () => void;
  /** While only one's own are looked at. */
  everybody: (() => void) | undefined;
}): ReactNode {
  const { t } = useTranslation();
  return (
    <Empty title={t("jobs.noneTitle")}>
      <p className="tm-faint">{t("jobs.noneHint")}</p>
      <div className="tm-none-ways">
        <Button onClick={clear}>{t("jobs.clearFilters")}</Button>
        {everybody && <Button onClick={everybody}>{t("jobs.showAll")}</Button>}
      </div>
    </Empty>
  );
}
