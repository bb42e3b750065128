/** A look at a file without saving it: text, JSON, a table or a picture below 1 MB. Nothing of it is run. */
import { DownloadOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Modal, Table } from "antd";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { FileItem } from "../api/types";
import { bytes } from "./format";
import { Pending } from "./ui";

export const MOST_PREVIEWED = 1_000_000;
const MOST_ROWS = 1000;
const PICTURES = /\.(png|jpe?g|gif|webp)$/i;
const TABLES = /\.(csv|tsv)$/i;
const TEXTS =
  /\.(txt|log|md|rst|json|jsonl|ya?ml|toml|ini|cfg|conf|py|sh|r|cu|cpp|c|h|js|ts|html|xml|tex|diff|patch)$|(^|\/)(readme|license|makefile|dockerfile|[^./]+)$/i;

export type Look = "picture" | "table" | "json" | "text";

/** How a file is looked at; null: it cannot be. Pure. */
export function lookOf({ name, size, kind }: Pick<FileItem, "name" | "size" | "kind">): Look | null {
  if (kind !== "file" || size > MOST_PREVIEWED) return null;
  if (PICTURES.test(name)) return "picture";
  if (TABLES.test(name)) return "table";
  if (/\.json$/i.test(name)) return "json";
  return TEXTS.test(name) ? "text" : null;
}

/** The rows of a CSV or TSV text (RFC 4180: quotes may hold separators and line ends). Pure. */
export function rowsOf(text: string, separator = text.split("\n", 1)[0]?.includes("\t") ? "\t" : ","): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const end = (): void => {
    row.push(cell);
    if (row.length > 1 || cell !== "") rows.push(row);
    [row, cell] = [[], ""];
  };
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') {
      cell += '"';
      i += 1;
    } else if (c === '"' && (quoted || cell === "")) quoted = !quoted;
    else if (!quoted && c === separator) {
      row.push(cell);
      cell = "";
    } else if (!quoted && c === "\n") end();
    else if (quoted || c !== "\r") cell += c;
  }
  end();
  return rows;
}

interface Props {
  item: FileItem;
  id: readonly unknown[];
  read: (path: string, signal?: AbortSignal) => Promise<Blob>;
  save: () => void;
  close: () => void;
}

export function Preview({ item, id, read, save, close }: Props): ReactNode {
  const { t } = useTranslation();
  const look = lookOf(item);
  const query = useQuery({
    queryKey: ["preview", ...id, item.path, item.modified_at],
    queryFn: async ({ signal }) => {
      const blob = await read(item.path, signal);
      return look === "picture" ? blob : await blob.text();
    },
    gcTime: 0,
  });
  return (
    <Modal
      open
      centered
      title={item.path}
      onCancel={close}
      width="min(1100px, 94vw)"
      footer={
        <>
          <span className="tm-faint tm-num tm-file-look-size">{bytes(item.size)}</span>
          <Button icon={<DownloadOutlined />} onClick={save} data-testid="preview-download">
            {t("action.download")}
          </Button>
        </>
      }
    >
      <div className="tm-file-look" data-testid="preview" data-look={look}>
        {query.data === undefined ? (
          <Pending query={query} rows={4} />
        ) : (
          <Content look={look} data={query.data} name={item.name} />
        )}
      </div>
    </Modal>
  );
}

function Content({ look, data, name }: { look: Look | null; data: Blob | string; name: string }): ReactNode {
  if (typeof data !== "string") return <Picture blob={data} name={name} />;
  if (look === "table") return <Rows text={data} separator={/\.tsv$/i.test(name) ? "\t" : undefined} />;
  return <pre className="tm-code">{look === "json" ? pretty(data) : data}</pre>;
}

/** Only what says itself that it is a picture is drawn: the browser decides by the type. */
function Picture({ blob, name }: { blob: Blob; name: string }): ReactNode {
  const [address, setAddress] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address && <img src={address} alt={name} />;
}

function Rows({ text, separator }: { text: string; separator: string | undefined }): ReactNode {
  const { t } = useTranslation();
  const [head = [], ...rows] = useMemo(() => rowsOf(text, separator), [text, separator]);
  const shown = rows.slice(0, MOST_ROWS).map((cells, i) => ({ key: i, cells }));
  return (
    <>
      <Table
        size="small"
        pagination={false}
        scroll={{ x: "max-content", y: "60vh" }}
        dataSource={shown}
        columns={head.map((title, i) => ({
          title,
          key: `${i}`,
          render: (_, row: { cells: string[] }) => row.cells[i],
        }))}
      />
      {rows.length > MOST_ROWS && (
        <p className="tm-faint">{t("job.files.rows", { shown: MOST_ROWS, of: rows.length })}</p>
      )}
    </>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
