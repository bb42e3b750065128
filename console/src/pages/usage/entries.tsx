/** What changed a balance, newest first: uses, credits, corrections. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Drawer, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listEntries } from "../../api/money";
import type { Balance, Entry } from "../../api/types";
import { duration, shortId } from "../../shared/format";
import { LoadMore } from "../../shared/more";
import { DataTable } from "../../shared/table";
import { useFormatTime } from "../../shared/time";
import { Pending, TwoLines } from "../../shared/ui";
import { shownAmount } from "./amounts";

export function EntriesDrawer({ balance, close }: { balance: Balance; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const query = useInfiniteQuery({
    queryKey: ["entries", balance.workspace],
    queryFn: ({ pageParam }) => listEntries(balance.workspace, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  return (
    <Drawer open size={860} onClose={close} title={t("usage.entriesOf", { workspace: balance.workspace })}>
      {query.data ? (
        <>
          <DataTable<Entry>
            rowKey="id"
            size="small"
            pagination={false}
            scroll={{ x: 640 }}
            dataSource={query.data.pages.flatMap((page) => page.items)}
            locale={{ emptyText: <span className="tm-faint">{t("usage.noEntries")}</span> }}
            onRow={(entry) => ({ "data-testid": "entry", "data-kind": entry.kind }) as object}
            columns={[
              { title: t("usage.when"), key: "at", width: 150, render: (_, entry) => time(entry.at, "minute") },
              {
                title: t("usage.kind"),
                key: "kind",
                width: 110,
                render: (_, { kind }) => (
                  <Tag className="tm-tag" color={kind === "use" ? "default" : "blue"}>
                    {t(`usage.kinds.${kind}`)}
                  </Tag>
                ),
              },
              {
                title: `${t("usage.change")}${t("mark.aside", { text: balance.currency })}`,
                key: "amount",
                width: 130,
                align: "end",
                className: "tm-num",
                render: (_, { amount }) => <span title={amount}>{shownAmount(amount)}</span>,
              },
              { title: t("usage.owner"), key: "who", width: 120, render: (_, entry) => entry.by || entry.owner },
              { title: t("usage.for"), key: "for", render: (_, entry) => <What entry={entry} balance={balance} /> },
            ]}
          />
          {query.hasNextPage && (
            <p className="tm-center">
              <LoadMore query={query}>{t("usage.more")}</LoadMore>
            </p>
          )}
        </>
      ) : (
        <Pending query={query} rows={4} />
      )}
    </Drawer>
  );
}

function What({ entry, balance }: { entry: Entry; balance: Balance }): ReactNode {
  const { t } = useTranslation();
  if (entry.job === null) return entry.note;
  return (
    <TwoLines
      first={
        <Link to="/jobs/$id" params={{ id: entry.job }} search={{}}>
          {shortId(entry.job)}
        </Link>
      }
      second={t("usage.used", {
        machines: entry.machines,
        flavor: entry.flavor || entry.pool,
        time: duration(entry.until - entry.since, true),
        price: shownAmount(entry.price),
        currency: balance.currency,
      })}
    />
  );
}
