/** Data sets: whose, how large, how shared; uploaded here, and taken into a job (R27, R28). */
import { CloudUploadOutlined, DatabaseOutlined, SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, Checkbox, Input, Table, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listDatasets } from "../../api/datasets";
import type { Dataset } from "../../api/types";
import { bytes, number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { Ago } from "../../shared/time";
import { Empty, Outdated, PageHeader, Pending, TwoLines } from "../../shared/ui";
import { useMedia } from "../../theme";
import { UploadDataset } from "./upload";
import { UseInJob } from "./use";

const PAGE = 100;

export function DatasetsPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [q, setQ] = useState("");
  const [mine, setMine] = useState(false);
  const [uploads, setUploads] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["datasets", q, mine],
    queryFn: ({ pageParam, signal }) => listDatasets({ q, mine, limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const kept = useKept(query);
  const items = kept.data?.pages.flatMap((page) => page.items) ?? [];
  const columns = useColumns();
  return (
    <>
      <PageHeader
        title={t("datasets.title")}
        sub={t("datasets.what")}
        actions={
          <Button
            type="primary"
            icon={<CloudUploadOutlined />}
            onClick={() => setUploads(true)}
            data-testid="dataset-upload"
          >
            {t("datasets.add")}
          </Button>
        }
      />
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} />
      ) : items.length === 0 && q === "" && !mine ? (
        <div className="tm-panel" data-testid="datasets">
          <Empty title={t("datasets.none")} icon={<DatabaseOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("datasets.noneHint")}</p>
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
              placeholder={t("datasets.search")}
              aria-label={t("datasets.search")}
              className="tm-search"
              data-testid="dataset-search"
            />
            <Checkbox checked={mine} onChange={(event) => setMine(event.target.checked)} data-testid="dataset-mine">
              {t("datasets.mine")}
            </Checkbox>
          </div>
          <div className="tm-panel tm-table" data-testid="datasets">
            <Table<Dataset>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={items}
              tableLayout="fixed"
              scroll={{ x: 900 }}
              pagination={false}
              locale={{ emptyText: <span className="tm-faint">{t("datasets.noMatch")}</span> }}
            />
          </div>
          {query.hasNextPage && (
            <Button
              className="tm-gap"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
              data-testid="datasets-more"
            >
              {t("datasets.older")}
            </Button>
          )}
        </>
      )}
      {uploads && (
        <UploadDataset
          close={() => setUploads(false)}
          done={(made) => void navigate({ to: "/datasets/$id", params: { id: made.dataset }, search: {} })}
        />
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Dataset> {
  const { t } = useTranslation();
  const narrow = useMedia("(max-width: 599px)");
  return useMemo(
    () => [
      {
        title: t("datasets.name"),
        key: "name",
        width: narrow ? 200 : undefined,
        render: (_, one) => (
          <TwoLines
            first={
              <Link
                to="/datasets/$id"
                params={{ id: one.id }}
                search={{}}
                className="tm-name"
                data-testid="dataset-link"
              >
                {one.name}
              </Link>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("datasets.latest"),
        key: "latest",
        width: 136,
        render: (_, one) =>
          one.latest > 0 ? t("datasets.version", { n: one.latest }) : <span className="tm-faint">–</span>,
      },
      {
        title: t("datasets.size"),
        key: "size",
        width: 128,
        align: "end",
        render: (_, one) => (
          <TwoLines
            first={<span className="tm-num">{bytes(one.size_bytes)}</span>}
            second={t("datasets.fileCount", { count: one.files, replace: { count: number(one.files) } })}
          />
        ),
      },
      {
        title: t("datasets.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("datasets.shared"),
        key: "shared",
        width: 112,
        render: (_, one) => <span title={t(`datasets.share.${one.share}`)}>{t(`datasets.sharing.${one.share}`)}</span>,
      },
      {
        title: t("datasets.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("datasets.use")}</span>,
        key: "use",
        width: 136,
        align: "end",
        render: (_, one) =>
          one.latest > 0 && <UseInJob dataset={`${one.name}@${one.latest}`} workspace={one.workspace} size="small" />,
      },
    ],
    [t, narrow],
  );
}
