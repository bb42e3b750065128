/** Which columns the list has, and in which order. */
import { ArrowDownOutlined, ArrowUpOutlined, SettingOutlined } from "@ant-design/icons";
import { Button, Checkbox, Popover } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { COLUMNS, type ColumnKey, useColumnTitle } from "./columns";

export function ColumnChooser({
  columns,
  metrics,
  choose,
}: {
  columns: readonly ColumnKey[];
  /** Those of the metrics that the jobs of the list have. */
  metrics: readonly ColumnKey[];
  /** Undefined: the usual ones again. */
  choose: (keys: ColumnKey[] | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const title = useColumnTitle();
  const others = [...COLUMNS, ...metrics].filter((key) => !columns.includes(key));
  const rows = [...columns, ...others].filter((key) => key !== "name");
  const move = (key: ColumnKey, by: number): void => {
    const next = [...columns];
    const at = next.indexOf(key);
    next.splice(at, 1);
    next.splice(at + by, 0, key);
    choose(next);
  };
  const list = (
    <div className="tm-choose" data-testid="columns">
      {rows.map((key) => {
        const at = columns.indexOf(key);
        return (
          <div key={key} className="tm-choose-row">
            <Checkbox
              checked={at >= 0}
              onChange={() => choose(at >= 0 ? columns.filter((one) => one !== key) : [...columns, key])}
            >
              {title(key)}
            </Checkbox>
            <Button
              type="text"
              size="small"
              icon={<ArrowUpOutlined />}
              disabled={at <= 1}
              onClick={() => move(key, -1)}
              aria-label={t("jobs.columns.earlier", { column: title(key) })}
            />
            <Button
              type="text"
              size="small"
              icon={<ArrowDownOutlined />}
              disabled={at < 0 || at === columns.length - 1}
              onClick={() => move(key, 1)}
              aria-label={t("jobs.columns.later", { column: title(key) })}
            />
          </div>
        );
      })}
      <Button type="link" size="small" onClick={() => choose(undefined)} data-testid="columns-usual">
        {t("jobs.columns.usual")}
      </Button>
    </div>
  );
  return (
    <Popover content={list} trigger="click" placement="bottomRight" title={t("jobs.columns.title")}>
      <Button icon={<SettingOutlined />} data-testid="choose-columns">
        {t("jobs.columns.title")}
      </Button>
    </Popover>
  );
}
