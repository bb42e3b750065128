/** What is done to several jobs at once: those that are ticked, or all that match the filter (R193, R201, R202). */
import {
  ClockCircleOutlined,
  DeleteOutlined,
  DiffOutlined,
  ShareAltOutlined,
  StopOutlined,
  TagOutlined,
} from "@ant-design/icons";
import { App, Button, Dropdown } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { toSeveral } from "../../api/jobs";
import { type Chosen, ENDED, type Job, type JobFilter, type JobShare, type State } from "../../api/types";
import { useJobActions } from "../../shared/actions";
import { ButtonLink } from "../../shared/link";
import { SHARES } from "../../shared/people";
import { ChangeLimits } from "./limits";
import { concerned } from "./query";
import { useReport } from "./report";
import { ChangeTags } from "./tags";

type Verb = "stop" | "delete";
/** The most jobs that the server puts side by side. */
const MOST_COMPARED = 50;

/** All of a filter, as the page told of it: how many, in which states, until which moment. */
export interface Everything {
  filter: JobFilter;
  total: number;
  counts: Partial<Record<State, number>>;
  at: number;
  /** There are more than were counted. */
  partial: boolean;
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
  const report = useReport();
  const [tagged, setTagged] = useState<Chosen>();
  const [limits, setLimits] = useState<{ chosen: Chosen; count: number }>();
  if (selected.length === 0 && !everything) return null;
  const count = everything ? everything.total : selected.length;
  const live = everything
    ? concerned("change", everything.counts, everything.filter.state ?? [])
    : selected.filter((job) => !ENDED.has(job.state)).length;
  const run = (verb: Verb): void => (everything ? toAll(verb, everything, clear) : act(verb, [...selected], clear));
  const chosen = (): Chosen =>
    everything ? chosenOf(everything) : { ids: selected.filter((job) => !ENDED.has(job.state)).map((job) => job.id) };
  const whole = (): Chosen => (everything ? chosenOf(everything) : { ids: selected.map((job) => job.id) });
  const share = (level: JobShare): void =>
    void report(
      () => toSeveral("share", whole(), { share: level }),
      (found) => t("jobs.shareMany.done", { count: found }),
    ).then(clear, () => undefined);
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
      <Button icon={<TagOutlined />} onClick={() => setTagged(whole())} data-testid="bulk-tag">
        {t("jobs.tags.change")}
      </Button>
      <Dropdown
        trigger={["click"]}
        menu={{
          items: SHARES.map((level) => ({
            key: level,
            label: <span data-testid={`bulk-share-${level}`}>{t(`job.share.${level}`)}</span>,
            onClick: () => share(level),
          })),
        }}
      >
        <Button icon={<ShareAltOutlined />} data-testid="bulk-share">
          {t("jobs.shareMany.title")}
        </Button>
      </Dropdown>
      {!everything && selected.length > 1 && selected.length <= MOST_COMPARED && (
        <ButtonLink
          to="/compare"
          search={{ job: selected.map((job) => job.id) }}
          icon={<DiffOutlined />}
          data-testid="bulk-compare"
        >
          {t("compare.action")}
        </ButtonLink>
      )}
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
      {tagged && <ChangeTags chosen={tagged} count={count} close={() => setTagged(undefined)} done={clear} />}
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
          <p>{t(`jobs.${verb}.what`, { count })}</p>
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
