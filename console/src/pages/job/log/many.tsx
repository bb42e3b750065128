/** The logs of several replicas on one page: merged by the time of their lines, or beside each other. */
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import type { AttemptView, TaskView } from "../../../api/types";
import { bytes, replicaName } from "../../../shared/format";
import { TaskState } from "../../../shared/state";
import { ErrorPanel } from "../../../shared/ui";
import type { TabProps } from "../tab";
import { type Look, LookSwitches, Untimed } from "./bar";
import { LogLines } from "./lines";
import { LogSession } from "./session";
import { TogetherSession } from "./together";

const MOST_MERGED = 16;
const MOST_BESIDE = 4;

interface Props {
  job: string;
  attempt: AttemptView;
  pick: ReactNode;
  look: Look;
}

/** So many of the replicas: where not all are shown, those that failed are. */
function someOf(tasks: readonly TaskView[], most: number): TaskView[] {
  if (tasks.length <= most) return [...tasks];
  const failed = (one: TaskView): boolean => one.state === "failed" || one.state === "lost";
  return [...tasks.filter(failed), ...tasks.filter((one) => !failed(one))].slice(0, most);
}

export function Merged({ job, attempt, pick, look, update }: Props & Pick<TabProps, "update">): ReactNode {
  const { t } = useTranslation();
  const chosen = someOf(attempt.tasks, MOST_MERGED);
  // By value: every answer brings new objects of the same replicas, and the session must stay.
  const key = JSON.stringify(chosen.map((one) => [replicaName(one), one.name]));
  const session = useMemo(
    () =>
      new TogetherSession(
        (JSON.parse(key) as [string, string][]).map(([name, task]) => ({
          name,
          address: { job, attempt: attempt.number, task },
        })),
      ),
    [job, attempt.number, key],
  );
  const view = useSyncExternalStore(session.subscribe, session.snapshot);
  const [pinned, setPinned] = useState(true);
  useEffect(() => {
    void session.open();
    return () => session.close();
  }, [session]);
  return (
    <div className="tm-panel tm-log-panel" data-testid="logs-together">
      <div className="tm-log-bar">
        {pick}
        <Left shown={chosen.length} of={attempt.tasks.length} />
        <span className="tm-grow" />
        <LookSwitches look={look} />
      </div>
      {view.error !== null && <ErrorPanel error={view.error} retry={() => void session.open()} />}
      <LogLines
        session={session}
        view={view}
        wrap={look.wrap}
        times={look.times}
        pinned={pinned}
        setPinned={setPinned}
        mark={null}
        current={null}
        names={chosen.map(replicaName)}
        pick={(line, who) => update({ logs: undefined, attempt: attempt.number, task: chosen[who]?.name, line })}
      />
      <div className="tm-log-foot">
        <span className="tm-num">{bytes(view.size)}</span>
        {view.untimed ? (
          <span data-testid="log-untimed">{t("job.log.unordered")}</span>
        ) : (
          <span>{t("job.log.byTime")}</span>
        )}
        {view.full && <span>{t("job.log.full")}</span>}
        <span className="tm-grow" />
        <Following ended={view.ended} loading={view.loading} pinned={pinned} set={setPinned} />
      </div>
    </div>
  );
}

export function Side({ job, attempt, pick, look }: Props): ReactNode {
  const chosen = someOf(attempt.tasks, MOST_BESIDE);
  return (
    <div className="tm-panel tm-log-panel" data-testid="logs-beside">
      <div className="tm-log-bar">
        {pick}
        <Left shown={chosen.length} of={attempt.tasks.length} />
        <span className="tm-grow" />
        <LookSwitches look={look} />
      </div>
      <div className="tm-log-side">
        {chosen.map((one) => (
          <Pane key={one.name} job={job} attempt={attempt.number} task={one} look={look} />
        ))}
      </div>
    </div>
  );
}

function Pane({ job, attempt, task, look }: { job: string; attempt: number; task: TaskView; look: Look }): ReactNode {
  const session = useMemo(() => new LogSession({ job, attempt, task: task.name }, "poll"), [job, attempt, task.name]);
  const view = useSyncExternalStore(session.subscribe, session.snapshot);
  const [pinned, setPinned] = useState(true);
  useEffect(() => {
    session.open();
    void session.end();
    return () => session.close();
  }, [session]);
  return (
    <section className="tm-log-pane" data-testid={`pane-${task.name}`}>
      <h3>
        {replicaName(task)} <TaskState phase={task.phase} exitCode={task.exit_code} />
      </h3>
      {view.error !== null && <ErrorPanel error={view.error} retry={() => void session.end()} />}
      <LogLines
        session={session}
        view={view}
        wrap={look.wrap}
        times={look.times}
        pinned={pinned}
        setPinned={setPinned}
        mark={null}
        current={null}
      />
      <div className="tm-log-foot">
        {look.times && <Untimed lines={view.lines} />}
        <span className="tm-grow" />
        <Following ended={view.ended} loading={view.loading} pinned={pinned} set={setPinned} />
      </div>
    </section>
  );
}

function Left({ shown, of }: { shown: number; of: number }): ReactNode {
  const { t } = useTranslation();
  return shown < of ? <span className="tm-faint">{t("job.log.some", { shown, of })}</span> : null;
}

function Following(props: {
  ended: boolean;
  loading: boolean;
  pinned: boolean;
  set: (on: boolean) => void;
}): ReactNode {
  const { t } = useTranslation();
  const { ended, loading, pinned, set } = props;
  if (ended) return <span>{t("job.log.end")}</span>;
  if (loading) return <span>{t("job.log.loading")}</span>;
  return (
    <button
      type="button"
      className={pinned ? "tm-follow tm-on" : "tm-follow"}
      onClick={() => set(!pinned)}
      aria-pressed={pinned}
    >
      <i />
      {pinned ? t("job.log.following") : t("job.log.paused")}
    </button>
  );
}
