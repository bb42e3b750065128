/** A job out of a text or a file, in either dialect: OpenPAI's is translated by the platform (R61-R63). */
import { App } from "antd";
import { useTranslation } from "react-i18next";
import { previewJob } from "../../api/jobs";
import type { JsonObject } from "../../api/types";
import { useErrorText } from "../../shared/ui";
import { readDocument, shortForm, withRoles } from "./document";
import { labelOf } from "./labels";

const LARGEST_FILE = 4 * 1024 * 1024;

export interface Take {
  /** Answers the problem, or null when the job is in the form. */
  text: (text: string) => Promise<string | null>;
  file: (chosen: File | undefined) => Promise<void>;
}

export function useTake(put: (doc: JsonObject) => void): Take {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const text = async (given: string): Promise<string | null> => {
    const read = readDocument(given);
    if ("problem" in read)
      return read.problem === "" ? t("submit.json.notObject") : t("submit.json.invalid", { message: read.problem });
    if (!read.pai) {
      put(withRoles(read.doc));
      return null;
    }
    try {
      const translated = await previewJob({ spec: read.doc, dialect: "pai" });
      if (!translated.spec)
        return translated.problems
          .map(({ path, rule, remedy }) =>
            t("mark.named", { what: labelOf(path, t) || path, name: `${rule}${t("mark.stop")}${remedy}` }),
          )
          .join("\n");
      put(withRoles(shortForm(translated.spec)));
      message.success(t("submit.json.translated"));
      return null;
    } catch (error) {
      const { title, remedy } = errorText(error);
      return `${title} ${remedy}`;
    }
  };
  const file = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    const problem = chosen.size > LARGEST_FILE ? t("submit.json.tooBig") : await text(await chosen.text());
    if (problem === null) message.success(t("submit.json.imported", { name: chosen.name }));
    else message.error(problem, 8);
  };
  return { text, file };
}
