/** An entry of the audit as a row: when, who and from where, to what, what; and what became of each field. */
import { Link } from "@tanstack/react-router";
import { Table, type TableColumnsType } from "antd";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AuditEvent } from "../../api/types";
import { useBilingual } from "../../i18n";
import { shortId } from "../../shared/format";
import { Stamp } from "../../shared/time";
import { Dotted, TwoLines } from "../../shared/ui";
import { useMedia } from "../../theme";
import { isMade, isRemoved, SUBJECTS, valueText } from "./filter";

type Change = AuditEvent["changes"][number];

export function useColumns(narrow: boolean): TableColumnsType<AuditEvent> {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (narrow)
    return [
      {
        title: t("audit.what"),
        key: "what",
        render: (_, event) => (
          <div className="tm-audit-whole">
            <span className="tm-break">{pick(event.text)}</span>
            <SubjectCell of={event.subject} />
            <Dotted className="tm-line" items={[...whoOf(event, t), <Stamp key="at" at={event.at} />]} />
          </div>
        ),
      },
    ];
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
          <span className="tm-mono" title={event.actor.through ?? undefined}>
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
  const narrow = useMedia("(max-width: 599px)");
  const before = {
    title: t("audit.before"),
    key: "before",
    render: (_: unknown, one: Change) => <Value of={one.before} />,
  };
  const after = {
    title: t("audit.after"),
    key: "after",
    render: (_: unknown, one: Change) => <Value of={one.after} />,
  };
  return (
    <Table<Change>
      rowKey="field"
      size="small"
      pagination={false}
      tableLayout="fixed"
      dataSource={changes}
      columns={[
        {
          title: t("audit.field"),
          key: "field",
          width: narrow ? 120 : 260,
          render: (_, one) => <span title={one.field}>{pick(one.label)}</span>,
        },
        ...(isMade(kind) ? [] : [before]),
        ...(isRemoved(kind) ? [] : [isMade(kind) ? { ...after, title: t("audit.value") } : after]),
      ]}
    />
  );
}

const Value = ({ of }: { of: unknown }): ReactNode => <span className="tm-num tm-break">{valueText(of)}</span>;
