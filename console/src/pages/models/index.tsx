/** Saved models: how large, how good, by whom, how old. */
import { DeploymentUnitOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import type { TableColumnsType } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { listModels } from "../../api/models";
import type { ModelItem } from "../../api/types";
import { bytes, number } from "../../shared/format";
import { Listing } from "../../shared/listing";
import { Ago } from "../../shared/time";
import { Nothing, TwoLines } from "../../shared/ui";
import { keyMetric } from "../jobs/columns";
import { ordered } from "./metrics";

export function ModelsPage(): ReactNode {
  return (
    <Listing<ModelItem>
      words="models"
      read={listModels}
      againMs={15_000}
      icon={<DeploymentUnitOutlined className="tm-empty-icon" />}
      columns={useColumns()}
      width={960}
    />
  );
}

function useColumns(): TableColumnsType<ModelItem> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("models.name"),
        key: "name",
        width: 184,
        fixed: "start",
        render: (_, model) => (
          <TwoLines
            first={
              <Link to="/models/$id" params={{ id: model.id }} search={{}} className="tm-name" data-testid="model-link">
                {model.name}
              </Link>
            }
            second={model.workspace}
          />
        ),
      },
      {
        title: t("models.latest"),
        key: "latest",
        width: 136,
        render: (_, model) => (
          <Link to="/models/$id" params={{ id: model.id }} search={{ version: model.latest }} className="tm-num">
            {t("models.version", { n: model.latest })}
          </Link>
        ),
      },
      { title: t("models.metrics"), key: "metrics", render: (_, model) => <Metrics of={model.metrics ?? {}} /> },
      {
        title: t("models.size"),
        key: "size",
        width: 104,
        align: "end",
        render: (_, model) => <span className="tm-num">{bytes(model.size_bytes)}</span>,
      },
      {
        title: t("models.versions"),
        key: "versions",
        width: 100,
        align: "end",
        render: (_, model) => <span className="tm-num">{number(model.versions)}</span>,
      },
      {
        title: t("models.owner"),
        dataIndex: "owner",
        width: 100,
        ellipsis: true,
      },
      {
        title: t("models.changed"),
        key: "updated",
        width: 116,
        render: (_, model) => <Ago at={model.updated_at} />,
      },
    ],
    [t],
  );
}

const MOST = 2;

/** The metric that says most first, then one more; all of them when pointed at. */
function Metrics({ of }: { of: Record<string, number | null> }): ReactNode {
  const shown = ordered(of, keyMetric(of)?.[0]);
  if (shown.length === 0) return <Nothing />;
  const words = ([name, value]: [string, number]): string => `${name} ${number(value)}`;
  return (
    <span className="tm-metric-list tm-num" title={shown.map(words).join("\n")}>
      {shown.slice(0, MOST).map(([name, value]) => (
        <span key={name} className="tm-ellipsis">
          <span className="tm-faint">{name}</span> {number(value)}
        </span>
      ))}
      {shown.length > MOST && <span className="tm-faint">+{shown.length - MOST}</span>}
    </span>
  );
}
