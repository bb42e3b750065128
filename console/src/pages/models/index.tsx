/** Saved models with their versions. */
import { DeploymentUnitOutlined, SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Input, Table, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listModels } from "../../api/models";
import type { ModelItem } from "../../api/types";
import { useKept } from "../../shared/kept";
import { Ago } from "../../shared/time";
import { Empty, Outdated, PageHeader, Pending } from "../../shared/ui";

export function ModelsPage(): ReactNode {
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const query = useKept(
    useQuery({
      queryKey: ["models", q],
      queryFn: () => listModels(q),
      placeholderData: keepPreviousData,
      refetchInterval: 15_000,
    }),
  );
  const columns = useMemo(
    (): TableColumnsType<ModelItem> => [
      {
        title: t("models.name"),
        key: "name",
        render: (_, model) => (
          <Link to="/models/$id" params={{ id: model.id }} search={{}} className="tm-name" data-testid="model-link">
            {model.name}
          </Link>
        ),
      },
      {
        title: t("models.latest"),
        key: "latest",
        width: 140,
        render: (_, model) => (model.latest === null ? "–" : t("models.version", { n: model.latest })),
      },
      { title: t("models.versions"), dataIndex: "versions", width: 110 },
      { title: t("models.owner"), dataIndex: "owner", width: 160 },
      { title: t("models.created"), key: "created", width: 160, render: (_, model) => <Ago at={model.created_at} /> },
    ],
    [t],
  );
  return (
    <>
      <PageHeader title={t("models.title")} />
      <Outdated query={query} />
      {!query.data ? (
        <Pending query={query} />
      ) : query.data.items.length === 0 && q === "" ? (
        <div className="tm-panel">
          <Empty title={t("models.none")} icon={<DeploymentUnitOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("models.noneHint")}</p>
          </Empty>
        </div>
      ) : (
        <>
          <div className="tm-filters">
            <Input
              allowClear
              prefix={<SearchOutlined />}
              value={q}
              onChange={(e) => setQ(e.target.value)}
              placeholder={t("models.search")}
              aria-label={t("models.search")}
              className="tm-search"
              data-testid="model-search"
            />
          </div>
          <div className="tm-panel tm-table" data-testid="models">
            <Table<ModelItem>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={query.data.items}
              pagination={query.data.items.length > 50 ? { pageSize: 50 } : false}
            />
          </div>
        </>
      )}
    </>
  );
}
