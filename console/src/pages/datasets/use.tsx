/** Leads to the form of a job that reads a version of a data set or of a model, or mounts a volume. */
import { SendOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "../../shared/link";
import { DEFAULT_WORKSPACE } from "../../shared/people";

type Props = { workspace: string; size?: "small" } & ({ dataset: string } | { model: string } | { volume: string });

export function UseInJob(props: Props): ReactNode {
  const { t } = useTranslation();
  const { workspace, size } = props;
  const [input, name] =
    "dataset" in props
      ? [{ dataset: props.dataset }, props.dataset]
      : "model" in props
        ? [{ model: props.model }, props.model]
        : [{ volume: props.volume }, props.volume];
  const set = { inputs: [input], ...(workspace === DEFAULT_WORKSPACE ? {} : { workspace }) };
  return (
    <ButtonLink
      size={size}
      to="/submit"
      search={{ set: JSON.stringify(set) }}
      icon={<SendOutlined />}
      aria-label={t("datasets.useOne", { name })}
      data-testid="use-in-job"
    >
      {t("datasets.use")}
    </ButtonLink>
  );
}
