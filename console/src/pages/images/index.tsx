/** Images: what is in them, whose, how large, who uses them; built here, and looked on while they are (R25, R68). */
import { AppstoreAddOutlined, AppstoreOutlined, SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Checkbox, Input, Table, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listImages } from "../../api/images";
import type { Image } from "../../api/types";
import { bytes, number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { Ago } from "../../shared/time";
import { Empty, Hinted, Nothing, Outdated, PageHeader, Pending, TwoLines } from "../../shared/ui";
import { useMedia } from "../../theme";
import { BuildDrawer } from "./build";
import { Builds } from "./builds";
import { CreateImage } from "./create";
import { UseImage } from "./use";

const PAGE = 100;

export function ImagesPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/images" });
  const { build } = useSearch({ from: "/images" });
  const [creates, setCreates] = useState(false);
  const show = (id: string | undefined): void => void navigate({ search: { build: id }, replace: id === undefined });
  return (
    <>
      <PageHeader
        title={t("images.title")}
        sub={t("images.what")}
        actions={
          <Button
            type="primary"
            icon={<AppstoreAddOutlined />}
            onClick={() => setCreates(true)}
            data-testid="image-create"
          >
            {t("images.add")}
          </Button>
        }
      />
      <Builds open={show} />
      <List />
      {creates && <CreateImage close={() => setCreates(false)} done={(made) => show(made.id)} />}
      {build !== undefined && <BuildDrawer key={build} id={build} close={() => show(undefined)} />}
    </>
  );
}

function List(): ReactNode {
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const [mine, setMine] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["images", q, mine],
    queryFn: ({ pageParam, signal }) => listImages({ q, mine, limit: PAGE, cursor: pageParam }, signal),
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
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} />
      ) : items.length === 0 && q === "" && !mine ? (
        <div className="tm-panel" data-testid="images">
          <Empty title={t("images.none")} icon={<AppstoreOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("images.noneHint")}</p>
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
              placeholder={t("images.search")}
              aria-label={t("images.search")}
              className="tm-search"
              data-testid="images-search"
            />
            <Checkbox checked={mine} onChange={(event) => setMine(event.target.checked)} data-testid="images-mine">
              {t("images.mine")}
            </Checkbox>
          </div>
          <div className="tm-panel tm-table" data-testid="images">
            <Table<Image>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={items}
              tableLayout="fixed"
              scroll={{ x: 1000 }}
              pagination={false}
              locale={{ emptyText: <span className="tm-faint">{t("images.noMatch")}</span> }}
            />
          </div>
          {query.hasNextPage && (
            <Button
              className="tm-gap"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
              data-testid="images-more"
            >
              {t("images.older")}
            </Button>
          )}
        </>
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Image> {
  const { t } = useTranslation();
  const narrow = useMedia("(max-width: 599px)");
  return useMemo(
    () => [
      {
        title: t("images.name"),
        key: "name",
        width: narrow ? 200 : undefined,
        render: (_, one) => (
          <TwoLines
            first={
              <Link to="/images/$id" params={{ id: one.id }} search={{}} className="tm-name" data-testid="image-link">
                {one.name}
              </Link>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("images.latest"),
        key: "latest",
        width: 128,
        render: (_, one) => (
          <TwoLines first={t("images.version", { n: one.version })} second={`Python ${one.python}`} />
        ),
      },
      {
        title: t("images.size"),
        key: "size",
        width: 112,
        align: "end",
        render: (_, one) => (
          <TwoLines
            first={<span className="tm-num">{bytes(one.size_bytes)}</span>}
            second={t("images.packageCount", { count: one.packages, replace: { count: number(one.packages) } })}
          />
        ),
      },
      {
        title: t("images.used"),
        key: "used",
        width: 108,
        render: (_, one) =>
          one.jobs > 0 ? (
            t("images.jobs", { count: one.jobs })
          ) : one.built ? (
            <Nothing />
          ) : (
            <Hinted hint={t("images.notBuiltHint")} className="tm-faint">
              {t("images.notBuilt")}
            </Hinted>
          ),
      },
      {
        title: t("images.owner"),
        key: "owner",
        width: 112,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("images.shared"),
        key: "shared",
        width: 104,
        render: (_, one) => <span title={t(`images.share.${one.share}`)}>{t(`images.sharing.${one.share}`)}</span>,
      },
      {
        title: t("images.changed"),
        key: "changed",
        width: 116,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("images.use")}</span>,
        key: "use",
        width: 136,
        align: "end",
        render: (_, one) => <UseImage image={`${one.name}@${one.version}`} workspace={one.workspace} />,
      },
    ],
    [t, narrow],
  );
}
