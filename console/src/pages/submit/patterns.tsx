/** Patterns that read metrics out of the log, with a line to try them on. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { getAt, isObject } from "./document";
import { FieldFrame } from "./fields";
import { useRowKeys } from "./rows";
import { useForm } from "./state";

const EXAMPLE = "epoch=(?P<step>\\d+) loss=(?P<loss>[\\d.eE+-]+)";

/** What a pattern finds in a line: the server's (?P<name>...) is JavaScript's (?<name>...). null: no valid pattern. */
export function tryPattern(pattern: string, line: string): Record<string, string> | null | undefined {
  try {
    const match = new RegExp(pattern.replaceAll("(?P<", "(?<")).exec(line);
    return match ? { ...match.groups } : undefined;
  } catch {
    return null;
  }
}

export function MetricPatterns(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const [line, setLine] = useState("");
  const given = getAt(form.doc, "metrics");
  const metrics = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(metrics.length);
  const put = (next: JsonObject[]): void => form.set("metrics", next.length > 0 ? next : undefined);
  return (
    <FieldFrame path="metrics" deep label={t("submit.field.metrics")} help={t("help.metrics")}>
      <div className="tm-kv">
        {metrics.map((metric, i) => {
          const pattern = String(metric["pattern"] ?? "");
          return (
            <div key={rows.keys[i]}>
              <div className="tm-kv-row">
                <Input
                  value={pattern}
                  placeholder={EXAMPLE}
                  className="tm-mono"
                  aria-label={`${t("submit.metric.pattern")} ${i + 1}`}
                  data-testid={`pattern-${i}`}
                  onBlur={() => form.touch(`metrics.${i}`)}
                  onChange={(e) => put(metrics.map((one, k) => (k === i ? { ...one, pattern: e.target.value } : one)))}
                />
                <Button
                  type="text"
                  icon={<DeleteOutlined />}
                  aria-label={t("action.remove")}
                  onClick={() => {
                    rows.remove(i);
                    put(metrics.filter((_, k) => k !== i));
                  }}
                />
              </div>
              {line !== "" && pattern !== "" && <Found found={tryPattern(pattern, line)} />}
            </div>
          );
        })}
        <div className="tm-kv-row">
          <Button
            size="small"
            type="dashed"
            icon={<PlusOutlined />}
            onClick={() => put([...metrics, { pattern: "" }])}
            data-testid="pattern-add"
          >
            {t("submit.metric.add")}
          </Button>
          {metrics.length > 0 && (
            <Input
              size="small"
              value={line}
              onChange={(e) => setLine(e.target.value)}
              placeholder={t("mark.named", { what: t("submit.metric.test"), name: "epoch=3 loss=0.52" })}
              className="tm-mono"
              aria-label={t("submit.metric.test")}
            />
          )}
        </div>
      </div>
    </FieldFrame>
  );
}

function Found({ found }: { found: Record<string, string> | null | undefined }): ReactNode {
  const { t } = useTranslation();
  if (found === null) return <span className="tm-bad">{t("submit.metric.bad")}</span>;
  if (found === undefined) return <span className="tm-faint">{t("submit.metric.noMatch")}</span>;
  return (
    <span className="tm-labels">
      {Object.entries(found).map(([name, value]) => (
        <Tag key={name}>
          {name} = {value}
        </Tag>
      ))}
    </span>
  );
}
