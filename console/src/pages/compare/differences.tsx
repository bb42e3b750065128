/** The settings of the job files: one a row, a job a column. */
import { Link } from "@tanstack/react-router";
import { Switch, type TableColumnsType } from "antd";
import { Fragment, type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ComparedRow, Scalar } from "../../api/types";
import { DataTable } from "../../shared/table";
import { Nothing } from "../../shared/ui";
import { Dot } from "./look";
import type { PartProps } from "./part";
import { settingOf } from "./setting";
import { namesOf } from "./table";

export function DifferencesTab({ found, search, update }: PartProps): ReactNode {
  const { t } = useTranslation();
  const names = useMemo(() => namesOf(found.jobs), [found.jobs]);
  const all = search.all === true;
  const rows = useMemo(() => found.rows.filter((row) => all || row.differs), [found.rows, all]);
  const lines = useMemo(() => grouped(rows), [rows]);
  const columns: TableColumnsType<Line> = [
    {
      title: t("compare.setting"),
      key: "name",
      width: 230,
      fixed: "start",
      render: (_, line) =>
        isTitle(line) ? (
          <span className="tm-compare-section">{t(`compare.section.${line.title}`)}</span>
        ) : (
          <Setting of={line} />
        ),
    },
    ...found.jobs.map((job, at) => ({
      title: (
        <span className="tm-compare-job">
          <Dot at={at} />
          <Link to="/jobs/$id" params={{ id: job.id }} search={{}} className="tm-ellipsis tm-name" title={names[at]}>
            {names[at]}
          </Link>
        </span>
      ),
      key: job.id,
      width: 200,
      render: (_: unknown, line: Line) => (isTitle(line) ? null : <Value value={line.values[at]} />),
    })),
  ];
  return (
    <>
      <div className="tm-toolbar">
        <label className="tm-switch">
          <Switch
            size="small"
            checked={all}
            onChange={(on) => update({ all: on || undefined })}
            data-testid="compare-all"
          />
          {t("compare.all")}
        </label>
      </div>
      <div className="tm-panel tm-table" data-testid="compare-differences">
        <DataTable<Line>
          className="tm-rows-beside"
          rowKey={(line) => (isTitle(line) ? line.title : `${line.section} ${line.name}`)}
          rowClassName={(line) => (all && !isTitle(line) && line.differs ? "tm-compare-differs" : "")}
          size="small"
          columns={columns}
          dataSource={lines}
          tableLayout="fixed"
          scroll={{ x: 230 + 200 * found.jobs.length }}
          pagination={false}
          locale={{ emptyText: <span className="tm-faint">{t("compare.same")}</span> }}
        />
      </div>
    </>
  );
}

/** A setting, or the title of the group that begins here. */
type Line = ComparedRow | { title: ComparedRow["section"] };
const isTitle = (line: Line): line is { title: ComparedRow["section"] } => "title" in line;

const grouped = (rows: readonly ComparedRow[]): Line[] =>
  rows.flatMap((row, i): Line[] => (rows[i - 1]?.section === row.section ? [row] : [{ title: row.section }, row]));

/** As the form calls it, where it has the field; what the job file calls it is its hint. */
function Setting({ of }: { of: ComparedRow }): ReactNode {
  const { t } = useTranslation();
  const label = settingOf(of, t);
  return label === undefined ? (
    <span className="tm-mono tm-compare-value">{of.name}</span>
  ) : (
    <span title={of.name}>{label}</span>
  );
}

/** Long words break anywhere, but first behind what parts them. */
function Value({ value }: { value: Scalar | undefined }): ReactNode {
  if (value == null) return <Nothing />;
  const text = /^sha256:/.test(String(value)) ? String(value).slice(0, 19) : String(value);
  return (
    <span className="tm-mono tm-compare-value" title={text === String(value) ? undefined : String(value)}>
      {text.split(/(?<=[/,])/).map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move.
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
