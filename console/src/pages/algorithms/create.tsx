/** Makes a version of an algorithm: the folder with its code, and what its document says, as fields or as text (R150, R151). */
import { InboxOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Flex, Form, Input, Modal, Segmented, Select } from "antd";
import { type DragEvent, lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { createAlgorithm } from "../../api/algorithms";
import { listWorkspaces } from "../../api/cluster";
import type { AlgorithmDetail, JobShare, JsonObject } from "../../api/types";
import { uploadCode } from "../../api/uploads";
import { DEFAULT_WORKSPACE, homeOf, maySubmit, SHARES } from "../../shared/people";
import { useSession } from "../../shared/session";
import { ErrorPanel } from "../../shared/ui";
import { chosenEntries, droppedEntries, type Entry, packFolder } from "../submit/tar";
import { FILE, fresh, readText, short, textOf } from "./document";
import { DocumentFields } from "./fields";

const Editor = lazy(() => import("../../shared/editor").then((m) => ({ default: m.Editor })));

const LONGEST_NAME = 30;

interface Props {
  /** The algorithm that gets a version; undefined: one of a name that is asked for. */
  to?: AlgorithmDetail;
  close: () => void;
  done: (made: AlgorithmDetail) => void;
}

interface Folder {
  name: string;
  entries: Entry[];
}

export function CreateAlgorithm({ to, close, done }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message } = App.useApp();
  const user = useSession()?.user;
  const [name, setName] = useState(to?.name ?? "");
  const [workspace, setWorkspace] = useState(to?.workspace ?? (user && homeOf(user)) ?? DEFAULT_WORKSPACE);
  const [share, setShare] = useState<JobShare>("none");
  const given = to !== undefined && to.shown > 0 ? to.spec : null;
  const [doc, setDoc] = useState<JsonObject>(() => (given ? short(given) : fresh()));
  const [text, setText] = useState<string | null>(null);
  const [folder, setFolder] = useState<Folder | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const mine = (spaces.data?.items ?? []).map((one) => one.name).filter((one) => user && maySubmit(user, one));
  const places = mine.includes(workspace) ? mine : [workspace, ...mine];
  const read = text === null ? null : readText(text);
  const invalid = read !== null && "problem" in read ? t("algorithms.create.notRead", { message: read.problem }) : null;
  const current = read !== null && "doc" in read ? read.doc : doc;
  const before = folder === null && to?.history.find((one) => one.version === to.shown)?.code;

  const take = async (found: Folder): Promise<void> => {
    if (found.entries.length === 0) return;
    setFolder(found);
    setError(null);
    const file = found.entries.find((one) => one.path === FILE)?.file;
    const said = file && readText(await file.text());
    if (said && "doc" in said) {
      setDoc(said.doc);
      if (text !== null) setText(textOf(said.doc));
      message.success(t("algorithms.create.read"));
    }
    const called = (said && "doc" in said && said.name) || found.name;
    if (name === "") setName(called.replaceAll(/[^\p{sc=Han}A-Za-z0-9_-]+/gu, "-").slice(0, LONGEST_NAME));
  };
  const show = (how: "form" | "text"): void => {
    if (how === "text") setText(textOf(doc));
    else if (read !== null && "doc" in read) {
      setDoc(read.doc);
      setText(null);
    }
  };
  const make = async (): Promise<void> => {
    setError(null);
    setBusy(true);
    try {
      const upload = folder ? (await uploadCode(await packFolder(folder.entries), () => {})).upload : before || null;
      const origin = (!folder && before && given?.["origin"]) || null;
      const code: JsonObject = upload === null ? {} : { code: { upload }, origin };
      const made = await createAlgorithm({ name: name.trim(), workspace, share, spec: { ...current, ...code } });
      message.success(t("algorithms.create.done", { n: made.shown, name: made.name }));
      for (const key of ["algorithms", "algorithm"]) void client.invalidateQueries({ queryKey: [key] });
      done(made);
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={to ? t("algorithms.create.next", { name: to.name }) : t("algorithms.create.title")}
      onCancel={close}
      onOk={() => void make()}
      okText={t("algorithms.create.ok")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      maskClosable={false}
      width={940}
      okButtonProps={{
        disabled: name.trim() === "" || invalid !== null,
        ...{ "data-testid": "algorithm-make" },
      }}
    >
      <p className="tm-faint">{t(to ? "algorithms.create.nextHint" : "algorithms.create.hint")}</p>
      <Choose folder={folder} kept={before ? (to?.shown ?? 0) : 0} take={(found) => void take(found)} />
      <Form layout="vertical" component="div" disabled={busy} className="tm-algorithm-form">
        {!to && (
          <div className="tm-grid tm-grid-2">
            <Form.Item label={t("algorithms.name")} htmlFor="algorithm-name">
              <Input
                id="algorithm-name"
                value={name}
                onChange={(event) => setName(event.target.value)}
                maxLength={LONGEST_NAME}
                data-testid="algorithm-name"
              />
            </Form.Item>
            <Form.Item label={t("algorithms.shared")} htmlFor="algorithm-share">
              <Select<JobShare>
                id="algorithm-share"
                value={share}
                onChange={setShare}
                options={SHARES.map((value) => ({ value, label: t(`algorithms.share.${value}`) }))}
                data-testid="algorithm-share"
              />
            </Form.Item>
            {places.length > 1 && (
              <Form.Item label={t("algorithms.workspace")} htmlFor="algorithm-workspace">
                <Select<string>
                  id="algorithm-workspace"
                  value={workspace}
                  onChange={setWorkspace}
                  options={places.map((value) => ({ value, label: value }))}
                />
              </Form.Item>
            )}
          </div>
        )}
        <Segmented<"form" | "text">
          value={text === null ? "form" : "text"}
          onChange={show}
          aria-label={t("algorithms.create.title")}
          options={[
            { value: "form", label: t("algorithms.create.form"), disabled: invalid !== null },
            { value: "text", label: <span data-testid="algorithm-as-text">{t("algorithms.create.text")}</span> },
          ]}
          className="tm-gap"
        />
        {text === null ? (
          <DocumentFields doc={doc} put={setDoc} workspace={workspace} />
        ) : (
          <Suspense>
            <Editor value={text} language="yaml" height="320px" onChange={setText} testId="algorithm-text" />
          </Suspense>
        )}
      </Form>
      {invalid !== null && <p className="tm-problem-line">{invalid}</p>}
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}

function Choose({
  folder,
  kept,
  take,
}: {
  folder: Folder | null;
  /** The version whose code stays, 0: of none. */
  kept: number;
  take: (folder: Folder) => void;
}): ReactNode {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    const item = event.dataTransfer.items[0]?.webkitGetAsEntry();
    if (item?.isDirectory) take({ name: item.name, entries: await droppedEntries(item) });
  };
  const said = folder
    ? t("algorithms.create.chosen", { count: folder.entries.length, name: folder.name })
    : kept > 0
      ? t("algorithms.create.kept", { n: kept })
      : t("algorithms.create.drop");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what can be dropped here the button inside chooses, too.
    <div
      className="tm-drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => void drop(event)}
      data-testid="algorithm-drop"
    >
      <input
        ref={input}
        type="file"
        hidden
        multiple
        // Spread, since React's types do not know it.
        {...{ webkitdirectory: "" }}
        data-testid="algorithm-folder"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = ""; // else the same folder, chosen again, would be no change
          take({ name: files[0]?.webkitRelativePath.split("/")[0] ?? "", entries: chosenEntries(files) });
        }}
      />
      <Flex gap={12} align="center" wrap>
        <InboxOutlined className="tm-drop-icon" />
        <span className="tm-grow" data-testid="algorithm-chosen">
          {said}
        </span>
        <Button onClick={() => input.current?.click()}>{t("algorithms.create.folder")}</Button>
      </Flex>
    </div>
  );
}
