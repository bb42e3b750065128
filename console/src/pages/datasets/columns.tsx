/** Columns that lists of data sets share: the newest version, and how much it is. */
import type { TableColumnType } from "antd";
import type { TFunction } from "i18next";
import { bytes, number } from "../../shared/format";
import { TwoLines } from "../../shared/ui";

interface Newest {
  latest: number;
  size_bytes: number;
  files: number;
}

export const newestColumns = <T extends Newest>(t: TFunction): TableColumnType<T>[] => [
  {
    title: t("datasets.latest"),
    key: "latest",
    width: 136,
    render: (_, one) =>
      one.latest > 0 ? t("datasets.version", { n: one.latest }) : <span className="tm-faint">–</span>,
  },
  {
    title: t("datasets.size"),
    key: "size",
    width: 128,
    align: "end",
    render: (_, one) => (
      <TwoLines
        first={<span className="tm-num">{bytes(one.size_bytes)}</span>}
        second={t("datasets.fileCount", { count: one.files, replace: { count: number(one.files) } })}
      />
    ),
  },
];
