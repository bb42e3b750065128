/** Uploads a folder, or some files, as the next version of a data set: chosen or dropped, hashed, sent, made. */
import { InboxOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Flex, Form, Input, Modal, Progress, Select } from "antd";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import type { JobShare, MadeVersion } from "../../api/types";
import { bytes } from "../../shared/format";
import { DEFAULT_WORKSPACE, homeOf, maySubmit, SHARES } from "../../shared/people";
import { useSession } from "../../shared/session";
import { ErrorPanel } from "../../shared/ui";
import { Cancelled, type Chosen, Sending, type Step } from "./send";
import { chosenFiles, droppedFiles } from "./take";

const LONGEST_NAME = 30;
const LONGEST_DESCRIPTION = 2000;

interface Props {
  /** The data set that gets a version; undefined: one of a name that is asked for. */
  to?: { name: string; workspace: string };
  close: () => void;
  done: (made: MadeVersion) => void;
}

export function UploadDataset({ to, close, done }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message } = App.useApp();
  const user = useSession()?.user;
  const [name, setName] = useState(to?.name ?? "");
  const [workspace, setWorkspace] = useState(to?.workspace ?? (user && homeOf(user)) ?? DEFAULT_WORKSPACE);
  const [description, setDescription] = useState("");
  const [share, setShare] = useState<JobShare>("none");
  const [chosen, setChosen] = useState<readonly Chosen[]>([]);
  const [work, setWork] = useState<{ step: Step; done: number; total: number } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const sending = useRef<Sending | null>(null);
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const mine = (spaces.data?.items ?? []).map((one) => one.name).filter((one) => user && maySubmit(user, one));
  const places = mine.includes(workspace) ? mine : [workspace, ...mine];

  const take = (files: readonly Chosen[], folder: string): void => {
    setChosen(files);
    setError(null);
    if (name === "") setName(folder.replaceAll(/[^\p{sc=Han}A-Za-z0-9_-]+/gu, "-").slice(0, LONGEST_NAME));
  };
  const send = async (): Promise<void> => {
    setError(null);
    setWork({ step: "hashing", done: 0, total: 0 });
    sending.current = new Sending((step, at, total) => setWork({ step, done: at, total }));
    try {
      const made = await sending.current.run({ name: name.trim(), workspace, description, share }, chosen);
      message.success(t("datasets.upload.done", { n: made.version.version, name: made.name }));
      for (const key of ["datasets", "dataset"]) void client.invalidateQueries({ queryKey: [key] });
      done(made);
      close();
    } catch (refused) {
      if (!(refused instanceof Cancelled)) setError(refused);
      setWork(null);
    }
  };
  const cancel = (): void => {
    sending.current?.cancel();
    close();
  };
  return (
    <Modal
      open
      title={to ? t("datasets.upload.next", { name: to.name }) : t("datasets.upload.title")}
      onCancel={cancel}
      onOk={() => void send()}
      okText={t("datasets.upload.ok")}
      cancelText={t("action.cancel")}
      confirmLoading={work !== null}
      maskClosable={work === null}
      width={560}
      okButtonProps={{
        disabled: name.trim() === "" || chosen.length === 0,
        ...{ "data-testid": "dataset-send" },
      }}
    >
      <p className="tm-faint">{t(to ? "datasets.upload.nextHint" : "datasets.upload.hint")}</p>
      {work ? <Work {...work} /> : <Choose chosen={chosen} take={take} />}
      <Form layout="vertical" component="div" disabled={work !== null} className="tm-dataset-form">
        {!to && (
          <>
            <Form.Item label={t("datasets.name")} htmlFor="dataset-name">
              <Input
                id="dataset-name"
                value={name}
                onChange={(event) => setName(event.target.value)}
                maxLength={LONGEST_NAME}
                data-testid="dataset-name"
              />
            </Form.Item>
            {places.length > 1 && (
              <Form.Item label={t("datasets.workspace")} htmlFor="dataset-workspace">
                <Select<string>
                  id="dataset-workspace"
                  value={workspace}
                  onChange={setWorkspace}
                  options={places.map((value) => ({ value, label: value }))}
                />
              </Form.Item>
            )}
            <Form.Item label={t("datasets.description")} htmlFor="dataset-description">
              <Input.TextArea
                id="dataset-description"
                value={description}
                onChange={(event) => setDescription(event.target.value)}
                maxLength={LONGEST_DESCRIPTION}
                autoSize={{ minRows: 1, maxRows: 6 }}
                data-testid="dataset-description"
              />
            </Form.Item>
            <Form.Item label={t("datasets.shared")} htmlFor="dataset-share">
              <Select<JobShare>
                id="dataset-share"
                value={share}
                onChange={setShare}
                options={SHARES.map((value) => ({ value, label: t(`datasets.share.${value}`) }))}
                data-testid="dataset-share"
              />
            </Form.Item>
          </>
        )}
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}

function Work({ step, done, total }: { step: Step; done: number; total: number }): ReactNode {
  const { t } = useTranslation();
  const percent = total > 0 ? Math.floor((100 * done) / total) : step === "finishing" ? 100 : 0;
  return (
    <div data-testid="dataset-work" aria-live="polite">
      {t(`datasets.upload.${step}`)}…
      <Progress percent={percent} size="small" />
    </div>
  );
}

function Choose({
  chosen,
  take,
}: {
  chosen: readonly Chosen[];
  take: (files: readonly Chosen[], folder: string) => void;
}): ReactNode {
  const { t } = useTranslation();
  const folder = useRef<HTMLInputElement>(null);
  const some = useRef<HTMLInputElement>(null);
  const input = (event: { target: HTMLInputElement }): void => {
    const files = [...(event.target.files ?? [])];
    event.target.value = ""; // else the same folder, chosen again, would be no change
    take(chosenFiles(files), files[0]?.webkitRelativePath.split("/")[0] ?? "");
  };
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter((one) => one !== null);
    const [first] = entries;
    take(await droppedFiles(entries), entries.length === 1 && first?.isDirectory ? first.name : "");
  };
  const size = chosen.reduce((sum, { file }) => sum + file.size, 0);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what can be dropped here the buttons inside choose, too.
    <div
      className="tm-drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => void drop(event)}
      data-testid="dataset-drop"
    >
      <input
        ref={folder}
        type="file"
        hidden
        multiple
        // Spread, since React's types do not know it.
        {...{ webkitdirectory: "" }}
        data-testid="dataset-folder"
        onChange={input}
      />
      <input ref={some} type="file" hidden multiple data-testid="dataset-files" onChange={input} />
      <Flex gap={12} align="center" wrap>
        <InboxOutlined className="tm-drop-icon" />
        <span className="tm-grow" data-testid="dataset-chosen">
          {chosen.length === 0
            ? t("datasets.upload.drop")
            : t("datasets.upload.chosen", { count: chosen.length, size: bytes(size) })}
        </span>
        <Flex gap={8}>
          <Button onClick={() => folder.current?.click()}>{t("datasets.upload.folder")}</Button>
          <Button onClick={() => some.current?.click()}>{t("datasets.upload.some")}</Button>
        </Flex>
      </Flex>
    </div>
  );
}
