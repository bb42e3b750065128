/** Jobs side by side: results, what differs, curves over each other, parameters against results, code. The address holds the whole view. */
import { DownloadOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Alert, Button, Tabs } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readComparison } from "../../api/compare";
import { type Comparison, ENDED } from "../../api/types";
import { COMPARE_TABS, type CompareSearch } from "../../shared/address";
import { saveText } from "../../shared/download";
import { useKept } from "../../shared/kept";
import { CopyButton, Crumb, Empty, Outdated, PageHeader, Pending } from "../../shared/ui";
import { AddJob } from "./add";
import { CodeTab } from "./code";
import { DifferencesTab } from "./differences";
import { CurvesTab } from "./overlay";
import { ParametersTab } from "./parameters";
import type { PartProps } from "./part";
import { Results } from "./results";
import { csvOf } from "./table";

const AGAIN_MS = 5000;

export function ComparePage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/compare" });
  const navigate = useNavigate({ from: "/compare" });
  const jobs = search.job ?? [];
  const query = useKept(
    useQuery({
      queryKey: ["compare", jobs],
      queryFn: ({ signal }) => readComparison(jobs, signal),
      enabled: jobs.length > 0,
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (state.data && changes(state.data) ? AGAIN_MS : false),
    }),
  );
  const update = (change: Partial<CompareSearch>): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const found = jobs.length > 0 ? query.data : undefined;
  const add = <AddJob jobs={found?.jobs.map((job) => job.id) ?? jobs} add={(id) => update({ job: [...jobs, id] })} />;
  return (
    <div data-testid="compare-page">
      <Crumb>
        <Link to="/jobs" search={{}}>
          {t("jobs.title")}
        </Link>
      </Crumb>
      <PageHeader
        title={t("compare.title")}
        sub={found ? t("compare.count", { count: found.jobs.length }) : undefined}
        actions={
          <>
            {add}
            {found && (
              <>
                <Button
                  icon={<DownloadOutlined />}
                  onClick={() => saveText("compare.csv", csvOf(found, search.all === true))}
                  data-testid="compare-csv"
                >
                  {t("compare.csv")}
                </Button>
                <CopyButton text={window.location.href} label={t("compare.link")} alone />
              </>
            )}
          </>
        }
      />
      <Outdated query={query} />
      {jobs.length === 0 ? (
        <div className="tm-panel">
          <Empty title={t("compare.none")}>
            <p className="tm-faint">{t("compare.noneHint")}</p>
          </Empty>
        </div>
      ) : found ? (
        <Compared found={found} search={search} update={update} />
      ) : (
        <Pending query={query} />
      )}
    </div>
  );
}

const changes = (found: Comparison): boolean =>
  found.partial.length > 0 || found.jobs.some((job) => !ENDED.has(job.state));

function Compared(props: PartProps): ReactNode {
  const { found, search, update } = props;
  const { t } = useTranslation();
  const parts = {
    differences: () => <DifferencesTab {...props} />,
    curves: () => <CurvesTab {...props} />,
    parameters: () => <ParametersTab {...props} />,
    code: () => <CodeTab {...props} />,
  };
  const tab = search.tab ?? "differences";
  return (
    <div className="tm-stack">
      {found.partial.length > 0 && <Alert type="info" showIcon title={t("compare.partial")} />}
      {found.unreadable.length > 0 && (
        <Alert type="warning" showIcon title={t("compare.unreadable", { names: found.unreadable.join(", ") })} />
      )}
      {found.jobs.length === 1 && <Alert type="info" showIcon title={t("compare.one")} />}
      <Results {...props} />
      <Tabs
        activeKey={tab}
        onChange={(key) => {
          const to = COMPARE_TABS.find((one) => one === key);
          update({ tab: to === "differences" ? undefined : to });
        }}
        destroyOnHidden
        items={COMPARE_TABS.map((key) => ({
          key,
          label: <span data-testid={`compare-tab-${key}`}>{t(`compare.tab.${key}`)}</span>,
          children: key === tab ? parts[key]() : null,
        }))}
      />
    </div>
  );
}
