/** Where the code comes from: a folder or a tar.gz of this computer, a path of the platform's machine, or none. */
import { CodeOutlined, FolderOpenOutlined, InboxOutlined } from "@ant-design/icons";
import { Button, Flex, Progress } from "antd";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { uploadCode } from "../../api/uploads";
import { bytes } from "../../shared/format";
import { Sentences, useErrorText } from "../../shared/ui";
import { getAt } from "./document";
import { FieldFrame } from "./fields";
import { knownUpload, remember, shortDigest } from "./known";
import { useForm } from "./state";
import { chosenEntries, droppedEntries, type Entry, packFolder } from "./tar";

type Work = { step: "packing"; files: number } | { step: "sending"; fraction: number } | null;

export function CodeField(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const errorText = useErrorText();
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const [work, setWork] = useState<Work>(null);
  const [problem, setProblem] = useState("");
  const limit = form.meta?.limits["max_upload_mib"];
  const upload = getAt(form.doc, "code.upload");
  const current = upload ?? getAt(form.doc, "code.path") ?? getAt(form.doc, "code");

  const send = async (name: string, packed: Blob): Promise<void> => {
    if (limit !== undefined && packed.size > limit * 1024 * 1024) {
      setProblem(t("submit.code.tooLarge", { size: bytes(packed.size), limit: `${limit} MiB` }));
      return;
    }
    setWork({ step: "sending", fraction: 0 });
    const answer = await uploadCode(packed, (fraction) => setWork({ step: "sending", fraction }));
    remember(name, answer);
    form.set("code", { upload: answer.upload });
  };
  const run = async (name: string, make: () => Promise<Blob | null>): Promise<void> => {
    setProblem("");
    try {
      const packed = await make();
      if (packed) await send(name, packed);
    } catch (error) {
      setProblem(errorText(error).line);
    } finally {
      setWork(null);
    }
  };
  const pack = async (entries: Entry[]): Promise<Blob | null> => {
    if (entries.length === 0) return null;
    setWork({ step: "packing", files: entries.length });
    return packFolder(entries);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    const item = event.dataTransfer.items[0]?.webkitGetAsEntry();
    const file = event.dataTransfer.files[0];
    if (item?.isDirectory) void run(item.name, async () => pack(await droppedEntries(item)));
    else if (file) void run(file.name, async () => file);
  };
  return (
    <FieldFrame
      path="code"
      deep
      label={t("submit.field.code")}
      help={[t("help.code"), limit === undefined ? "" : t("submit.code.most", { mib: limit })].join(" ").trim()}
      hint={problem || undefined}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what can be dropped here the buttons inside choose, too. */}
      <div className="tm-drop" onDragOver={(e) => e.preventDefault()} onDrop={drop} data-testid="code-drop">
        <input
          ref={folder}
          type="file"
          hidden
          multiple
          // Spread, since React's types do not know it.
          {...{ webkitdirectory: "" }}
          data-testid="code-folder"
          onChange={(e) => {
            const files = [...(e.target.files ?? [])];
            e.target.value = ""; // else the same folder, chosen again, would be no change
            void run(files[0]?.webkitRelativePath.split("/")[0] ?? "", () => pack(chosenEntries(files)));
          }}
        />
        <input
          ref={archive}
          type="file"
          hidden
          accept=".tar.gz,.tgz,application/gzip"
          data-testid="code-archive"
          onChange={(e) => {
            const file = e.target.files?.[0];
            e.target.value = ""; // as above
            if (file) void run(file.name, async () => file);
          }}
        />
        {work?.step === "packing" && <span>{t("submit.code.packing", { count: work.files })}…</span>}
        {work?.step === "sending" && (
          <Flex gap={12} align="center">
            <span>{t("submit.code.sending")}</span>
            <Progress percent={Math.round(work.fraction * 100)} size="small" style={{ width: 220 }} />
          </Flex>
        )}
        {!work && current != null && (
          <Flex gap={10} align="center" wrap>
            {typeof upload === "string" ? <Sent digest={upload} /> : <Elsewhere path={String(current)} />}
            <Button size="small" onClick={() => folder.current?.click()}>
              {t("submit.code.change")}
            </Button>
            <Button size="small" type="text" onClick={() => form.set("code", undefined)}>
              {t("action.remove")}
            </Button>
          </Flex>
        )}
        {!work && current == null && (
          <Flex gap={12} align="center" wrap>
            <InboxOutlined className="tm-drop-icon" />
            <span className="tm-grow">
              <span>{t("submit.code.drop")}</span>
              <span className="tm-line">
                <Sentences of={[t("submit.code.at"), t("submit.code.ignored")]} />
              </span>
            </span>
            <Button onClick={() => folder.current?.click()}>{t("submit.code.upload")}</Button>
            <Button onClick={() => archive.current?.click()}>{t("submit.code.archive")}</Button>
          </Flex>
        )}
      </div>
    </FieldFrame>
  );
}

/** What was uploaded: the folder's name and its files where this browser sent it, else the beginning of its digest. */
function Sent({ digest }: { digest: string }): ReactNode {
  const { t } = useTranslation();
  const known = knownUpload(digest);
  return (
    <span className="tm-code-name" title={digest} data-testid="code-ready">
      <FolderOpenOutlined className="tm-ok" /> {known ? <b>{known.name}</b> : <code>{shortDigest(digest)}</code>}{" "}
      <span className="tm-faint">
        {known ? t("submit.code.ready", { count: known.files, size: bytes(known.bytes) }) : t("submit.code.earlier")}
      </span>
    </span>
  );
}

function Elsewhere({ path }: { path: string }): ReactNode {
  return (
    <span className="tm-mono tm-ellipsis tm-code-name" title={path}>
      <CodeOutlined /> {path}
    </span>
  );
}
