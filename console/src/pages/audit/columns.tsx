/** An entry of the audit as a row: when, who and from where, to what, what; and what became of each field. */
import { Link } from "@tanstack/react-router";
import type { TableColumnsType } from "antd";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AuditEvent } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration, shortId } from "../../shared/format";
import { DataTable } from "../../shared/table";
import { Stamp } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { isMade, isRemoved, SUBJECTS, valueText } from "./filter";

type Change = AuditEvent["changes"][number];

export function useColumns(): TableColumnsType<AuditEvent> {
  const { t } = useTranslation();
  const pick = useBilingual();
  return [
    { title: t("audit.when"), key: "when", width: 150, render: (_, { at }) => <Stamp at={at} /> },
    { title: t("audit.who"), key: "who", width: 210, render: (_, event) => <Who event={event} /> },
    { title: t("audit.subject"), key: "subject", width: 230, render: (_, { subject }) => <SubjectCell of={subject} /> },
    { title: t("audit.what"), key: "what", render: (_, { text }) => <span className="tm-break">{pick(text)}</span> },
  ];
}

/** Their name, and from where they did it: "" where that is not known. */
function whoOf({ by, actor }: AuditEvent, t: TFunction): [name: string, from: string] {
  const how = actor.kind === "person" || actor.kind === "system" ? "" : t(`audit.actors.${actor.kind}`);
  const from = [how, actor.through && shortId(actor.through), actor.address].filter(Boolean).join(" · ");
  return [actor.kind === "system" || actor.kind === "job" ? t("audit.platform") : by || t("audit.unknown"), from];
}

function Who({ event }: { event: AuditEvent }): ReactNode {
  const { t } = useTranslation();
  const [name, from] = whoOf(event, t);
  return (
    <TwoLines
      first={name}
      second={
        from && (
          <span className="tm-wrap-line" title={event.actor.through ?? undefined}>
            {from}
          </span>
        )
      }
    />
  );
}

function SubjectCell({ of }: { of: AuditEvent["subject"] }): ReactNode {
  const { t } = useTranslation();
  const known = SUBJECTS.find((kind) => kind === of.kind);
  const privacy = of.kind === "policy" && of.name === "privacy";
  const kind = privacy ? t("audit.privacy") : known ? t(`audit.subjects.${known}`) : of.kind;
  const name = of.title || of.name;
  const place = of.kind === "job" && of.workspace ? `${kind} · ${of.workspace}` : kind;
  return (
    <TwoLines
      first={
        of.kind === "job" ? (
          <Link to="/jobs/$id" params={{ id: of.name }} search={{}} className="tm-name">
            {of.title || shortId(of.name)}
          </Link>
        ) : (
          <span className="tm-break">{of.kind === "policy" || name === "" ? kind : name}</span>
        )
      }
      second={of.kind === "policy" || name === "" ? undefined : place}
    />
  );
}

/** Before and after, of each field; of something new only what it is, of something removed what it was. */
export function Changes({ of: { kind, changes } }: { of: AuditEvent }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const before = {
    title: t("audit.before"),
    key: "before",
    render: (_: unknown, one: Change) => <Value field={one.field} of={one.before} />,
  };
  const after = {
    title: t("audit.after"),
    key: "after",
    render: (_: unknown, one: Change) => <Value field={one.field} of={one.after} />,
  };
  return (
    <DataTable<Change>
      rowKey="field"
      size="small"
      pagination={false}
      tableLayout="fixed"
      dataSource={changes}
      columns={[
        {
          title: t("audit.field"),
          key: "field",
          width: 260,
          render: (_, one) => <span title={one.field}>{pick(one.label)}</span>,
        },
        ...(isMade(kind) ? [] : [before]),
        ...(isRemoved(kind) ? [] : [isMade(kind) ? { ...after, title: t("audit.value") } : after]),
      ]}
    />
  );
}

/** A value in words where it has some: roles, kinds and states are said as the pages that set them say them. */
function Value({ field, of }: { field: string; of: unknown }): ReactNode {
  const { t } = useTranslation();
  if (field === "since" && typeof of === "number") return of === 0 ? "–" : <Stamp at={of} />;
  return <span className="tm-num tm-break">{wordOf(t, field, of) ?? valueText(of, t("mark.comma"))}</span>;
}

/** Pure. */
export function wordOf(t: TFunction, field: string, value: unknown): string | undefined {
  if (typeof value === "boolean") return t(value ? "audit.yes" : "audit.no");
  if (typeof value === "number" && field.endsWith("_s")) return duration(value, true);
  if (typeof value !== "string") return undefined;
  const path = field.startsWith("members.") ? "people.role" : WORDS[field];
  return path && t(`${path}.${value}` as "audit.yes", { defaultValue: value });
}

/** Where the words are for the values of a field. */
const WORDS: Readonly<Record<string, string>> = {
  role: "role",
  kind: "admin.pools.kinds",
  sharing: "admin.workspaces.sharings",
  service: "timeline.service",
};
