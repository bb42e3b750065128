/** What is done to several jobs at once: those that are ticked, or all that match the filter (R193, R201, R202). */
import { ClockCircleOutlined, DeleteOutlined, StopOutlined } from "@ant-design/icons";
import { App, Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { toSeveral } from "../../api/jobs";
import { type Chosen, ENDED, type Job, type JobFilter, type State } from "../../api/types";
import { useJobActions } from "../../shared/actions";
import { ChangeLimits } from "./limits";
import { concerned } from "./query";
import { useReport } from "./report";

type Verb = "stop" | "delete";

/** All of a filter, as the page told of it: how many, in which states, until which moment. */
export interface Everything {
  filter: JobFilter;
  total: number;
  counts: Partial<Record<State, number>>;
  at: number;
}

/** What was submitted after the page was answered is not among them. */
export const chosenOf = ({ filter, total, at }: Everything): Chosen => ({
  filter: { ...filter, until: Math.min(filter.until ?? at, at) },
  expected: total,
});

export function Bulk({
  selected,
  everything,
  onlyShown,
  clear,
}: {
  selected: readonly Job[];
  /** All that match the filter, once they are chosen; those that are ticked are only some of them. */
  everything: Everything | undefined;
  onlyShown: () => void;
  clear: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const act = useJobActions();
  const toAll = useActOnAll();
  const [limits, setLimits] = useState<{ chosen: Chosen; count: number }>();
  if (selected.length === 0 && !everything) return null;
  const count = everything ? everything.total : selected.length;
  const live = everything
    ? concerned("change", everything.counts, everything.filter.state ?? [])
    : selected.filter((job) => !ENDED.has(job.state)).length;
  const run = (verb: Verb): void => (everything ? toAll(verb, everything, clear) : act(verb, [...selected], clear));
  const chosen = (): Chosen =>
    everything ? chosenOf(everything) : { ids: selected.filter((job) => !ENDED.has(job.state)).map((job) => job.id) };
  return (
    <div className="tm-bulk" role="toolbar" aria-label={t("jobs.selected", { count })} data-testid="bulk">
      <strong aria-live="polite">{t(everything ? "jobs.allSelected" : "jobs.selected", { count })}</strong>
      {everything && (
        <Button type="link" onClick={onlyShown} data-testid="only-shown">
          {t("jobs.onlyShown", { count: selected.length })}
        </Button>
      )}
      <Button icon={<StopOutlined />} disabled={live === 0} onClick={() => run("stop")} data-testid="bulk-stop">
        {t("action.stop")}
      </Button>
      <Button
        icon={<ClockCircleOutlined />}
        disabled={live === 0}
        onClick={() => setLimits({ chosen: chosen(), count: live })}
        data-testid="bulk-limit"
      >
        {t("jobs.limit.change")}
      </Button>
      <Button
        danger
        icon={<DeleteOutlined />}
        disabled={live === count}
        onClick={() => run("delete")}
        data-testid="bulk-delete"
      >
        {t("action.delete")}
      </Button>
      <Button type="text" onClick={clear} data-testid="bulk-clear">
        {t("action.clear")}
      </Button>
      {limits && <ChangeLimits {...limits} close={() => setLimits(undefined)} done={clear} />}
    </div>
  );
}

/** Ask, then stop or delete all of a filter, in as many requests as it takes; then say what became of them. */
function useActOnAll(): (verb: Verb, all: Everything, done: () => void) => void {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const report = useReport();
  return (verb, all, done) => {
    const count = concerned(verb, all.counts, all.filter.state ?? []);
    const skipped = all.total - count;
    modal.confirm({
      title: t(`jobs.${verb}.title`, { count }),
      width: 520,
      icon: null,
      content: (
        <div data-testid="confirm">
          <p>{t("jobs.ofFilter", { count: all.total })}</p>
          <p>{t(`jobs.${verb}.what`)}</p>
          {skipped > 0 && <p className="tm-faint">{t(`jobs.${verb}.skip`, { count: skipped })}</p>}
        </div>
      ),
      okText: t(`jobs.${verb}.ok`),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: async () => {
        await report(
          () => toSeveral(verb, chosenOf(all)),
          (found) => t(`jobs.${verb}.done`, { count: found }),
        );
        done();
      },
    });
  };
}
