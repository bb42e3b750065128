/** Who did what to what, when and from where. The address holds every filter, so that an answer can be shared. */
import { AuditOutlined, DownloadOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { auditExport, listAudit } from "../../api/audit";
import type { AuditEvent } from "../../api/types";
import type { AuditSearch } from "../../shared/address";
import { useDownload } from "../../shared/download";
import { LoadMore } from "../../shared/more";
import { useSession } from "../../shared/session";
import { DataTable } from "../../shared/table";
import { Empty, PageHeader, Pending } from "../../shared/ui";
import { Changes, useColumns } from "./columns";
import { filterOf, isFiltered } from "./filter";
import { Filters } from "./filters";

export function AuditPage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const download = useDownload();
  const update = (change: Partial<AuditSearch>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <div data-testid="audit">
      <PageHeader
        title={t("audit.title")}
        sub={<Reach />}
        actions={
          <Button
            icon={<DownloadOutlined />}
            onClick={() => download(auditExport(filterOf(search, Date.now() / 1000)))}
            data-testid="audit-export"
          >
            {t("audit.export")}
          </Button>
        }
      />
      <Filters search={search} update={update} clear={() => void navigate({ search: {}, replace: true })} />
      <Entries search={search} />
    </div>
  );
}

/** What of it this reader is shown. */
function Reach(): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  const led = user?.workspaces.filter(({ role }) => role === "owner" || role === "admin") ?? [];
  if (user?.role === "admin") return t("audit.reach.all");
  if (led.length === 0) return t("audit.reach.own");
  return t("audit.reach.led", { workspaces: led.map(({ workspace }) => workspace).join(t("mark.comma")) });
}

function Entries({ search }: { search: AuditSearch }): ReactNode {
  const { t } = useTranslation();
  const columns = useColumns();
  const query = useInfiniteQuery({
    queryKey: ["audit", search],
    queryFn: ({ pageParam, signal }) => listAudit(filterOf(search, Date.now() / 1000), pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  const found = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  if (!query.data) return <Pending query={query} />;
  if (found.length === 0)
    return (
      <div className="tm-panel">
        <Empty title={t("audit.none")} icon={<AuditOutlined className="tm-empty-icon" />}>
          <p className="tm-faint">{t(isFiltered(search) ? "audit.noneOfThese" : "audit.noneHint")}</p>
        </Empty>
      </div>
    );
  return (
    <div className="tm-panel tm-table">
      <DataTable<AuditEvent>
        rowKey="id"
        size="middle"
        tableLayout="fixed"
        scroll={{ x: 980 }}
        pagination={false}
        dataSource={found}
        columns={columns}
        lead="what"
        className="tm-rows-beside"
        onRow={({ kind }) => ({ "data-testid": "audit-entry", "data-kind": kind }) as object}
        expandable={{
          rowExpandable: ({ changes }) => changes.length > 0,
          expandedRowRender: (event) => <Changes of={event} />,
        }}
      />
      {query.hasNextPage && (
        <div className="tm-panel-body tm-center">
          <LoadMore query={query} testid="audit-more">
            {t("audit.more")}
          </LoadMore>
        </div>
      )}
    </div>
  );
}
