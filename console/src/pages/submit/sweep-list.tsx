/** A batch (R45, R48): each line is a job with an algorithm or a command, and parameters, of its own. */
import { CopyOutlined, DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { type OfferOption, offers, renderOffer } from "./offers";
import { useForm } from "./state";
import { type EntryLine, isSetting, listOf, withList } from "./sweep-lines";
import { useAlgorithm } from "./use-algorithm";

const EMPTY: EntryLine = { algorithm: "", command: "", parameters: [] };

export function EntryList({ sweep }: { sweep: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const { known } = useAlgorithm();
  const [lines, setLines] = useState<readonly EntryLine[]>(() => listOf(sweep));
  const put = (next: readonly EntryLine[]): void => {
    setLines(next);
    form.set("sweep", withList(sweep, next));
    form.touch("sweep");
  };
  const change = (at: number, part: Partial<EntryLine>): void =>
    put(lines.map((line, i) => (i === at ? { ...line, ...part } : line)));
  return (
    <>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place: it is the number of the entry.
        <div className="tm-sweep-entry" key={at} data-testid="sweep-entry">
          <span className="tm-faint tm-num">{at + 1}</span>
          <Select<string, OfferOption>
            showSearch
            allowClear
            value={line.algorithm || undefined}
            placeholder={t("sweeps.form.algorithm")}
            aria-label={t("sweeps.form.algorithm")}
            popupMatchSelectWidth={false}
            options={offers(known)}
            optionRender={renderOffer}
            onChange={(next) => change(at, { algorithm: next ?? "" })}
            data-testid={`sweep-algorithm-${at}`}
          />
          <Input
            value={line.command}
            disabled={line.algorithm !== "" && line.command === ""}
            placeholder={t(line.algorithm === "" ? "sweeps.form.command" : "sweeps.form.commandOf")}
            aria-label={t("sweeps.form.command")}
            onChange={(event) => change(at, { command: event.target.value })}
            data-testid={`sweep-command-${at}`}
          />
          <Select
            mode="tags"
            open={false}
            suffixIcon={null}
            value={[...line.parameters]}
            tokenSeparators={[",", " ", ";"]}
            placeholder={t("sweeps.form.setting")}
            aria-label={t("sweeps.form.parameters")}
            onChange={(texts: string[]) => change(at, { parameters: texts.filter(isSetting) })}
            data-testid={`sweep-parameters-${at}`}
          />
          <Button
            icon={<CopyOutlined />}
            aria-label={t("sweeps.form.copy", { n: at + 1 })}
            title={t("sweeps.form.copy", { n: at + 1 })}
            onClick={() => put([...lines.slice(0, at + 1), line, ...lines.slice(at + 1)])}
            data-testid={`sweep-copy-${at}`}
          />
          <Button
            icon={<DeleteOutlined />}
            aria-label={t("sweeps.form.drop", { n: at + 1 })}
            title={t("sweeps.form.drop", { n: at + 1 })}
            onClick={() => put(lines.filter((_, i) => i !== at))}
            data-testid={`sweep-drop-${at}`}
          />
        </div>
      ))}
      <Button icon={<PlusOutlined />} onClick={() => put([...lines, EMPTY])} data-testid="sweep-entry-add">
        {t("sweeps.form.addEntry")}
      </Button>
    </>
  );
}
