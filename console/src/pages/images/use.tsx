/** Leads to the form of a job that has a version of an image. */
import { SendOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "../../shared/link";
import { DEFAULT_WORKSPACE } from "../../shared/people";

export function UseImage({ image, workspace }: { image: string; workspace: string }): ReactNode {
  const { t } = useTranslation();
  const set = { image, ...(workspace === DEFAULT_WORKSPACE ? {} : { workspace }) };
  return (
    <ButtonLink
      size="small"
      to="/submit"
      search={{ set: JSON.stringify(set) }}
      icon={<SendOutlined />}
      aria-label={t("images.useOne", { name: image })}
      data-testid="use-in-job"
    >
      {t("images.use")}
    </ButtonLink>
  );
}
