/** What a list of what is published tells of the newest version: of what has files also how much it is. */
import type { TableColumnType } from "antd";
import type { TFunction } from "i18next";
import type { PassedKind } from "../../api/passing";
import type { Published } from "../../api/types";
import { bytes, number } from "../format";
import { TwoLines } from "../ui";

export function newestColumns(kind: PassedKind, t: TFunction): TableColumnType<Published>[] {
  const latest: TableColumnType<Published> = {
    title: t("passing.latest"),
    key: "latest",
    width: 136,
    render: (_, one) =>
      one.latest > 0 ? t("passing.version", { n: one.latest }) : <span className="tm-faint">–</span>,
  };
  const size: TableColumnType<Published> = {
    title: t("passing.size"),
    key: "size",
    width: 128,
    align: "end",
    render: (_, one) => (
      <TwoLines
        first={<span className="tm-num">{bytes(one.size_bytes)}</span>}
        second={t("datasets.fileCount", { count: one.files, replace: { count: number(one.files) } })}
      />
    ),
  };
  return kind === "dataset" || kind === "image" ? [latest, size] : [latest];
}
