/** What somebody says of a thing that has a page, changed in its place. */
import { EditOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useAct } from "./act";

const LONGEST = 2000;

interface Props {
  /** Which part of the texts. */
  words: "datasets" | "algorithms" | "volumes" | "images";
  text: string;
  writes: boolean;
  change: (text: string) => Promise<unknown>;
  /** What is read again once it is changed. */
  read: readonly string[];
}

export function Described({ words, text: before, writes, change, read }: Props): ReactNode {
  const { t } = useTranslation();
  const act = useAct(read);
  const [text, setText] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    const saved = await act(async () => {
      await change((text ?? "").trim());
      return t(`${words}.described`);
    });
    if (saved) setText(null);
  };
  if (text !== null)
    return (
      <div className="tm-describe">
        <Input.TextArea
          value={text}
          onChange={(event) => setText(event.target.value)}
          maxLength={LONGEST}
          autoSize={{ minRows: 1, maxRows: 8 }}
          aria-label={t(`${words}.description`)}
          autoFocus
          data-testid="description-text"
        />
        <Button onClick={() => setText(null)}>{t("action.cancel")}</Button>
        <Button type="primary" onClick={() => void save()} data-testid="description-save">
          {t("action.save")}
        </Button>
      </div>
    );
  if (before === "" && !writes) return null;
  return (
    <p className="tm-describe">
      <span>{before || <span className="tm-faint">{t(`${words}.description`)} –</span>}</span>
      {writes && (
        <Button
          type="text"
          size="small"
          icon={<EditOutlined />}
          onClick={() => setText(before)}
          aria-label={t(`${words}.edit`)}
          data-testid="description-edit"
        />
      )}
    </p>
  );
}
