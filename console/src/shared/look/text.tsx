/** A text with the numbers of its lines, and a table of rows, both as far as they have been read. */
import { Button, Table } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { bytes, number } from "../format";
import type { Beginning } from "./parts";
import { rowsOf } from "./rows";

const MOST_ROWS = 5000;
const PAGE = 100;

/** Two blocks whatever the number of lines: what is drawn line by line makes a browser slow from some thousand on. */
export function Text({ text }: { text: string }): ReactNode {
  const numbers = useMemo(() => {
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    return Array.from({ length: Math.max(1, lines) }, (_, i) => i + 1).join("\n");
  }, [text]);
  return (
    <div className="tm-look-text">
      <pre className="tm-look-numbers" aria-hidden="true">
        {numbers}
      </pre>
      <pre data-testid="look-text">{text}</pre>
    </div>
  );
}

export function Rows({ text, name, whole }: { text: string; name: string; whole: boolean }): ReactNode {
  const { t } = useTranslation();
  const separator = /\.tsv$/i.test(name) ? "\t" : undefined;
  const { head, shown, rows } = useMemo(() => {
    const [head = [], ...found] = rowsOf(text, separator, whole);
    return { head, rows: found.length, shown: found.slice(0, MOST_ROWS).map((cells, i) => ({ key: i + 1, cells })) };
  }, [text, separator, whole]);
  return (
    <>
      <Table
        size="small"
        pagination={shown.length > PAGE ? { pageSize: PAGE, showSizeChanger: false, size: "small" } : false}
        scroll={{ x: "max-content" }}
        dataSource={shown}
        columns={[
          {
            title: t("look.row"),
            key: "row",
            width: 56,
            render: (_, row) => <span className="tm-faint">{row.key}</span>,
          },
          ...head.map((title, i) => ({
            title,
            key: `${i}`,
            render: (_: unknown, row: { cells: string[] }) => row.cells[i],
          })),
        ]}
      />
      <p className="tm-look-note tm-faint">
        {whole && shown.length === rows
          ? t("look.rows", { count: rows, number: number(rows) })
          : t("look.firstRows", { number: number(shown.length) })}
      </p>
    </>
  );
}

/** How much of the file is shown, and the way to more of it. */
export function More({ of, size }: { of: Beginning; size: number }): ReactNode {
  const { t } = useTranslation();
  if (of.whole) return null;
  return (
    <p className="tm-look-note" data-testid="look-part">
      <span className="tm-faint">{t("look.part", { shown: bytes(of.bytes), of: bytes(size) })}</span>{" "}
      {of.more ? (
        <Button size="small" onClick={of.more} loading={of.reads} data-testid="look-more">
          {t("look.more")}
        </Button>
      ) : (
        <span className="tm-faint">{t("look.rest")}</span>
      )}
    </p>
  );
}
