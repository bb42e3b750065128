/** Search, states with their counts, submitter, framework, order. The address bar holds all of it, so a view can be shared. */
import { CloseCircleFilled, SearchOutlined } from "@ant-design/icons";
import { Button, Input, Select } from "antd";
import { type ReactNode, useEffect, useEffectEvent, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Job, STATES, type State } from "../../api/types";
import type { JobsSearch } from "../../shared/address";
import { useFrameworkTitle } from "../../shared/meta";
import { toneOf } from "../../shared/state";

const ORDERS = ["-submitted_at", "submitted_at", "name", "-run_s", "-priority"] as const;
const TYPING_MS = 250;

interface Props {
  search: JobsSearch;
  /** Undefined before the first answer. */
  counts: Partial<Record<State, number>> | undefined;
  items: Job[];
  update: (change: Partial<JobsSearch>) => void;
}

export function Filters({ search, counts, items, update }: Props): ReactNode {
  const { t } = useTranslation();
  const title = useFrameworkTitle();
  const owners = useMemo(
    () =>
      known(
        items.map((job) => job.owner),
        search.owner,
      ),
    [items, search.owner],
  );
  const frameworks = useMemo(
    () =>
      known(
        items.map((job) => job.framework),
        search.framework,
        title,
      ),
    [items, search.framework, title],
  );
  return (
    <div className="tm-filters">
      <div className="tm-filter-line">
        <SearchBox value={search.q ?? ""} onChange={(q) => update({ q: q || undefined })} />
        <Select
          allowClear
          placeholder={t("jobs.filter.owner")}
          value={search.owner}
          options={owners}
          onChange={(owner?: string) => update({ owner })}
          className="tm-select"
          showSearch
          aria-label={t("jobs.filter.owner")}
        />
        <Select
          allowClear
          placeholder={t("jobs.filter.framework")}
          value={search.framework}
          options={frameworks}
          onChange={(framework?: string) => update({ framework })}
          className="tm-select"
          aria-label={t("jobs.filter.framework")}
        />
        <Select
          value={search.order ?? "-submitted_at"}
          onChange={(order: string) => update({ order: order === "-submitted_at" ? undefined : order })}
          className="tm-select"
          aria-label={t("jobs.filter.sort")}
          options={ORDERS.map((order) => ({ value: order, label: t(`jobs.sort.${order}`) }))}
        />
        {search.node && (
          <Button onClick={() => update({ node: undefined })} icon={<CloseCircleFilled />}>
            {search.node}
          </Button>
        )}
      </div>
      <StateChips
        chosen={search.state ?? []}
        counts={counts}
        update={(state) => update({ state: state.length > 0 ? state : undefined })}
      />
    </div>
  );
}

function known(
  values: string[],
  chosen: string | undefined,
  label = (value: string): string => value,
): { value: string; label: string }[] {
  return [...new Set(chosen ? [...values, chosen] : values)].sort().map((value) => ({ value, label: label(value) }));
}

function SearchBox({ value, onChange }: { value: string; onChange: (text: string) => void }): ReactNode {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const typed = useEffectEvent(onChange); // it is new on every render; only what was typed matters
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => typed(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <Input
      allowClear
      prefix={<SearchOutlined />}
      placeholder={t("jobs.search")}
      value={text}
      onChange={(e) => setText(e.target.value)}
      className="tm-search"
      data-testid="search"
      aria-label={t("jobs.search")}
    />
  );
}

function StateChips({
  chosen,
  counts: known,
  update,
}: {
  chosen: string[];
  counts: Partial<Record<State, number>> | undefined;
  update: (states: string[]) => void;
}): ReactNode {
  const { t } = useTranslation();
  const counts = known ?? {};
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = STATES.filter((state) => (counts[state] ?? 0) > 0 || chosen.includes(state));
  const toggle = (state: string): void =>
    update(chosen.includes(state) ? chosen.filter((s) => s !== state) : [...chosen, state]);
  return (
    <div className="tm-chips" role="group" aria-label={t("jobs.col.state")}>
      <button
        type="button"
        className="tm-chip"
        aria-pressed={chosen.length === 0}
        onClick={() => update([])}
        data-testid="chip-all"
      >
        {t("jobs.all")} {known && <b className="tm-num">{total}</b>}
      </button>
      {shown.map((state) => (
        <button
          type="button"
          key={state}
          className="tm-chip"
          aria-pressed={chosen.includes(state)}
          onClick={() => toggle(state)}
          data-testid={`chip-${state}`}
        >
          <i className={`tm-fill-${toneOf(state)}`} />
          {t(`state.${state}`)} {known && <b className="tm-num">{counts[state] ?? 0}</b>}
        </button>
      ))}
    </div>
  );
}
