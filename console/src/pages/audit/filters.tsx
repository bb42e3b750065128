/** What the audit is cut to: subject, person, kind, how, workspace, time. */
import { SearchOutlined } from "@ant-design/icons";
import { Button, Input, Select, Tag } from "antd";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import type { AuditSearch } from "../../shared/address";
import { shortId } from "../../shared/format";
import { ACTORS, isFiltered, KINDS, SPANS, SUBJECTS, subjectOf } from "./filter";

interface Props {
  search: AuditSearch;
  update: (change: Partial<AuditSearch>) => void;
  clear: () => void;
}

export function Filters({ search, update, clear }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-filters" role="search" aria-label={t("audit.filter")}>
      <div className="tm-filter-line">
        <Text of="by" search={search} update={update} />
        <SubjectSelect search={search} update={update} />
        <Choice of="kind" known={KINDS} search={search} update={update} words={(kind) => t(`audit.kinds.${kind}`)} />
        <Choice of="actor" known={ACTORS} search={search} update={update} words={(one) => t(`audit.actors.${one}`)} />
        <Text of="workspace" search={search} update={update} />
        <Choice of="since" known={SPANS} search={search} update={update} words={(span) => t(`audit.spans.${span}`)} />
        {isFiltered(search) && (
          <Button type="link" onClick={clear} data-testid="audit-clear">
            {t("audit.clear")}
          </Button>
        )}
      </div>
    </div>
  );
}

/** A subject's kind; one subject alone, which a link led to, is a tag beside it. */
function SubjectSelect({ search, update }: Omit<Props, "clear">): ReactNode {
  const { t } = useTranslation();
  const { kind, name } = subjectOf(search.subject);
  if (name)
    return (
      <Tag closable className="tm-tag" onClose={() => update({ subject: undefined })} data-testid="audit-subject">
        {SUBJECTS.some((one) => one === kind) ? t(`audit.subjects.${kind as (typeof SUBJECTS)[number]}`) : kind}{" "}
        <span title={name}>{kind === "job" ? shortId(name) : name}</span>
      </Tag>
    );
  return (
    <Choice of="subject" known={SUBJECTS} search={search} update={update} words={(one) => t(`audit.subjects.${one}`)} />
  );
}

function Choice<T extends string>({
  of,
  known,
  search,
  update,
  words,
}: Omit<Props, "clear"> & {
  of: "kind" | "actor" | "since" | "subject";
  known: readonly T[];
  words: (one: T) => string;
}): ReactNode {
  const { t } = useTranslation();
  const chosen = search[of];
  const options = known.map((value) => ({ value: value as string, label: words(value) }));
  if (chosen && !known.some((one) => one === chosen)) options.push({ value: chosen, label: chosen });
  return (
    <Select<string>
      allowClear
      showSearch={{ optionFilterProp: "label" }}
      className="tm-select"
      popupMatchSelectWidth={false}
      value={chosen}
      placeholder={t(`audit.by.${of}`)}
      aria-label={t(`audit.by.${of}`)}
      options={options}
      onChange={(value) => update({ [of]: value })}
      data-testid={`audit-${of}`}
    />
  );
}

const TYPING_MS = 400;

function Text({ of, search, update }: Omit<Props, "clear"> & { of: "by" | "workspace" }): ReactNode {
  const { t } = useTranslation();
  const value = search[of] ?? "";
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed matters.
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => update({ [of]: text.trim() || undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Input
      allowClear
      prefix={of === "by" ? <SearchOutlined /> : undefined}
      className="tm-select tm-short"
      value={text}
      onChange={(e) => setText(e.target.value)}
      placeholder={t(`audit.by.${of}`)}
      aria-label={t(`audit.by.${of}`)}
      data-testid={of === "by" ? "audit-search" : `audit-${of}`}
    />
  );
}
