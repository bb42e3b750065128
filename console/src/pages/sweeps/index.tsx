/** Sweeps: how far each is, and what its best entry is. */
import { PlusOutlined, TableOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import type { TableColumnsType } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { listSweeps } from "../../api/sweeps";
import type { Sweep } from "../../api/types";
import { ButtonLink } from "../../shared/link";
import { Listing } from "../../shared/listing";
import { Ago } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { allOf, endedOf, SweepBar } from "./bar";

export function SweepsPage(): ReactNode {
  const { t } = useTranslation();
  return (
    <Listing<Sweep>
      words="sweeps"
      read={listSweeps}
      limit={50}
      againMs={5000}
      icon={<TableOutlined className="tm-empty-icon" />}
      columns={useColumns()}
      width={980}
      actions={
        <ButtonLink
          to="/submit"
          search={{ sweep: true }}
          color="primary"
          variant="solid"
          icon={<PlusOutlined />}
          data-testid="sweep-new"
        >
          {t("sweeps.add")}
        </ButtonLink>
      }
    />
  );
}

function useColumns(): TableColumnsType<Sweep> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("sweeps.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              <Link to="/sweeps/$id" params={{ id: one.id }} search={{}} className="tm-name" data-testid="sweep-link">
                {one.name}
              </Link>
            }
            second={one.metric ? t("sweeps.by", { metric: one.metric }) : one.id.slice(0, 12)}
          />
        ),
      },
      {
        title: t("sweeps.progress"),
        key: "progress",
        width: 340,
        render: (_, one) => <SweepBar counts={one.counts} />,
      },
      {
        title: t("sweeps.tab.entries"),
        key: "entries",
        width: 156,
        render: (_, one) => (
          <TwoLines
            first={t("sweeps.entries", { count: one.entries })}
            second={t("sweeps.ended", { n: endedOf(one.counts), total: allOf(one.counts) })}
          />
        ),
      },
      {
        title: t("sweeps.owner"),
        key: "owner",
        width: 130,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      { title: t("sweeps.submitted"), key: "submitted", width: 120, render: (_, one) => <Ago at={one.created_at} /> },
    ],
    [t],
  );
}
