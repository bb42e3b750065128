/** The list of algorithms: one's own and those that are shared; here one is created (R23, R150, R151). */
import { FunctionOutlined, PlusOutlined, SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, Checkbox, Input, Table, type TableColumnsType, Tag } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listAlgorithms } from "../../api/algorithms";
import type { Algorithm } from "../../api/types";
import { useKept } from "../../shared/kept";
import { useFrameworkTitle } from "../../shared/meta";
import { Ago } from "../../shared/time";
import { Empty, Outdated, PageHeader, Pending, TwoLines } from "../../shared/ui";
import { useMedia } from "../../theme";
import { CreateAlgorithm } from "./create";
import { RunInJob } from "./use";

const PAGE = 100;

export function AlgorithmsPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [q, setQ] = useState("");
  const [mine, setMine] = useState(false);
  const [creates, setCreates] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["algorithms", q, mine],
    queryFn: ({ pageParam, signal }) => listAlgorithms({ q, mine, limit: PAGE, cursor: pageParam }, signal),
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
        title={t("algorithms.title")}
        sub={t("algorithms.what")}
        actions={
          <Button
            type="primary"
            icon={<PlusOutlined />}
            onClick={() => setCreates(true)}
            data-testid="algorithm-create"
          >
            {t("algorithms.add")}
          </Button>
        }
      />
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} />
      ) : items.length === 0 && q === "" && !mine ? (
        <div className="tm-panel" data-testid="algorithms">
          <Empty title={t("algorithms.none")} icon={<FunctionOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("algorithms.noneHint")}</p>
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
              placeholder={t("algorithms.search")}
              aria-label={t("algorithms.search")}
              className="tm-search"
              data-testid="algorithm-search"
            />
            <Checkbox checked={mine} onChange={(event) => setMine(event.target.checked)} data-testid="algorithm-mine">
              {t("algorithms.mine")}
            </Checkbox>
          </div>
          <div className="tm-panel tm-table" data-testid="algorithms">
            <Table<Algorithm>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={items}
              tableLayout="fixed"
              scroll={{ x: 900 }}
              pagination={false}
              locale={{ emptyText: <span className="tm-faint">{t("algorithms.noMatch")}</span> }}
            />
          </div>
          {query.hasNextPage && (
            <Button
              className="tm-gap"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
              data-testid="algorithms-more"
            >
              {t("algorithms.older")}
            </Button>
          )}
        </>
      )}
      {creates && (
        <CreateAlgorithm
          close={() => setCreates(false)}
          done={(made) => void navigate({ to: "/algorithms/$id", params: { id: made.id }, search: {} })}
        />
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Algorithm> {
  const { t } = useTranslation();
  const narrow = useMedia("(max-width: 599px)");
  const launcher = useFrameworkTitle();
  return useMemo(
    () => [
      {
        title: t("algorithms.name"),
        key: "name",
        width: narrow ? 200 : undefined,
        render: (_, one) => (
          <TwoLines
            first={
              <>
                <Link
                  to="/algorithms/$id"
                  params={{ id: one.id }}
                  search={{}}
                  className="tm-name"
                  data-testid="algorithm-link"
                >
                  {one.name}
                </Link>{" "}
                {one.preset && <Tag className="tm-tag">{t("algorithms.preset")}</Tag>}
              </>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("algorithms.latest"),
        key: "latest",
        width: 136,
        render: (_, one) =>
          one.latest > 0 ? t("algorithms.version", { n: one.latest }) : <span className="tm-faint">–</span>,
      },
      {
        title: t("algorithms.framework"),
        key: "framework",
        width: 128,
        render: (_, one) => (one.framework ? launcher(one.framework) : <span className="tm-faint">–</span>),
      },
      {
        title: t("algorithms.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("algorithms.shared"),
        key: "shared",
        width: 112,
        render: (_, one) => (
          <span title={t(`algorithms.share.${one.share}`)}>{t(`algorithms.sharing.${one.share}`)}</span>
        ),
      },
      {
        title: t("algorithms.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("algorithms.use")}</span>,
        key: "use",
        width: 136,
        align: "end",
        render: (_, one) =>
          one.latest > 0 && <RunInJob algorithm={`${one.name}@${one.latest}`} workspace={one.workspace} size="small" />,
      },
    ],
    [t, narrow, launcher],
  );
}
