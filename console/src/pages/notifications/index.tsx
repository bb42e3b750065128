/** Everything one was told, newest first. The address holds the filters. */
import { BellOutlined, CheckOutlined, SettingOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { App, Button, Segmented, Select, type TableColumnsType } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { listNotices, NOTICE_KINDS, readNotices } from "../../api/notices";
import type { Notice } from "../../api/types";
import { useLanguage } from "../../i18n";
import type { NoticesSearch } from "../../shared/address";
import { ButtonLink } from "../../shared/link";
import { LoadMore } from "../../shared/more";
import { NoticeTag, useNoticeName } from "../../shared/notice";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { Empty, PageHeader, Pending, useErrorText } from "../../shared/ui";

export function NotificationsPage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/notifications" });
  const navigate = useNavigate({ from: "/notifications" });
  const name = useNoticeName();
  const read = useRead();
  const update = (change: Partial<NoticesSearch>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <div data-testid="notifications">
      <PageHeader
        title={t("notices.title")}
        sub={t("notices.sub")}
        actions={
          <>
            <Button icon={<CheckOutlined />} onClick={() => void read(null)} data-testid="read-all">
              {t("notices.readAll")}
            </Button>
            <ButtonLink to="/settings" search={{ tab: "notifications" }} icon={<SettingOutlined />}>
              {t("notices.choose")}
            </ButtonLink>
          </>
        }
      />
      <div className="tm-notice-filters">
        <Segmented
          value={search.unread ? "unread" : "all"}
          onChange={(value) => update({ unread: value === "unread" || undefined })}
          options={[
            { value: "all", label: t("notices.all") },
            { value: "unread", label: t("notices.unread") },
          ]}
        />
        <Select
          allowClear
          placeholder={t("notices.anyKind")}
          aria-label={t("notices.anyKind")}
          value={search.kind}
          onChange={(kind: string | undefined) => update({ kind })}
          options={NOTICE_KINDS.map((kind) => ({ value: kind, label: name(kind) }))}
          style={{ width: 220 }}
          data-testid="notice-kind"
        />
      </div>
      <Notices search={search} />
    </div>
  );
}

/** Mark as read; the feed then tells every tab. */
function useRead(): (ids: string[] | null) => Promise<void> {
  const client = useQueryClient();
  const { message } = App.useApp();
  const errorText = useErrorText();
  return async (ids) => {
    try {
      await readNotices(ids);
    } catch (error) {
      message.error(errorText(error).line);
    }
    void client.invalidateQueries({ queryKey: ["notices"] });
  };
}

function Notices({ search }: { search: NoticesSearch }): ReactNode {
  const { t } = useTranslation();
  const columns = useColumns();
  const query = useInfiniteQuery({
    queryKey: ["notices", "list", search],
    queryFn: ({ pageParam, signal }) => listNotices(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  const found = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  if (!query.data) return <Pending query={query} />;
  if (found.length === 0)
    return (
      <div className="tm-panel">
        <Empty title={t("notices.none")} icon={<BellOutlined className="tm-empty-icon" />}>
          <p className="tm-faint">{t(search.kind || search.unread ? "notices.noneOfThese" : "notices.noneHint")}</p>
        </Empty>
      </div>
    );
  return (
    <div className="tm-panel tm-table">
      <DataTable<Notice>
        rowKey="id"
        size="middle"
        tableLayout="fixed"
        scroll={{ x: 860 }}
        pagination={false}
        dataSource={found}
        rowClassName={(one) => (one.read ? "" : "tm-unread")}
        onRow={({ kind, read: was }) => ({ "data-testid": "notice", "data-kind": kind, "data-read": was }) as object}
        columns={columns}
        lead="text"
        className="tm-rows-beside"
      />
      {query.hasNextPage && (
        <div className="tm-panel-body tm-center">
          <LoadMore query={query}>{t("notices.more")}</LoadMore>
        </div>
      )}
    </div>
  );
}

function useColumns(): TableColumnsType<Notice> {
  const { t } = useTranslation();
  const language = useLanguage();
  const read = useRead();
  const done: TableColumnsType<Notice>[number] = {
    title: <span className="tm-hidden">{t("admin.actions")}</span>,
    key: "read",
    width: 130,
    align: "end",
    render: (_, one) =>
      !one.read && (
        <Button
          size="small"
          type="text"
          onClick={() => void read([one.id])}
          aria-label={`${t("notices.read")}${t("mark.colon")}${one.text[language]}`}
          data-testid="notice-read"
        >
          <CheckOutlined className="tm-rows-only" />
          <span className="tm-rows-never">{t("notices.read")}</span>
        </Button>
      ),
  };
  const what = (one: Notice): ReactNode => (
    <span className="tm-notice-what">
      <What of={one} language={language} />
    </span>
  );
  return [
    { title: t("notices.when"), key: "at", width: 130, render: (_, one) => <Ago at={one.at} /> },
    { title: t("notices.kind"), key: "kind", width: 190, render: (_, one) => <NoticeTag kind={one.kind} /> },
    { title: t("notices.what"), key: "text", render: (_, one) => what(one) },
    { title: t("people.workspace"), key: "workspace", width: 140, ellipsis: true, render: (_, one) => one.workspace },
    done,
  ];
}

function What({ of, language }: { of: Notice; language: "zh" | "en" }): ReactNode {
  if (of.job)
    return (
      <Link to="/jobs/$id" params={{ id: of.job }} search={{}}>
        {of.text[language]}
      </Link>
    );
  if (of.kind === "budget")
    return (
      <Link to="/usage" search={{}}>
        {of.text[language]}
      </Link>
    );
  return of.text[language];
}
