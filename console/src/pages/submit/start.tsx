/** The examples above an empty form. */
import { App, Spin } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { uploadCode } from "../../api/uploads";
import { useErrorText } from "../../shared/ui";
import { EXAMPLES, type Example } from "./examples";
import { remember } from "./known";
import { packFolder } from "./tar";

export function Examples({ choose }: { choose: (job: JsonObject) => void }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const [loading, setLoading] = useState<Example["id"]>();
  const take = async (example: Example): Promise<void> => {
    setLoading(example.id);
    try {
      choose(await readyJob(example));
    } catch (error) {
      message.error(`${t("submit.example.failed")} ${errorText(error).title}`, 8);
    } finally {
      setLoading(undefined);
    }
  };
  return (
    <section className="tm-examples" aria-label={t("submit.example.title")} data-testid="examples">
      <h2>
        {t("submit.example.title")} <span className="tm-faint">{t("submit.example.hint")}</span>
      </h2>
      <ul>
        {EXAMPLES.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              disabled={loading !== undefined}
              onClick={() => void take(one)}
              data-testid={`example-${one.id}`}
            >
              <b>
                {t(`submit.example.${one.id}`)} {loading === one.id && <Spin size="small" />}
              </b>
              <span className="tm-faint">{t(`submit.example.${one.id}Hint`)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The example's document, with its files uploaded as its code. */
async function readyJob({ id, job, files }: Example): Promise<JsonObject> {
  if (!files) return job;
  const entries = Object.entries(files).map(([path, text]) => ({ path, file: new File([text], path) }));
  const sent = await uploadCode(await packFolder(entries), () => undefined);
  remember(id, sent);
  return { ...job, code: { upload: sent.upload } };
}
