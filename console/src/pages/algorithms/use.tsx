/** Leads to the form of a job that runs a version of an algorithm. */
import { SendOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "../../shared/link";
import { DEFAULT_WORKSPACE } from "../../shared/people";

interface Props {
  algorithm: string;
  workspace: string;
  size?: "small";
}

export function RunInJob({ algorithm, workspace, size }: Props): ReactNode {
  const { t } = useTranslation();
  const set = { algorithm, "roles.0.command": null, ...(workspace === DEFAULT_WORKSPACE ? {} : { workspace }) };
  return (
    <ButtonLink
      size={size}
      to="/submit"
      search={{ set: JSON.stringify(set) }}
      icon={<SendOutlined />}
      aria-label={t("algorithms.useOne", { name: algorithm })}
      data-testid="run-in-job"
    >
      {t("algorithms.use")}
    </ButtonLink>
  );
}
