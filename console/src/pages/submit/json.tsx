/** The form's job as text, both ways; an OpenPAI document pasted here is translated by the platform (R61-R63). */
import { Alert, Button, Drawer, Flex, Segmented } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { stringify } from "yaml";
import type { JsonObject } from "../../api/types";
import { Editor } from "../../shared/editor";
import { CopyButton } from "../../shared/ui";
import { inOrder, type Language, languageOf, readDocument } from "./document";

interface Props {
  doc: JsonObject;
  close: () => void;
  /** Takes a document of either dialect; answers the problem, or null when it is in the form. */
  take: (text: string) => Promise<string | null>;
}

const LANGUAGES = ["json", "yaml"] as const;

const write = (doc: JsonObject, language: Language): string =>
  language === "json" ? JSON.stringify(doc, null, 2) : stringify(doc, { lineWidth: 100 });

export function JsonDrawer({ doc, close, take }: Props): ReactNode {
  const { t } = useTranslation();
  const [language, setLanguage] = useState<Language>("json");
  const [draft, setDraft] = useState(() => write(inOrder(doc), "json"));
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const read = readDocument(draft);
  const invalid =
    "problem" in read
      ? read.problem === ""
        ? t("submit.json.notObject")
        : t("submit.json.invalid", { message: read.problem })
      : null;
  const change = (next: Language): void => {
    setLanguage(next);
    if (!("problem" in read)) setDraft(write(read.doc, next));
  };
  const apply = async (): Promise<void> => {
    setBusy(true);
    const refused = await take(draft);
    setBusy(false);
    if (refused === null) close();
    else setProblem(refused);
  };
  return (
    <Drawer
      open
      title={t("submit.json.title")}
      size={720}
      onClose={close}
      styles={{ body: { padding: 0, display: "flex", flexDirection: "column" } }}
      extra={
        <Flex gap={8}>
          <CopyButton text={draft} />
          <Segmented<Language>
            value={language}
            onChange={change}
            aria-label={t("submit.json.language")}
            options={LANGUAGES.map((value) => ({ value, label: value.toUpperCase() }))}
          />
        </Flex>
      }
      footer={
        <Flex gap={8} justify="flex-end">
          <Button onClick={close}>{t("action.cancel")}</Button>
          <Button
            type="primary"
            disabled={invalid !== null}
            loading={busy}
            onClick={() => void apply()}
            data-testid="json-apply"
          >
            {t("submit.json.apply")}
          </Button>
        </Flex>
      }
    >
      <p className="tm-faint tm-json-hint">{t("submit.json.hint")}</p>
      <div className="tm-grow">
        <Editor
          value={draft}
          language={language}
          height="100%"
          onChange={(next) => {
            setDraft(next);
            setProblem(null);
            setLanguage(languageOf(next)); // a YAML that is pasted over JSON is no wrong JSON
          }}
          testId="json-editor"
        />
      </div>
      {(invalid ?? problem) && <Alert type="error" banner title={invalid ?? problem} data-testid="json-problem" />}
      {!invalid && !problem && "pai" in read && read.pai && <Alert type="info" banner title={t("submit.json.pai")} />}
    </Drawer>
  );
}
