/** A browser through a folder on the server: the outputs of a job, the files of a model version. */
import { DownloadOutlined, FileOutlined, FolderFilled } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Breadcrumb, Button, Table, type TableColumnsType, Tooltip } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { FileItem, FilePage } from "../api/types";
import { useDownload } from "./download";
import { bytes } from "./format";
import { lookOf, Preview } from "./preview";
import { Ago } from "./time";
import { Empty, Pending } from "./ui";

interface Props {
  id: readonly unknown[];
  list: (path: string) => Promise<FilePage>;
  href: (path: string) => string;
  root: string;
  refetchInterval?: number | false;
  /** Where a folder comes from as one archive. */
  folderHref?: (path: string) => string;
  /** Reads a file to look at. */
  read?: (path: string, signal?: AbortSignal) => Promise<Blob>;
  /** What the folders at the top are, by name. */
  hints?: Record<string, string>;
}

export const isFolder = (item: FileItem): boolean =>
  item.kind === "dir" || item.kind === "folder" || item.kind === "directory";

export function FileBrowser(props: Props): ReactNode {
  const { id, list, href, root, refetchInterval = false, folderHref, read, hints } = props;
  const { t } = useTranslation();
  const [path, setPath] = useState("");
  const [open, setOpen] = useState<FileItem | null>(null);
  const download = useDownload();
  const query = useQuery({ queryKey: ["files", ...id, path], queryFn: () => list(path), refetchInterval });
  const columns = useMemo(
    (): TableColumnsType<FileItem> => [
      {
        title: t("job.files.name"),
        key: "name",
        render: (_, item) =>
          isFolder(item) ? (
            <>
              <button type="button" className="tm-link" onClick={() => setPath(item.path)} data-testid="folder">
                <FolderFilled /> {item.name}
              </button>{" "}
              {path === "" && <span className="tm-faint">{hints?.[item.name]}</span>}
            </>
          ) : (
            <button
              type="button"
              className="tm-link"
              onClick={() => (read && lookOf(item) ? setOpen(item) : download(href(item.path)))}
              data-testid="file"
            >
              <FileOutlined /> {item.name}
            </button>
          ),
      },
      {
        title: t("job.files.size"),
        key: "size",
        width: 140,
        align: "end",
        render: (_, item) => (isFolder(item) ? "" : <span className="tm-num">{bytes(item.size)}</span>),
      },
      {
        title: t("job.files.modified"),
        key: "modified",
        width: 180,
        render: (_, item) => <Ago at={item.modified_at} />,
      },
      {
        title: <span className="tm-hidden">{t("action.download")}</span>,
        key: "download",
        width: 56,
        align: "end",
        render: (_, item) => {
          const from = isFolder(item) ? folderHref : href;
          const words = isFolder(item) ? t("job.files.folder") : t("action.download");
          return (
            from && (
              <Tooltip title={words}>
                <Button
                  type="text"
                  size="small"
                  icon={<DownloadOutlined />}
                  aria-label={`${words}: ${item.name}`}
                  onClick={() => download(from(item.path))}
                  data-testid={`download-${item.name}`}
                />
              </Tooltip>
            )
          );
        },
      },
    ],
    [download, href, folderHref, read, hints, path, t],
  );
  if (!query.data) return <Pending query={query} />;
  const parts = path.split("/").filter(Boolean);
  return (
    <div data-testid="files">
      <div className="tm-crumbs">
        <Breadcrumb
          items={[
            { title: <Crumb name={root} open={parts.length > 0 ? () => setPath("") : undefined} /> },
            ...parts.map((part, i) => ({
              title: (
                <Crumb
                  name={part}
                  open={i < parts.length - 1 ? () => setPath(parts.slice(0, i + 1).join("/")) : undefined}
                />
              ),
            })),
          ]}
        />
        {path !== "" && folderHref && (
          <Button
            size="small"
            icon={<DownloadOutlined />}
            onClick={() => download(folderHref(path))}
            data-testid="folder-download"
          >
            {t("job.files.folder")}
          </Button>
        )}
      </div>
      {query.data.items.length === 0 ? (
        <Empty title={t("job.files.none")}>
          <p className="tm-faint">{t("job.files.noneHint")}</p>
        </Empty>
      ) : (
        <Table<FileItem>
          rowKey="path"
          size="small"
          columns={columns}
          dataSource={query.data.items}
          pagination={query.data.items.length > 100 ? { pageSize: 100 } : false}
          scroll={{ x: 520 }}
        />
      )}
      {open && read && (
        <Preview item={open} id={id} read={read} save={() => download(href(open.path))} close={() => setOpen(null)} />
      )}
    </div>
  );
}

/** A folder of the way here; the last one is where one is. */
function Crumb({ name, open }: { name: string; open: (() => void) | undefined }): ReactNode {
  return open ? (
    <button type="button" className="tm-link" onClick={open}>
      {name}
    </button>
  ) : (
    <span>{name}</span>
  );
}
