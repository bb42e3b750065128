/** Pairs of name and value. Half-typed and doubled rows live here; the document gets only what is whole. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Json, JsonObject } from "../../api/types";
import { getAt, isObject } from "./document";
import { FieldFrame, type FieldProps } from "./fields";
import { useForm } from "./state";

interface Row {
  id: number;
  key: string;
  value: string;
}

interface Props extends FieldProps {
  /** Numbers are written as numbers, so that a document reads naturally (parameters); else everything is text (variables). */
  numbers?: boolean;
  separator?: string;
}

let nextId = 0;

function rowsOf(value: Json | undefined): Row[] {
  if (!isObject(value)) return [];
  return Object.entries(value).map(([key, one]) => ({ id: nextId++, key, value: one === null ? "" : String(one) }));
}

/** The text itself, or the number it spells exactly: 0.10 and 1e3 stay texts, so the command shows what was typed. */
export function scalar(text: string): string | number {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) && String(number) === text ? number : text;
}

function objectOf(rows: Row[], numbers: boolean): JsonObject | undefined {
  const pairs = rows
    .filter((row) => row.key !== "")
    .map((row): [string, Json] => [row.key, numbers ? scalar(row.value) : row.value]);
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

export function KeyValueField({ numbers = false, separator = "=", ...props }: Props): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const outside = getAt(form.doc, props.path);
  const [rows, setRows] = useState<Row[]>(() => rowsOf(outside));
  const sent = useRef<string>(JSON.stringify(outside));

  // The document changed under us (JSON edited, a file imported): show what it says now.
  useEffect(() => {
    const now = JSON.stringify(outside);
    if (now === sent.current) return;
    sent.current = now;
    setRows(rowsOf(outside));
  }, [outside]);

  const change = (next: Row[]): void => {
    setRows(next);
    const value = objectOf(next, numbers);
    sent.current = JSON.stringify(value);
    form.set(props.path, value);
  };
  const edit = (id: number, part: Partial<Row>): void =>
    change(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const paste = (id: number, pasted: string): boolean => {
    const found = readPairs(pasted);
    if (found.length < 2) return false;
    change([
      ...rows.filter((row) => row.id !== id || row.key !== ""),
      ...found.map(([key, value]) => ({ id: nextId++, key, value })),
    ]);
    return true;
  };
  const twice = (row: Row): boolean =>
    row.key !== "" && rows.some((other) => other.id !== row.id && other.key === row.key);
  return (
    <FieldFrame {...props} deep hint={rows.some(twice) ? t("submit.kv.twice") : undefined}>
      <div className="tm-kv" data-testid={`kv-${props.path}`}>
        {rows.map((row, i) => (
          <div key={row.id} className="tm-kv-row">
            <Input
              value={row.key}
              placeholder={t("submit.kv.key")}
              aria-label={t("mark.named", { what: `${props.label} ${i + 1}`, name: t("submit.kv.key") })}
              status={twice(row) ? "error" : ""}
              className="tm-mono"
              data-testid={`kv-key-${i}`}
              onChange={(e) => edit(row.id, { key: e.target.value.trim() })}
              onBlur={() => form.touch(props.path)}
              onPaste={(e) => paste(row.id, e.clipboardData.getData("text")) && e.preventDefault()}
            />
            <span className="tm-faint">{separator}</span>
            <Input
              value={row.value}
              placeholder={t("submit.kv.value")}
              aria-label={t("mark.named", { what: `${props.label} ${i + 1}`, name: t("submit.kv.value") })}
              className="tm-mono"
              data-testid={`kv-value-${i}`}
              onChange={(e) => edit(row.id, { value: e.target.value })}
            />
            <Button
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t("action.remove")}
              onClick={() => change(rows.filter((other) => other.id !== row.id))}
            />
          </div>
        ))}
        <Button
          size="small"
          type="dashed"
          icon={<PlusOutlined />}
          onClick={() => setRows([...rows, { id: nextId++, key: "", value: "" }])}
          data-testid="kv-add"
        >
          {t("submit.kv.add")}
        </Button>
      </div>
    </FieldFrame>
  );
}

/** Several pairs pasted at once: lines of KEY=VALUE, or a command line's --key=value words. */
export function readPairs(pasted: string): [string, string][] {
  const parts = pasted.includes("\n") ? pasted.split(/\r?\n/) : pasted.trim().split(/\s+/);
  const pairs: [string, string][] = [];
  for (const part of parts) {
    const match = /^\s*(?:export\s+)?-{0,2}([A-Za-z_][\w./-]*)\s*=\s*(.*?)\s*$/.exec(part);
    if (match?.[1]) pairs.push([match[1], (match[2] ?? "").replace(/^(["'])(.*)\1$/, "$2")]);
  }
  return pairs;
}
