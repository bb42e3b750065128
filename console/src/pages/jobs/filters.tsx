/** Search, states with their counts, and what else the list can be cut to. The address bar holds all of it, so a view can be shared. */
import { SearchOutlined, StarFilled, StarOutlined } from "@ant-design/icons";
import { Button, Input, Select, Tag } from "antd";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { type FacetValue, type JobFacets, STATES, type State } from "../../api/types";
import type { JobsSearch } from "../../shared/address";
import { labelFilter, number } from "../../shared/format";
import { useFrameworkTitle } from "../../shared/meta";
import { toneOf } from "../../shared/state";
import { isDay, isFiltered, SPANS, statesOf } from "./query";

const TYPING_MS = 250;
const FACETS = ["workspace", "owner", "pool", "node", "framework", "flavor"] as const;
type Facet = (typeof FACETS)[number];

interface Props {
  search: JobsSearch;
  /** Undefined before the first answer. */
  counts: Partial<Record<State, number>> | undefined;
  facets: JobFacets | undefined;
  mine: boolean;
  update: (change: Partial<JobsSearch>) => void;
  clear: () => void;
}

export function Filters({ search, counts, facets, mine, update, clear }: Props): ReactNode {
  const { t } = useTranslation();
  const framework = useFrameworkTitle();
  const shown = FACETS.filter(
    (facet) => !(mine && facet === "owner") && ((facets?.[facet].length ?? 0) > 1 || search[facet] !== undefined),
  );
  return (
    <div className="tm-filters" role="search" aria-label={t("jobs.search")}>
      <div className="tm-filter-line">
        <SearchBox value={search.q ?? ""} onChange={(q) => update({ q: q || undefined })} />
        {shown.map((facet) => (
          <FacetSelect
            key={facet}
            facet={facet}
            values={facets?.[facet] ?? []}
            partial={facets?.partial ?? false}
            chosen={search[facet]}
            words={facet === "framework" ? framework : String}
            choose={(value) => update({ [facet]: value })}
          />
        ))}
        <AlgorithmSelect facets={facets} search={search} update={update} />
        <OutputBox value={search.output ?? ""} onChange={(output) => update({ output: output || undefined })} />
        <LabelSelect
          facets={facets}
          choose={(label) => search.q?.includes(label) || update({ q: [search.q, label].filter(Boolean).join(" ") })}
        />
        <TagSelect facets={facets} chosen={search.tag} choose={(tag) => update({ tag })} />
        <Button
          type={search.favorite ? "primary" : "default"}
          ghost={search.favorite === true}
          icon={search.favorite ? <StarFilled /> : <StarOutlined />}
          aria-pressed={search.favorite === true}
          onClick={() => update({ favorite: search.favorite ? undefined : true })}
          data-testid="filter-favorite"
        >
          {t("jobs.favorite.only")}
        </Button>
        {search.sweep && (
          <Tag closable onClose={() => update({ sweep: undefined })} className="tm-chip" data-testid="filter-sweep">
            {t("jobs.sweep.only")}
          </Tag>
        )}
        <TimeFilter search={search} update={update} />
        {isFiltered(search) && (
          <Button type="link" onClick={clear} data-testid="clear-filters">
            {t("jobs.clearFilters")}
          </Button>
        )}
      </div>
      <StateChips
        chosen={statesOf(search)}
        counts={counts}
        update={(states) => update({ state: states.length > 0 ? states.join(",") : undefined })}
      />
    </div>
  );
}

/** What is typed, once the typing pauses. */
function useTyped(value: string, onChange: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const typed = useEffectEvent(onChange); // it is new on every render; only what was typed matters
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => typed(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return [text, setText];
}

interface Typed {
  value: string;
  onChange: (text: string) => void;
}

function SearchBox({ value, onChange }: Typed): ReactNode {
  const { t } = useTranslation();
  const [text, setText] = useTyped(value, onChange);
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
      title={t("jobs.searchHint")}
      maxLength={200}
    />
  );
}

