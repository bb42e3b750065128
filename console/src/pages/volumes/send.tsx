/** Sends files to a volume, one after the other, and shows how far it is. */
import { App, Modal, Progress } from "antd";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Unreachable } from "../../api/client";
import { sendVolumeFile } from "../../api/volumes";
import { bytes } from "../../shared/format";
import { ErrorPanel } from "../../shared/ui";
import type { Chosen } from "./paths";

const TRIES = 4;

interface Props {
  volume: string;
  files: readonly Chosen[];
  close: () => void;
}

export function SendFiles({ volume, files, close }: Props): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const [sent, setSent] = useState(0);
  const [at, setAt] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const over = useRef(false);
  const begun = useRef(false);
  const total = files.reduce((sum, { file }) => sum + file.size, 0);

  useEffect(() => {
    if (begun.current) return; // once, also where React runs effects twice
    begun.current = true;
    const run = async (): Promise<void> => {
      let done = 0;
      for (const [i, { path, file }] of files.entries()) {
        if (over.current) return;
        setAt(i);
        const base = done;
        await again(() => sendVolumeFile(volume, path, file, (fraction) => setSent(base + fraction * file.size)));
        done += file.size;
        setSent(done);
      }
      message.success(t("volumes.send.done", { count: files.length }));
      close();
    };
    run().catch((refused: unknown) => setError(refused));
  }, [volume, files, close, message, t]);

  const stop = (): void => {
    over.current = true;
    close();
  };
  const percent = total > 0 ? Math.floor((100 * sent) / total) : 100;
  return (
    <Modal
      open
      title={t("volumes.send.title")}
      onCancel={stop}
      maskClosable={false}
      cancelText={error === null ? t("volumes.send.stop") : t("nav.close")}
      okButtonProps={{ style: { display: "none" } }}
    >
      <div data-testid="volume-sending" aria-live="polite">
        <p>
          {t("volumes.send.at", { n: at + 1, of: files.length, size: bytes(total) })}
          <br />
          <code className="tm-mono">{files[at]?.path}</code>
        </p>
        <Progress percent={percent} status={error === null ? "active" : "exception"} />
      </div>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}

/** Sends again where the line broke: until a file is whole, the server has what it had. */
async function again<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Unreachable) || tries >= TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
    }
  }
}
