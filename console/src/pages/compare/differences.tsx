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
import { namesOf } from "./table";

export function DifferencesTab({ found, search, update }: PartProps): ReactNode {
  const { t } = useTranslation();
  const names = useMemo(() => namesOf(found.jobs), [found.jobs]);
  const all = search.all === true;
  const rows = useMemo(() => found.rows.filter((row) => all || row.differs), [found.rows, all]);
  const sections = useMemo(() => new Set(rows.filter((row, i) => rows[i - 1]?.section !== row.section)), [rows]);
  const columns: TableColumnsType<ComparedRow> = [
    {
      title: t("compare.setting"),
      key: "name",
      width: 230,
      fixed: "start",
      render: (_, row) => (
        <div className="tm-compare-setting">
          {sections.has(row) && <span className="tm-compare-section">{t(`compare.section.${row.section}`)}</span>}
          <span className="tm-mono">{row.name}</span>
        </div>
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
      render: (_: unknown, row: ComparedRow) => <Value value={row.values[at]} />,
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
        <DataTable<ComparedRow>
          className="tm-rows-beside"
          rowKey={(row) => `${row.section} ${row.name}`}
          rowClassName={(row) => (all && row.differs ? "tm-compare-differs" : "")}
          size="small"
          columns={columns}
          dataSource={rows}
          tableLayout="fixed"
          scroll={{ x: 230 + 200 * found.jobs.length }}
          pagination={false}
          locale={{ emptyText: <span className="tm-faint">{t("compare.same")}</span> }}
        />
      </div>
    </>
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
