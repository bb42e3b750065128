/** The page of one job: what it is, how it goes, why it ended, and everything it left behind. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Tabs } from "antd";
import { lazy, type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { readJob } from "../../api/jobs";
import { ENDED, type JobDetail } from "../../api/types";
import type { JobTab } from "../../shared/address";
import { useKept } from "../../shared/kept";
import { Outdated, Pending } from "../../shared/ui";
import { NotShared } from "../lost";
import { Events } from "./events";
import { Files } from "./files";
import { JobHeader } from "./header";
import { LineageTab } from "./lineage";
import { Overview } from "./overview";
import type { TabProps } from "./tab";
import { VerdictBox } from "./verdict";

const Logs = lazy(() => import("./log").then((m) => ({ default: m.Logs })));
const Metrics = lazy(() => import("./metrics").then((m) => ({ default: m.MetricsTab })));
const Usage = lazy(() => import("./usage").then((m) => ({ default: m.UsageTab })));
const Document = lazy(() => import("./document").then((m) => ({ default: m.DocumentTab })));

const TABS: [JobTab, (props: TabProps) => ReactNode][] = [
  ["overview", (props) => <Overview {...props} />],
  ["logs", (props) => <Logs {...props} />],
  ["metrics", (props) => <Metrics {...props} />],
  ["usage", (props) => <Usage {...props} />],
  ["events", (props) => <Events {...props} />],
  ["files", (props) => <Files {...props} />],
  ["lineage", (props) => <LineageTab {...props} />],
  ["json", (props) => <Document {...props} />],
];

/** How often a job is read again, beside what the feed tells: how far its inputs and outputs are makes no event. */
function paceOf(job: JobDetail | undefined): number | false {
  if (job === undefined) return 20_000;
  if (job.uploads.some(({ state }) => state === "going")) return 5_000;
  if (ENDED.has(job.state)) return false;
  return job.state === "initialising" && job.reason ? 2_000 : 20_000;
}

export function JobPage(): ReactNode {
  const { t } = useTranslation();
  const { id } = useParams({ from: "/jobs/$id" });
  const search = useSearch({ from: "/jobs/$id" });
  const navigate = useNavigate({ from: "/jobs/$id" });
  const query = useQuery({
    queryKey: ["job", id],
    queryFn: ({ signal }) => readJob(id, signal),
    refetchInterval: (q) => paceOf(q.state.data),
  });
  const kept = useKept(query);
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="job" id={id} />;
  if (!query.data) return <Pending query={query} rows={12} />;
  const props: TabProps = {
    job: query.data,
    search,
    // The way back leads to the tab before, not through every setting of this one.
    update: (change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: change.tab === undefined }),
  };
  return (
    <div className="tm-job" data-testid="job-page" data-id={query.data.id} data-state={query.data.state}>
      <JobHeader job={query.data} />
      <Outdated query={kept} />
      <VerdictBox {...props} />
      <Tabs
        activeKey={search.tab ?? "overview"}
        destroyOnHidden
        onChange={(tab) => props.update({ tab: tab as JobTab, line: undefined, find: undefined, path: undefined })}
        items={TABS.map(([key, draw]) => ({
          key,
          label: <span data-testid={`tab-${key}`}>{t(`job.tab.${key}`)}</span>,
          children: (
            <Suspense fallback={<Pending query={{ error: null, refetch: () => undefined }} />}>{draw(props)}</Suspense>
          ),
        }))}
      />
    </div>
  );
}
