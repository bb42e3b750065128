/** The logs of a job: of one replica, of all in one by time, or beside each other (R206-R208, R221). */
import { Segmented, Select, Space } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { replicaName } from "../../../shared/format";
import { Empty } from "../../../shared/ui";
import { useMedia } from "../../../theme";
import type { TabProps } from "../tab";
import { PHONE, useLogLook } from "./bar";
import { Merged, Side } from "./many";
import { OneLog } from "./one";

export function Logs({ job, search, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const look = useLogLook();
  const last = job.attempt_list[job.attempt_list.length - 1];
  const attempt = job.attempt_list.find((a) => a.number === search.attempt) ?? last;
  const task = attempt?.tasks.find((one) => one.name === search.task) ?? attempt?.tasks[0];
  if (!attempt || !task)
    return (
      <div className="tm-panel">
        <Empty title={t("job.log.notStarted")} />
      </div>
    );
  const several = attempt.tasks.length > 1;
  const view = several ? search.logs : undefined;
  const see = (to: LogView): void => update({ logs: to === "one" ? undefined : to, line: undefined, find: undefined });
  const pick = (
    <Space wrap size={8}>
      {several && <View value={view ?? "one"} choose={see} />}
      {job.attempt_list.length > 1 && (
        <Select
          value={attempt.number}
          onChange={(number: number) => update({ attempt: number, line: undefined })}
          data-testid="log-attempt"
          aria-label={t("job.log.attempt")}
          options={job.attempt_list.map((a) => ({
            value: a.number,
            label: t("job.timeline.attempt", { n: a.number }),
          }))}
        />
      )}
      {view === undefined && (
        <Select
          value={task.name}
          showSearch
          onChange={(name: string) => update({ task: name, line: undefined })}
          className="tm-select-task"
          data-testid="log-task"
          aria-label={t("job.log.pick")}
          optionFilterProp="label"
          options={attempt.tasks.map((one) => ({ value: one.name, label: replicaName(one) }))}
        />
      )}
    </Space>
  );
  const props = { job: job.id, attempt, pick, look };
  if (view === "merged") return <Merged key={attempt.number} {...props} update={update} />;
  if (view === "side") return <Side key={attempt.number} {...props} />;
  return (
    <OneLog
      key={`${attempt.number}/${task.name}`}
      address={{ job: job.id, attempt: attempt.number, task: task.name }}
      line={search.line}
      find={search.find ?? ""}
      pick={pick}
      look={look}
    />
  );
}

const VIEWS = ["one", "merged", "side"] as const;
type LogView = (typeof VIEWS)[number];

/** On a phone a list that opens: with the choice of a replica it takes one line. */
function View({ value, choose }: { value: LogView; choose: (to: LogView) => void }): ReactNode {
  const { t } = useTranslation();
  const options = VIEWS.map((one) => ({
    value: one,
    label: <span data-testid={`logs-${one}`}>{t(`job.log.view.${one}`)}</span>,
  }));
  const props = { value, onChange: choose, options, "aria-label": t("job.log.view.label") };
  return useMedia(PHONE) ? (
    <Select<LogView> {...props} data-testid="logs-view" popupMatchSelectWidth={false} />
  ) : (
    <Segmented<LogView> {...props} />
  );
}
