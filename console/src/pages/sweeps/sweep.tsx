/** One sweep: how far it is, its entries in one table, their curves in one chart, parameters against results. The address holds the view. */
import {
  AuditOutlined,
  DeleteOutlined,
  DiffOutlined,
  DownloadOutlined,
  RedoOutlined,
  StopOutlined,
  UnorderedListOutlined,
} from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Button, Tabs } from "antd";
import { Fragment, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { readEntries, readSweep } from "../../api/sweeps";
import type { SweepDetail, SweepEntries } from "../../api/types";
import { SWEEP_TABS, type SweepSearch } from "../../shared/address";
import { saveText } from "../../shared/download";
import { number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { ButtonLink } from "../../shared/link";
import { useSession } from "../../shared/session";
import { Ago } from "../../shared/time";
import { CopyButton, Crumb, Dotted, Outdated, PageHeader, Pending } from "../../shared/ui";
import { NotShared } from "../lost";
import { useSweepActions } from "./actions";
import { allOf, type Counts, endedOf, SweepBar } from "./bar";
import { EntriesTable } from "./entries";
import { csvOf, topOf, usualOrder } from "./order";
import { SweepCurves, SweepParameters } from "./plots";

const AGAIN_MS = 2500;
/** Once all have ended, what was logged last is collected a moment later, and then only a retry changes anything. */
const SETTLED_S = 60;
const COMPARED = 20;

export function SweepDetailPage(): ReactNode {
  const { id } = useParams({ from: "/sweeps/$id" });
  const query = useKept(
    useQuery({
      queryKey: ["sweep", id],
      queryFn: ({ signal }) => readSweep(id, signal),
      refetchInterval: ({ state }) => (state.data && isOver(state.data) ? 2 * AGAIN_MS : AGAIN_MS),
    }),
  );
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="sweep" id={id} />;
  if (!query.data) return <Pending query={query} rows={8} />;
  return (
    <>
      <Outdated query={query} />
      <Shown sweep={query.data} />
    </>
  );
}

const isOver = (sweep: SweepDetail): boolean => endedOf(sweep.counts) === allOf(sweep.counts);

const isSettled = (found: SweepEntries | undefined): boolean =>
  found?.items.every((one) => one.ended_at !== null && found.at - one.ended_at > SETTLED_S) ?? false;

function Shown({ sweep }: { sweep: SweepDetail }): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/sweeps/$id" });
  const navigate = useNavigate({ from: "/sweeps/$id" });
  const update = (change: Partial<SweepSearch>): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const order = search.order ?? usualOrder(sweep);
  const over = isOver(sweep);
  const query = useKept(
    useQuery({
      queryKey: ["sweep", sweep.id, "entries", order],
      queryFn: ({ signal }) => readEntries(sweep.id, order, [], signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (!over ? AGAIN_MS : isSettled(state.data) ? 10 * AGAIN_MS : 2 * AGAIN_MS),
    }),
  );
  const tab = search.tab ?? "entries";
  const found = query.data;
  const parts = (entries: SweepEntries): Record<(typeof SWEEP_TABS)[number], () => ReactNode> => ({
    entries: () => (
      <EntriesTable
        sweep={sweep}
        found={entries}
        order={order}
        setOrder={(to) => update({ order: to === usualOrder(sweep) ? undefined : to })}
        stale={query.earlier}
      />
    ),
    curves: () => <SweepCurves sweep={sweep} found={entries} search={search} update={update} />,
    parameters: () => <SweepParameters sweep={sweep} found={entries} search={search} update={update} />,
  });
  return (
    <div data-testid="sweep-page">
      <Head sweep={sweep} found={found} />
      <div className="tm-panel tm-sweep-head">
        <SweepBar counts={sweep.counts} wide />
        {sweep.best && (
          <p data-testid="sweep-best">
            {t("sweeps.bestOf", { metric: sweep.metric ?? "" })}
            {t("mark.colon")}
            <strong className="tm-compare-best">{number(sweep.best.value)}</strong>{" "}
            <Link to="/jobs/$id" params={{ id: sweep.best.job }} search={{}}>
              {t("sweeps.entryAt", { n: sweep.best.index, step: number(sweep.best.step) })}
            </Link>
          </p>
        )}
      </div>
      <Outdated query={query} />
      {found ? (
        <Tabs
          activeKey={tab}
          onChange={(key) => {
            const to = SWEEP_TABS.find((one) => one === key);
            update({ tab: to === "entries" ? undefined : to });
          }}
          destroyOnHidden
          items={SWEEP_TABS.map((key) => ({
            key,
            label: <span data-testid={`sweep-tab-${key}`}>{t(`sweeps.tab.${key}`)}</span>,
            children: key === tab ? parts(found)[key]() : null,
          }))}
        />
      ) : (
        <Pending query={query} />
      )}
    </div>
  );
}

function Head({ sweep, found }: { sweep: SweepDetail; found: SweepEntries | undefined }): ReactNode {
  const { t } = useTranslation();
  const me = useSession()?.user.name;
  const { stop, retry, remove } = useSweepActions();
  const acts = sweep.may.includes("write");
  const over = isOver(sweep);
  const counts: Counts = sweep.counts;
  const failed = (counts.failed ?? 0) + (counts.expired ?? 0);
  const measured = (found?.metrics.length ?? 0) > 0;
  const best = found ? topOf(sweep, found.items, COMPARED).map((one) => one.job) : [];
  return (
    <>
      <Crumb>
        <Link to="/sweeps">{t("sweeps.title")}</Link>
      </Crumb>
      <PageHeader
        title={sweep.name}
        sub={
          <Dotted
            items={[
              <Fragment key="id">
                <span className="tm-mono">{sweep.id}</span>
                <CopyButton text={sweep.id} label={t("job.fact.id")} />
              </Fragment>,
              sweep.owner,
              <Ago key="at" at={sweep.created_at} />,
              t("sweeps.entries", { count: sweep.entries }),
            ]}
          />
        }
        actions={
          <>
            {acts && !over && (
              <Button danger icon={<StopOutlined />} onClick={() => stop(sweep)} data-testid="sweep-stop">
                {t("sweeps.stop")}
              </Button>
            )}
            {acts && failed > 0 && sweep.owner === me && (
              <Button icon={<RedoOutlined />} onClick={() => retry(sweep)} data-testid="sweep-retry">
                {t("sweeps.retry")}
              </Button>
            )}
            {best.length > 1 &&
              (measured ? (
                <ButtonLink to="/compare" search={{ job: best }} icon={<DiffOutlined />} data-testid="sweep-compare">
                  {t("sweeps.compare")}
                </ButtonLink>
              ) : (
                <Button disabled icon={<DiffOutlined />} title={t("compare.noMetrics")} data-testid="sweep-compare">
                  {t("sweeps.compare")}
                </Button>
              ))}
            <ButtonLink
              to="/jobs"
              search={{ sweep: sweep.id, who: "all" }}
              icon={<UnorderedListOutlined />}
              data-testid="sweep-jobs"
            >
              {t("sweeps.jobs")}
            </ButtonLink>
            {found && (
              <Button icon={<DownloadOutlined />} onClick={() => saveText(`${sweep.name}.csv`, csvOf(found))}>
                {t("sweeps.csv")}
              </Button>
            )}
            <ButtonLink to="/audit" search={{ subject: `sweep:${sweep.id}` }} icon={<AuditOutlined />}>
              {t("audit.link")}
            </ButtonLink>
            {acts && over && (
              <Button danger icon={<DeleteOutlined />} onClick={() => remove(sweep)} data-testid="sweep-delete">
                {t("sweeps.delete")}
              </Button>
            )}
          </>
        }
      />
    </>
  );
}
