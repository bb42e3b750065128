/**
 * A browser through a folder on the server: the outputs of a job, the files of a version of a data set or a model. A file is
 * looked at beside the list, or below it where there is no room.
 */
import { DownloadOutlined, FileOutlined, FolderFilled } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Breadcrumb, Button, type TableColumnsType, Tooltip } from "antd";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { FileItem, FilePage } from "../api/types";
import { useDownload } from "./download";
import { bytes } from "./format";
import { Preview } from "./look";
import { isFolder, placeOf } from "./look/kinds";
import type { Read } from "./look/parts";
import { DataTable } from "./table";
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
  /** Reads a file to look at, or a part of it. */
  read?: Read;
  /** What the folders at the top are, by name. */
  hints?: Record<string, string>;
  /** What is open, where the page's address keeps it: a folder ends with a slash. */
  at?: string;
  go?: (at: string | undefined) => void;
}

const PAGE = 100;

export function FileBrowser(props: Props): ReactNode {
  const { id, list, href, root, refetchInterval = false, folderHref, read, hints } = props;
  const { t } = useTranslation();
  const [own, setOwn] = useState<string>();
  const { folder, file } = placeOf(props.go ? props.at : own);
  const go = props.go ?? setOwn;
  const chosen = useRef<HTMLElement | null>(null);
  const download = useDownload();
  const query = useQuery({ queryKey: ["files", ...id, folder], queryFn: () => list(folder), refetchInterval });
  const items = query.data?.items;
  const open = items?.find((item) => item.path === file && !isFolder(item));
  const columns = useColumns({ folder, file, hints, href, folderHref, go, chosen });
  const close = (): void => {
    go(folder === "" ? undefined : `${folder}/`);
    chosen.current?.focus();
  };
  const first = items && file !== null ? items.findIndex((item) => item.path === file) : -1;
  return (
    <div data-testid="files">
      <div className="tm-crumbs">
        <Way root={root} folder={folder} go={go} />
        {folder !== "" && folderHref && (
          <Button
            size="small"
            icon={<DownloadOutlined />}
            onClick={() => download(folderHref(folder))}
            data-testid="folder-download"
          >
            {t("job.files.folder")}
          </Button>
        )}
      </div>
      {items === undefined ? (
        <Pending query={query} />
      ) : items.length === 0 ? (
        <Empty title={t("job.files.none")}>
          <p className="tm-faint">{t("job.files.noneHint")}</p>
        </Empty>
      ) : (
        <div className="tm-files">
          <div className={open ? "tm-files-open" : undefined}>
            <DataTable<FileItem>
              rowKey="path"
              size="small"
              columns={columns}
              dataSource={items}
              rowClassName={(item) => (item === open ? "tm-file-open" : "")}
              pagination={
                items.length > PAGE
                  ? {
                      pageSize: PAGE,
                      showSizeChanger: false,
                      defaultCurrent: Math.floor(Math.max(0, first) / PAGE) + 1,
                    }
                  : false
              }
              scroll={{ x: open ? 300 : 520 }}
            />
            {open && (
              <Preview
                item={open}
                id={id}
                read={read}
                save={() => download(href(open.path))}
                close={close}
                chosen={chosen.current !== null}
              />
            )}
          </div>
          {file !== null && open === undefined && (
            <p className="tm-look-note tm-faint" data-testid="look-missing">
              {t("look.missing", { path: file })}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

interface Columns {
  folder: string;
  file: string | null;
  hints: Record<string, string> | undefined;
  href: (path: string) => string;
  folderHref: ((path: string) => string) | undefined;
  go: (at: string | undefined) => void;
  /** What was pressed last: the keyboard comes back to it. */
  chosen: { current: HTMLElement | null };
}

function useColumns({ folder, file, hints, href, folderHref, go, chosen }: Columns): TableColumnsType<FileItem> {
  const { t } = useTranslation();
  const download = useDownload();
  return useMemo((): TableColumnsType<FileItem> => {
    const columns: TableColumnsType<FileItem> = [
      {
        title: t("job.files.name"),
        key: "name",
        render: (_, item) =>
          isFolder(item) ? (
            <>
              <button type="button" className="tm-link" onClick={() => go(`${item.path}/`)} data-testid="folder">
                <FolderFilled /> {item.name}
              </button>{" "}
              {folder === "" && <span className="tm-faint">{hints?.[item.name]}</span>}
            </>
          ) : (
            <button
              type="button"
              className="tm-link tm-file"
              aria-pressed={item.path === file}
              onClick={(event) => {
                chosen.current = event.currentTarget;
                go(item.path);
              }}
              data-testid="file"
            >
              <FileOutlined /> {item.name}
            </button>
          ),
      },
      {
        title: t("job.files.size"),
        key: "size",
        width: 110,
        align: "end",
        render: (_, item) => (isFolder(item) ? "" : <span className="tm-num">{bytes(item.size)}</span>),
      },
    ];
    if (file === null)
      columns.push({
        title: t("job.files.modified"),
        key: "modified",
        width: 180,
        render: (_, item) => <Ago at={item.modified_at} />,
      });
    columns.push({
      title: <span className="tm-hidden">{t("action.download")}</span>,
      key: "download",
      width: 56,
      align: "end",
      render: (_, item) => {
        const from = isFolder(item) ? folderHref : item.kind === "file" ? href : undefined;
        const words = isFolder(item) ? t("job.files.folder") : t("action.download");
        return (
          from && (
            <Tooltip title={words}>
              <Button
                type="text"
                size="small"
                icon={<DownloadOutlined />}
                aria-label={t("mark.named", { what: words, name: item.name })}
                onClick={() => download(from(item.path))}
                data-testid={`download-${item.name}`}
              />
            </Tooltip>
          )
        );
      },
    });
    return columns;
  }, [download, href, folderHref, hints, folder, file, go, chosen, t]);
}

/** The folders above, and the one that one is in. */
function Way({ root, folder, go }: { root: string; folder: string; go: Columns["go"] }): ReactNode {
  const parts = folder.split("/").filter(Boolean);
  return (
    <Breadcrumb
      items={[
        { title: <Crumb name={root} open={parts.length > 0 ? () => go(undefined) : undefined} /> },
        ...parts.map((part, i) => ({
          title: (
            <Crumb
              name={part}
              open={i < parts.length - 1 ? () => go(`${parts.slice(0, i + 1).join("/")}/`) : undefined}
            />
          ),
        })),
      ]}
    />
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
