/** Templates: whose, how shared, how much used; submitted from, edited, copied, shared and deleted here (R230 to R234). */
import { DeleteOutlined, FileDoneOutlined, PlusOutlined, SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Button, Checkbox, Input, Table } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listTemplates } from "../../api/templates";
import type { Template } from "../../api/types";
import { useKept } from "../../shared/kept";
import { ButtonLink } from "../../shared/link";
import { Empty, Outdated, PageHeader, Pending } from "../../shared/ui";
import { useDeleteTemplates } from "./actions";
import { useColumns } from "./columns";

const PAGE = 100;

export function TemplatesPage(): ReactNode {
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const [mine, setMine] = useState(false);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const query = useInfiniteQuery({
    queryKey: ["templates", q, mine],
    queryFn: ({ pageParam, signal }) => listTemplates({ q, mine, limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const kept = useKept(query);
  const items = kept.data?.pages.flatMap((page) => page.items) ?? [];
  const selected = items.filter((one) => ticked.includes(one.id));
  const columns = useColumns();
  const drop = useDeleteTemplates();
  const narrowed = q !== "" || mine;
  return (
    <>
      <PageHeader
        title={t("templates.title")}
        sub={t("templates.what")}
        actions={
          <ButtonLink
            to="/submit"
            search={{}}
            color="primary"
            variant="solid"
            icon={<PlusOutlined />}
            data-testid="template-new"
          >
            {t("templates.add")}
          </ButtonLink>
        }
      />
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} />
      ) : items.length === 0 && !narrowed ? (
        <div className="tm-panel" data-testid="templates">
          <Empty title={t("templates.none")} icon={<FileDoneOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("templates.noneHint")}</p>
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
              placeholder={t("templates.search")}
              aria-label={t("templates.search")}
              className="tm-search"
              data-testid="template-search"
            />
            <Checkbox checked={mine} onChange={(event) => setMine(event.target.checked)} data-testid="template-mine">
              {t("templates.mine")}
            </Checkbox>
          </div>
          <div className="tm-panel tm-table" data-testid="templates">
            <Table<Template>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={items}
              tableLayout="fixed"
              scroll={{ x: 900 }}
              pagination={false}
              locale={{ emptyText: <span className="tm-faint">{t("templates.noMatch")}</span> }}
              rowSelection={{
                selectedRowKeys: [...ticked],
                onChange: (keys) => setTicked(keys.map(String)),
                columnWidth: 44,
                getCheckboxProps: (one) => ({ disabled: !one.may.includes("write"), "aria-label": one.name }),
                getTitleCheckboxProps: () => ({ "aria-label": t("templates.title") }),
              }}
            />
          </div>
          {selected.length > 0 && (
            <div className="tm-bulk" role="toolbar" aria-label={t("templates.selected", { count: selected.length })}>
              <strong aria-live="polite">{t("templates.selected", { count: selected.length })}</strong>
              <Button
                danger
                icon={<DeleteOutlined />}
                onClick={() => drop(selected, () => setTicked([]))}
                data-testid="templates-delete"
              >
                {t("action.delete")}
              </Button>
            </div>
          )}
          {query.hasNextPage && (
            <Button
              className="tm-gap"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
              data-testid="templates-more"
            >
              {t("templates.older")}
            </Button>
          )}
        </>
      )}
    </>
  );
}
