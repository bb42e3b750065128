/** A browser through a folder on the server: the outputs of a job, the files of a model version. */
import { FileOutlined, FolderFilled } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Breadcrumb, Button, Table, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { FileItem, FilePage } from "../api/types";
import { useDownload } from "./download";
import { bytes } from "./format";
import { Ago } from "./time";
import { Empty, Pending } from "./ui";

interface Props {
  id: readonly unknown[];
  list: (path: string) => Promise<FilePage>;
  href: (path: string) => string;
  root: string;
  refetchInterval?: number | false;
}

export const isFolder = (item: FileItem): boolean =>
  item.kind === "dir" || item.kind === "folder" || item.kind === "directory";

export function FileBrowser({ id, list, href, root, refetchInterval = false }: Props): ReactNode {
  const { t } = useTranslation();
  const [path, setPath] = useState("");
  const download = useDownload();
  const query = useQuery({ queryKey: ["files", ...id, path], queryFn: () => list(path), refetchInterval });
  const columns = useMemo(
    (): TableColumnsType<FileItem> => [
      {
        title: t("job.files.name"),
        key: "name",
        render: (_, item) =>
          isFolder(item) ? (
            <button type="button" className="tm-link" onClick={() => setPath(item.path)}>
              <FolderFilled /> {item.name}
            </button>
          ) : (
            <button type="button" className="tm-link" onClick={() => download(href(item.path))} data-testid="file">
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
    ],
    [download, href, t],
  );
  if (!query.data) return <Pending query={query} />;
  const parts = path.split("/").filter(Boolean);
  return (
    <div data-testid="files">
      {parts.length > 0 && (
        <Breadcrumb
          className="tm-crumbs"
          items={[
            {
              title: (
                <Button type="link" size="small" onClick={() => setPath("")}>
                  {root}
                </Button>
              ),
            },
            ...parts.map((part, i) => ({
              title: (
                <Button type="link" size="small" onClick={() => setPath(parts.slice(0, i + 1).join("/"))}>
                  {part}
                </Button>
              ),
            })),
          ]}
        />
      )}
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
        />
      )}
    </div>
  );
}
