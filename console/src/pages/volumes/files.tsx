/** The files of a volume: browsed and looked at, and for who may write, sent, moved and deleted in the folder that is open. */
import {
  CloudUploadOutlined,
  DeleteOutlined,
  DownloadOutlined,
  EditOutlined,
  FolderAddOutlined,
  FolderOpenOutlined,
} from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { App, Button, Flex, Input, Modal } from "antd";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { VolumeDetail } from "../../api/types";
import {
  deleteVolumeFiles,
  listVolumeFiles,
  makeVolumeFolder,
  moveVolumeFiles,
  readVolumeFile,
  volumeFileUrl,
  volumeFolderUrl,
} from "../../api/volumes";
import { useAct } from "../../shared/act";
import { useDownload } from "../../shared/download";
import { FileBrowser } from "../../shared/files";
import { placeOf } from "../../shared/look/kinds";
import { above, below, type Chosen, chosen } from "./paths";
import { SendFiles } from "./send";

interface Props {
  volume: VolumeDetail;
  writes: boolean;
  /** What is open, where the page's address keeps it: a folder ends with a slash. */
  at: string | undefined;
  go: (at: string | undefined) => void;
}

export function VolumeFiles({ volume, writes, at, go }: Props): ReactNode {
  const { t } = useTranslation();
  const download = useDownload();
  return (
    <section className="tm-panel">
      <h2 className="tm-version-head">
        <span className="tm-grow">{t("volumes.files")}</span>
        {writes && <Changes volume={volume} at={at} go={go} />}
        <Button
          size="small"
          icon={<DownloadOutlined />}
          onClick={() => download(volumeFolderUrl(volume.id, ""))}
          data-testid="volume-download"
        >
          {t("volumes.download")}
        </Button>
      </h2>
      <FileBrowser
        id={["volume", volume.id]}
        list={(path) => listVolumeFiles(volume.id, path)}
        href={(path) => volumeFileUrl(volume.id, path)}
        folderHref={(path) => volumeFolderUrl(volume.id, path)}
        read={(path, signal, part) => readVolumeFile(volume.id, path, signal, part)}
        root={volume.name}
        at={at}
        go={go}
      />
    </section>
  );
}

/** What somebody does to the folder that is open, or to the file that is looked at. */
function Changes({ volume, at, go }: Omit<Props, "writes">): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const act = useAct(["files", "volume"]);
  const client = useQueryClient();
  const { folder, file } = placeOf(at);
  const [sends, setSends] = useState<readonly Chosen[] | null>(null);
  const [asks, setAsks] = useState<"folder" | "move" | null>(null);
  const some = useRef<HTMLInputElement>(null);
  const whole = useRef<HTMLInputElement>(null);
  const meant = file ?? folder;
  const name = meant.split("/").pop() ?? "";

  const take = (event: { target: HTMLInputElement }): void => {
    const found = chosen([...(event.target.files ?? [])], folder);
    event.target.value = ""; // else the same, chosen again, would be no change
    if (found.length > 0) void ask(found);
  };
  /** Asks before what is there is replaced. */
  const ask = async (found: readonly Chosen[]): Promise<void> => {
    const there = await listVolumeFiles(volume.id, folder).catch(() => ({ items: [] }));
    const names = new Set(there.items.filter((one) => one.kind !== "folder").map((one) => one.path));
    const again = found.filter((one) => names.has(one.path)).length;
    if (again === 0) return setSends(found);
    void modal.confirm({
      title: t("volumes.send.replace", { count: again }),
      icon: null,
      okText: t("volumes.send.replaceOk"),
      cancelText: t("action.cancel"),
      okButtonProps: { "data-testid": "confirm-ok" },
      onOk: () => setSends(found),
    });
  };
  const remove = (): void =>
    void modal.confirm({
      title: t("volumes.files_.deleteTitle", { name: meant }),
      icon: null,
      content: file === null ? t("volumes.files_.deleteFolder") : undefined,
      okText: t("action.delete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: async () => {
        const gone = await act(async () => {
          await deleteVolumeFiles(volume.id, meant);
          return t("volumes.files_.deleted", { name });
        });
        if (gone) go(above(meant));
      },
    });
  return (
    <Flex gap={6} wrap>
      <input ref={some} type="file" hidden multiple data-testid="volume-some" onChange={take} />
      <input
        ref={whole}
        type="file"
        hidden
        multiple
        // Spread, since React's types do not know it.
        {...{ webkitdirectory: "" }}
        data-testid="volume-whole"
        onChange={take}
      />
      {meant !== "" && (
        <>
          <Button
            size="small"
            icon={<EditOutlined />}
            onClick={() => setAsks("move")}
            aria-label={t("volumes.files_.moveOne", { name })}
            title={t("volumes.files_.moveOne", { name })}
            data-testid="volume-move"
          />
          <Button
            size="small"
            danger
            icon={<DeleteOutlined />}
            onClick={remove}
            aria-label={t("volumes.files_.deleteOne", { name })}
            title={t("volumes.files_.deleteOne", { name })}
            data-testid="volume-remove"
          />
        </>
      )}
      <Button size="small" icon={<FolderAddOutlined />} onClick={() => setAsks("folder")} data-testid="volume-mkdir">
        {t("volumes.files_.folder")}
      </Button>
      <Button size="small" icon={<FolderOpenOutlined />} onClick={() => whole.current?.click()}>
        {t("volumes.send.folder")}
      </Button>
      <Button size="small" type="primary" icon={<CloudUploadOutlined />} onClick={() => some.current?.click()}>
        {t("volumes.send.files")}
      </Button>
      {sends && (
        <SendFiles
          volume={volume.id}
          files={sends}
          close={() => {
            setSends(null);
            for (const key of ["files", "volume"]) void client.invalidateQueries({ queryKey: [key] });
          }}
        />
      )}
      {asks && (
        <Asked
          title={asks === "folder" ? t("volumes.files_.folderTitle") : t("volumes.files_.moveTitle", { name: meant })}
          before={asks === "folder" ? below(folder, "") : meant}
          close={() => setAsks(null)}
          take={async (path) => {
            const done = await act(async () => {
              if (asks === "folder") await makeVolumeFolder(volume.id, path);
              else await moveVolumeFiles(volume.id, meant, path);
              return t(asks === "folder" ? "volumes.files_.made" : "volumes.files_.moved", { name: path });
            });
            if (done) go(asks === "move" && file !== null ? path : `${path}/`);
            return done;
          }}
        />
      )}
    </Flex>
  );
}

interface AskedProps {
  title: string;
  before: string;
  take: (path: string) => Promise<boolean>;
  close: () => void;
}

/** Asks for a path. */
function Asked({ title, before, take, close }: AskedProps): ReactNode {
  const { t } = useTranslation();
  const [path, setPath] = useState(before);
  const [busy, setBusy] = useState(false);
  const wanted = path.trim().replace(/\/+$/, "");
  const save = async (): Promise<void> => {
    setBusy(true);
    if (await take(wanted)) close();
    else setBusy(false);
  };
  return (
    <Modal
      open
      title={title}
      onCancel={close}
      onOk={() => void save()}
      okText={t("action.save")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{
        disabled: wanted === "" || path === before,
        ...{ "data-testid": "path-save" },
      }}
    >
      <Input
        value={path}
        onChange={(event) => setPath(event.target.value)}
        onPressEnter={() => void save()}
        aria-label={t("volumes.files_.path")}
        className="tm-mono"
        autoFocus
        data-testid="path-text"
      />
      <p className="tm-faint">{t("volumes.files_.pathHint")}</p>
    </Modal>
  );
}