/** Where results go: a place of object storage or a folder above it, or the model that they become (R199). */
function OutputBox({ value, onChange }: Typed): ReactNode {
  const { t } = useTranslation();
  const [text, setText] = useTyped(value, onChange);
  return (
    <Input
      allowClear
      prefix={<span className="tm-select-label">{t("jobs.filter.output")}</span>}
      placeholder={t("jobs.filter.outputHint")}
      value={text}
      onChange={(e) => setText(e.target.value)}
      className="tm-output"
      data-testid="filter-output"
      aria-label={t("jobs.filter.output")}
      maxLength={600}
    />
  );
}

const any = (text: string): ReactNode => <span className="tm-any">{text}</span>;

function FacetSelect({
  facet,
  values,
  partial,
  chosen,
  words,
  choose,
}: {
  facet: Facet;
  values: readonly FacetValue[];
  partial: boolean;
  chosen: string | undefined;
  words: (value: string) => string;
  choose: (value: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const known = values.map(({ value, jobs }) => ({ value, label: words(value), jobs: partial ? undefined : jobs }));
  const options =
    chosen === undefined || known.some(({ value }) => value === chosen)
      ? known
      : [{ value: chosen, label: words(chosen), jobs: partial ? undefined : 0 }, ...known];
  return (
    <Select
      allowClear
      showSearch={options.length > 8 ? { optionFilterProp: "label" } : false}
      prefix={<span className="tm-select-label">{t(`jobs.filter.${facet}`)}</span>}
      placeholder={any(t("jobs.any"))}
      value={chosen}
      options={options}
      optionRender={(option) => (
        <Counted label={String(option.data.label)} jobs={option.data["jobs"] as number | undefined} />
      )}
      onChange={(value?: string) => choose(value)}
      className="tm-select"
      popupMatchSelectWidth={false}
      aria-label={t(`jobs.filter.${facet}`)}
      data-testid={`filter-${facet}`}
    />
  );
}

/** No algorithm is called so. */
const FAVORITES = "*";

/** One algorithm, or all of one's favorites (R199). */
function AlgorithmSelect({ facets, search, update }: Pick<Props, "facets" | "search" | "update">): ReactNode {
  const { t } = useTranslation();
  const known = facets?.algorithm ?? [];
  const chosen = search.favorite_algorithm ? FAVORITES : search.algorithm;
  if (known.length === 0 && chosen === undefined) return null;
  const count = (jobs: number): number | undefined => (facets?.partial ? undefined : jobs);
  const absent = search.algorithm !== undefined && !known.some(({ value }) => value === search.algorithm);
  return (
    <Select
      allowClear
      showSearch={known.length > 8 ? { optionFilterProp: "label" } : false}
      prefix={<span className="tm-select-label">{t("jobs.filter.algorithm")}</span>}
      placeholder={any(t("jobs.any"))}
      value={chosen}
      options={[
        { value: FAVORITES, label: t("jobs.filter.favoriteAlgorithms"), jobs: undefined },
        ...(absent && search.algorithm ? [{ value: search.algorithm, label: search.algorithm, jobs: undefined }] : []),
        ...known.map(({ value, jobs }) => ({ value, label: value, jobs: count(jobs) })),
      ]}
      optionRender={(option) => (
        <Counted label={String(option.data.label)} jobs={option.data["jobs"] as number | undefined} />
      )}
      onChange={(value?: string) =>
        update({
          algorithm: value === FAVORITES ? undefined : value,
          favorite_algorithm: value === FAVORITES || undefined,
        })
      }
      className="tm-select"
      popupMatchSelectWidth={false}
      aria-label={t("jobs.filter.algorithm")}
      data-testid="filter-algorithm"
    />
  );
}

function Counted({ label, jobs }: { label: string; jobs: number | undefined }): ReactNode {
  return (
    <span className="tm-counted">
      <span className="tm-ellipsis" title={label}>
        {label}
      </span>
      {jobs !== undefined && <span className="tm-num tm-faint">{number(jobs)}</span>}
    </span>
  );
}

/** What is chosen stands in the search, where it can be read and changed. */
function LabelSelect({
  facets,
  choose,
}: {
  facets: JobFacets | undefined;
  choose: (label: string) => void;
}): ReactNode {
  const { t } = useTranslation();
  if (!facets || facets.labels.length === 0) return null;
  const count = (jobs: number): number | undefined => (facets.partial ? undefined : jobs);
  return (
    <Select<string>
      showSearch={{ optionFilterProp: "text" }}
      prefix={<span className="tm-select-label">{t("jobs.filter.label")}</span>}
      placeholder={any(t("jobs.any"))}
      value={null}
      options={facets.labels.map(({ key, jobs, values }) => ({
        label: key,
        options: [
          { value: labelFilter([key, ""]), label: t("jobs.anyValue", { key }), text: key, jobs: count(jobs) },
          ...values
            .filter(({ value }) => value !== "")
            .map(({ value, jobs: of }) => ({
              value: labelFilter([key, value]),
              label: `${key}=${value}`,
              text: `${key}=${value}`,
              jobs: count(of),
            })),
        ],
      }))}
      optionRender={(option) => (
        <Counted label={String(option.data.label)} jobs={option.data["jobs"] as number | undefined} />
      )}
      onChange={choose}
      className="tm-select"
      popupMatchSelectWidth={false}
      aria-label={t("jobs.filter.label")}
      data-testid="filter-label"
    />
  );
}

function TagSelect({
  facets,
  chosen,
  choose,
}: {
  facets: JobFacets | undefined;
  chosen: string | undefined;
  choose: (tag: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const known = facets?.tags ?? [];
  if (known.length === 0 && chosen === undefined) return null;
  return (
    <Select
      allowClear
      showSearch
      prefix={<span className="tm-select-label">{t("jobs.filter.tag")}</span>}
      placeholder={any(t("jobs.any"))}
      value={chosen}
      options={known.map(({ value, jobs }) => ({ value, label: value, jobs: facets?.partial ? undefined : jobs }))}
      optionRender={(option) => (
        <Counted label={String(option.data.label)} jobs={option.data["jobs"] as number | undefined} />
      )}
      onChange={(value?: string) => choose(value)}
      className="tm-select"
      popupMatchSelectWidth={false}
      aria-label={t("jobs.filter.tag")}
      data-testid="filter-tag"
    />
  );
}

function TimeFilter({ search, update }: Pick<Props, "search" | "update">): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const days = open || isDay(search.since) || search.until !== undefined;
  const value = days ? "days" : search.since;
  const spans: string[] = search.since && !days ? [...new Set([...SPANS, search.since])] : [...SPANS];
  return (
    <>
      <Select
        allowClear
        prefix={<span className="tm-select-label">{t("jobs.filter.submitted")}</span>}
        placeholder={any(t("jobs.any"))}
        value={value}
        options={[
          ...spans.map((span) => ({
            value: span,
            label: (SPANS as readonly string[]).includes(span) ? t(`jobs.since.${span as "1h"}`) : span,
          })),
          { value: "days", label: t("jobs.since.days") },
        ]}
        onChange={(chosen?: string) => {
          setOpen(chosen === "days");
          update({ since: chosen === "days" ? undefined : chosen, until: undefined });
        }}
        className="tm-select"
        popupMatchSelectWidth={false}
        aria-label={t("jobs.filter.submitted")}
        data-testid="filter-submitted"
      />
      {days &&
        (["since", "until"] as const).map((edge) => (
          <label key={edge} className="tm-day">
            <span>{t(`jobs.${edge}Day`)}</span>
            <input
              type="date"
              value={isDay(search[edge]) ? search[edge] : ""}
              onChange={(event) => update({ [edge]: event.target.value || undefined })}
              data-testid={`day-${edge}`}
            />
          </label>
        ))}
    </>
  );
}

function StateChips({
  chosen,
  counts: known,
  update,
}: {
  chosen: State[];
  counts: Partial<Record<State, number>> | undefined;
  update: (states: State[]) => void;
}): ReactNode {
  const { t } = useTranslation();
  const counts = known ?? {};
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = STATES.filter((state) => (counts[state] ?? 0) > 0 || chosen.includes(state));
  const toggle = (state: State): void =>
    update(chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state]);
  return (
    <div className="tm-chips" role="group" aria-label={t("jobs.col.state")}>
      <button
        type="button"
        className="tm-chip"
        aria-pressed={chosen.length === 0}
        onClick={() => update([])}
        data-testid="chip-all"
      >
        {t("jobs.all")} {known && <b className="tm-num">{number(total)}</b>}
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
          {t(`state.${state}`)} {known && <b className="tm-num">{number(counts[state] ?? 0)}</b>}
        </button>
      ))}
    </div>
  );
}
