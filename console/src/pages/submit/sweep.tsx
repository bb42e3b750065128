/** Parameters with several values (R45), of which each combination becomes a job; or a list of jobs. What is written stands in `sweep` of the document. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input, InputNumber, Segmented, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Json, JsonObject } from "../../api/types";
import { getAt, isObject } from "./document";
import { Fold } from "./fold";
import { Section } from "./sections";
import { useForm } from "./state";
import { gridOf, readValue, type SweepLine, spellValue, withGrid } from "./sweep-lines";
import { EntryList } from "./sweep-list";

/** `wanted`: somebody came to write one. */
export function SweepSection({ count, wanted }: { count: number | undefined; wanted: boolean }): ReactNode {
  const { t } = useTranslation();
  const { doc, problemsAt } = useForm();
  const sweep = isObject(doc["sweep"]) ? doc["sweep"] : undefined;
  const counted = sweep !== undefined && count !== undefined && count > 0;
  return (
    <Section id="sweep" title={t("sweeps.form.title")}>
      <Fold
        title={t("sweeps.form.hint")}
        summary={counted ? t("sweeps.form.count", { count }) : ""}
        paths={["sweep"]}
        test="fold-sweep"
        wanted={wanted}
      >
        {sweep !== undefined && "random" in sweep ? <p>{t("sweeps.form.elsewhere")}</p> : <Typed sweep={sweep ?? {}} />}
        {counted && (
          <p className="tm-faint" data-testid="sweep-count">
            {t("sweeps.form.count", { count })}
          </p>
        )}
        {problemsAt("sweep", true).map((one) => (
          <p key={one.path + one.rule} className="tm-line-bad" role="alert">
            {one.rule}
            {t("mark.stop")}
            {one.remedy}
          </p>
        ))}
      </Fold>
    </Section>
  );
}

/** One of the two ways; what the other one had goes with the change. */
function Typed({ sweep }: { sweep: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const [way, setWay] = useState<"grid" | "list">("list" in sweep ? "list" : "grid");
  const shown = "list" in sweep ? "list" : "grid" in sweep ? "grid" : way;
  const choose = (next: "grid" | "list"): void => {
    setWay(next);
    form.set("sweep", undefined);
    form.touch("sweep");
  };
  return (
    <div className="tm-sweep-form" data-path="sweep">
      <Segmented<"grid" | "list">
        value={shown}
        onChange={choose}
        aria-label={t("sweeps.form.way")}
        options={(["grid", "list"] as const).map((value) => ({
          value,
          label: <span data-testid={`sweep-way-${value}`}>{t(`sweeps.form.ways.${value}`)}</span>,
        }))}
      />
      {shown === "list" ? <EntryList sweep={sweep} /> : <Grid sweep={sweep} />}
      {Object.keys(sweep).length > 0 && <More sweep={sweep} />}
    </div>
  );
}

function Grid({ sweep }: { sweep: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  // A line without a name or a value is not in the document yet.
  const [lines, setLines] = useState<readonly SweepLine[]>(() => gridOf(sweep));
  const put = (next: readonly SweepLine[]): void => {
    setLines(next);
    form.set("sweep", withGrid(sweep, next));
    form.touch("sweep");
  };
  const change = (at: number, part: Partial<SweepLine>): void =>
    put(lines.map((line, i) => (i === at ? { ...line, ...part } : line)));
  return (
    <>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place: its name is what is typed.
        <div className="tm-sweep-line" key={at}>
          <Input
            value={line.name}
            placeholder={t("sweeps.form.parameter")}
            aria-label={t("sweeps.form.parameter")}
            onChange={(event) => change(at, { name: event.target.value })}
            data-testid={`sweep-name-${at}`}
          />
          <Select
            mode="tags"
            open={false}
            suffixIcon={null}
            value={line.values.map(spellValue)}
            tokenSeparators={[",", " ", ";"]}
            placeholder={t("sweeps.form.values")}
            aria-label={t("sweeps.form.values")}
            onChange={(texts: string[]) => change(at, { values: texts.map(readValue) })}
            data-testid={`sweep-values-${at}`}
          />
          <Button
            icon={<DeleteOutlined />}
            aria-label={t("sweeps.form.remove", { name: line.name })}
            onClick={() => put(lines.filter((_, i) => i !== at))}
            data-testid={`sweep-remove-${at}`}
          />
        </div>
      ))}
      <Button
        icon={<PlusOutlined />}
        onClick={() => setLines([...lines, { name: "", values: [] }])}
        data-testid="sweep-add"
      >
        {t("sweeps.form.add")}
      </Button>
    </>
  );
}

function More({ sweep }: { sweep: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const early = getAt(form.doc, "sweep.stop_early.after");
  const more = (path: string, value: Json | undefined): void => {
    form.set(`sweep.${path}`, value);
    form.touch("sweep");
  };
  return (
    <div className="tm-sweep-more">
      <label className="tm-switch">
        {t("sweeps.form.metric")}
        <Input
          className="tm-short"
          value={typeof sweep["metric"] === "string" ? sweep["metric"] : ""}
          onChange={(event) => more("metric", event.target.value || undefined)}
          data-testid="sweep-metric"
        />
      </label>
      <label className="tm-switch">
        {t("sweeps.form.early")}
        <InputNumber
          min={1}
          value={typeof early === "number" ? early : null}
          onChange={(after) => more("stop_early", after ? { rule: "halving", after } : undefined)}
          data-testid="sweep-early"
        />
      </label>
      <label className="tm-switch">
        {t("sweeps.form.most")}
        <InputNumber
          min={1}
          value={typeof sweep["most_at_once"] === "number" ? sweep["most_at_once"] : null}
          onChange={(most) => more("most_at_once", most ?? undefined)}
          data-testid="sweep-most"
        />
      </label>
    </div>
  );
}
