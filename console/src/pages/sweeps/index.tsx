/** Sweeps: how far each is, and what its best entry is. */
import { PlusOutlined, SearchOutlined, TableOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button, Checkbox, Input, Table, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listSweeps } from "../../api/sweeps";
import type { Sweep } from "../../api/types";
import { useKept } from "../../shared/kept";
import { ButtonLink } from "../../shared/link";
import { Ago } from "../../shared/time";
import { Empty, Outdated, PageHeader, Pending, TwoLines } from "../../shared/ui";
import { useMedia } from "../../theme";
import { allOf, endedOf, SweepBar } from "./bar";

const PAGE = 50;
const AGAIN_MS = 5000;

export function SweepsPage(): ReactNode {
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const [mine, setMine] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["sweeps", q, mine],
    queryFn: ({ pageParam, signal }) => listSweeps({ q, mine, limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const kept = useKept(query);
  const items = kept.data?.pages.flatMap((page) => page.items) ?? [];
  const columns = useColumns();
  return (
    <>
      <PageHeader
        title={t("sweeps.title")}
        sub={t("sweeps.what")}
        actions={
          <ButtonLink to="/submit" search={{}} color="primary" variant="solid" icon={<PlusOutlined />}>
            {t("nav.newJob")}
          </ButtonLink>
        }
      />
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} />
      ) : items.length === 0 && q === "" && !mine ? (
        <div className="tm-panel" data-testid="sweeps">
          <Empty title={t("sweeps.none")} icon={<TableOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("sweeps.noneHint")}</p>
          </Empty>
        </div>
      ) : (
        <>
          <div className="tm-filters">
            <Input
              allowClear
              prefix={<SearchOutlined />}
              value={q}
              onChange={(event) => setQ(event.target.value)}
              placeholder={t("sweeps.search")}
              aria-label={t("sweeps.search")}
              className="tm-search"
              data-testid="sweep-search"
            />
            <Checkbox checked={mine} onChange={(event) => setMine(event.target.checked)}>
              {t("sweeps.mine")}
            </Checkbox>
          </div>
          <div className="tm-panel tm-table" data-testid="sweeps">
            <Table<Sweep>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={items}
              tableLayout="fixed"
              scroll={{ x: 980 }}
              pagination={false}
              locale={{ emptyText: <span className="tm-faint">{t("sweeps.noMatch")}</span> }}
            />
          </div>
          {query.hasNextPage && (
            <Button
              className="tm-gap"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
              data-testid="sweeps-more"
            >
              {t("sweeps.older")}
            </Button>
          )}
        </>
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Sweep> {
  const { t } = useTranslation();
  const narrow = useMedia("(max-width: 599px)");
  return useMemo(
    () => [
      {
        title: t("sweeps.name"),
        key: "name",
        width: narrow ? 180 : undefined,
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
    [t, narrow],
  );
}
