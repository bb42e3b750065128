/** The queue's policy: every knob with what it means and its bounds; simulated on the platform's own past before it is saved. */
import { ExperimentOutlined, UndoOutlined } from "@ant-design/icons";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Input, InputNumber, Select, Switch, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { type PolicyValues, readPolicy, savePolicy, simulatePolicy } from "../../api/queue";
import type { Knob, KnobValue, PolicyEffect, PolicyView } from "../../api/types";
import { useBilingual } from "../../i18n";
import { Ago } from "../../shared/time";
import { ErrorPanel, Pending, Sentences, useErrorText } from "../../shared/ui";
import { Change } from "../queue/sooner";
import { Effect } from "./effect";
import { boundsOf, changesOf, choiceOf, type Draft, meaningOf, readDraft, spelled, wordOf } from "./knobs";

export function PolicyAdmin(): ReactNode {
  const query = useQuery({ queryKey: ["policy"], queryFn: readPolicy });
  if (!query.data) return <Pending query={query} rows={10} />;
  return <PolicyForm policy={query.data} />;
}

function PolicyForm({ policy }: { policy: PolicyView }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [draft, setDraft] = useState<Draft>({});
  const { values, problems } = changesOf(policy.knobs, draft, t);
  const simulated = useMutation<PolicyEffect, unknown, PolicyValues>({
    mutationFn: (wanted) => simulatePolicy(wanted),
  });
  const saving = useMutation({
    mutationFn: () => savePolicy(values),
    onSuccess: (next) => {
      client.setQueryData(["policy"], next);
      setDraft({});
      simulated.reset();
      message.success(t("admin.saved"));
    },
    onError: (error) => {
      message.error(errorText(error).line, 8);
    },
  });
  const count = Object.keys(values).length;
  const wrong = Object.keys(problems).length > 0;
  const stale = simulated.data !== undefined && JSON.stringify(simulated.variables) !== JSON.stringify(values);
  return (
    <div className="tm-policy" data-testid="policy">
      <section className="tm-panel">
        <div className="tm-admin-head">
          <p className="tm-faint tm-flat">
            <Sentences
              of={[
                t("admin.policy.hint"),
                policy.changed_at === null
                  ? t("admin.policy.never")
                  : t("admin.policy.changedBy", { name: policy.changed_by ?? "–" }),
              ]}
            />{" "}
            {policy.changed_at !== null && <Ago at={policy.changed_at} />}
          </p>
        </div>
        {policy.knobs.map((knob) => (
          <KnobRow
            key={knob.name}
            knob={knob}
            draft={draft[knob.name]}
            problem={problems[knob.name]}
            set={(value) => setDraft((old) => ({ ...old, [knob.name]: value }))}
          />
        ))}
      </section>
      <aside className="tm-policy-side">
        <section className="tm-panel">
          <h2>
            {wrong
              ? t("error.problems", { count: Object.keys(problems).length })
              : count === 0
                ? t("admin.policy.noChanges")
                : t("admin.policy.changes", { count })}
          </h2>
          <div className="tm-panel-body tm-stack">
            {wrong && (
              <ul className="tm-problem-list" data-testid="policy-problems">
                {policy.knobs
                  .filter((knob) => knob.name in problems)
                  .map((knob) => (
                    <ProblemLine key={knob.name} knob={knob} problem={problems[knob.name] ?? ""} />
                  ))}
              </ul>
            )}
            {count > 0 && (
              <ul className="tm-changes">
                {policy.knobs
                  .filter((knob) => knob.name in values)
                  .map((knob) => (
                    <ChangeLine key={knob.name} knob={knob} value={values[knob.name] ?? knob.default} />
                  ))}
              </ul>
            )}
            <div className="tm-actions">
              <Tooltip title={simulated.data ? undefined : t("admin.policy.simulateHint")}>
                <Button
                  icon={<ExperimentOutlined />}
                  disabled={wrong || count === 0}
                  loading={simulated.isPending}
                  onClick={() => simulated.mutate(values)}
                  data-testid="policy-simulate"
                >
                  {t("admin.policy.simulate")}
                </Button>
              </Tooltip>
              <Button
                type="primary"
                disabled={wrong || count === 0}
                loading={saving.isPending}
                onClick={() => saving.mutate()}
                data-testid="policy-save"
              >
                {t("admin.policy.save")}
              </Button>
              <Button
                type="text"
                disabled={Object.keys(draft).length === 0}
                onClick={() => {
                  setDraft({});
                  simulated.reset();
                }}
              >
                {t("admin.policy.discard")}
              </Button>
            </div>
            {count > 0 && !wrong && !simulated.data && !simulated.error && (
              <p className="tm-faint tm-flat">{t("admin.policy.saveFirst")}</p>
            )}
            {simulated.error !== null && <ErrorPanel error={simulated.error} />}
            {simulated.data && <Effect effect={simulated.data} stale={stale} />}
          </div>
        </section>
      </aside>
    </div>
  );
}

function ChangeLine({ knob, value }: { knob: Knob; value: KnobValue }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  return (
    <li>
      <span className="tm-grow">{pick(knob.title)}</span>
      <Change before={wordOf(knob, knob.value, t)} after={wordOf(knob, value, t)} />
    </li>
  );
}

function ProblemLine({ knob, problem }: { knob: Knob; problem: string }): ReactNode {
  const pick = useBilingual();
  const go = (): void => document.querySelector<HTMLElement>(`[data-testid="knob-${knob.name}"] input`)?.focus();
  return (
    <li>
      <button type="button" className="tm-link" onClick={go}>
        {pick(knob.title)}
      </button>
      <span className="tm-bad">{problem}</span>
    </li>
  );
}

function KnobRow({
  knob,
  draft,
  problem,
  set,
}: {
  knob: Knob;
  draft: KnobValue | undefined;
  problem: string | undefined;
  set: (value: KnobValue) => void;
}): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const typed = draft ?? spelled(knob, knob.value);
  const read = readDraft(knob, typed, t);
  const isDefault = "value" in read && read.value === knob.default;
  const title = pick(knob.title);
  const bounds =
    knob.choices.length > 0 || typeof knob.default === "boolean" ? "" : t("admin.policy.bounds", boundsOf(knob));
  return (
    <div
      className="tm-knob"
      data-testid={`knob-${knob.name}`}
      data-changed={"value" in read && read.value !== knob.value}
    >
      <div className="tm-grow">
        <h3>
          {title} <code className="tm-faint">{knob.name}</code>
        </h3>
        <p className="tm-faint">{meaningOf(pick(knob.meaning), String(typed))}</p>
      </div>
      <div className="tm-knob-value">
        <div className="tm-kv-row">
          <KnobInput knob={knob} value={typed} set={set} label={title} bad={problem !== undefined} />
          <Tooltip title={t("admin.policy.toDefault")}>
            <Button
              type="text"
              icon={<UndoOutlined />}
              disabled={isDefault}
              aria-label={t("mark.named", { what: t("admin.policy.toDefault"), name: title })}
              onClick={() => set(spelled(knob, knob.default))}
            />
          </Tooltip>
        </div>
        <span
          className={problem ? "tm-line tm-line-bad" : "tm-line"}
          data-testid={problem ? "knob-problem" : undefined}
        >
          {problem ??
            [
              bounds,
              t("admin.policy.default", {
                value: wordOf(knob, knob.default, t),
              }),
            ]
              .filter(Boolean)
              .join(" · ")}
        </span>
      </div>
    </div>
  );
}

/** 0.5, not 0.50: the step's digits do not pad the value. */
const unpadded = (
  value: string | number | undefined,
  { userTyping, input }: { userTyping: boolean; input: string },
): string => (userTyping || value === undefined || value === "" ? input : String(Number(value)));

function KnobInput({
  knob,
  value,
  set,
  label,
  bad,
}: {
  knob: Knob;
  value: KnobValue;
  set: (value: KnobValue) => void;
  label: string;
  bad: boolean;
}): ReactNode {
  const { t } = useTranslation();
  if (typeof knob.default === "boolean") return <Switch checked={value === true} onChange={set} aria-label={label} />;
  if (knob.choices.length > 0)
    return (
      <Select
        value={String(value)}
        onChange={set}
        aria-label={label}
        popupMatchSelectWidth={false}
        options={knob.choices.map((choice) => ({ value: choice, label: choiceOf(choice, t) }))}
        optionRender={({ value: choice }) => (
          <span>
            {choiceOf(String(choice), t)} <code className="tm-faint">{String(choice)}</code>
          </span>
        )}
        className="tm-knob-input"
      />
    );
  if (knob.unit === "s")
    return (
      <Input
        value={String(value)}
        status={bad ? "error" : undefined}
        onChange={(e) => set(e.target.value)}
        aria-label={label}
        className="tm-knob-input"
      />
    );
  return (
    <InputNumber
      value={typeof value === "number" ? value : null}
      status={bad ? "error" : undefined}
      step={knob.unit === "count" ? 1 : 0.05}
      formatter={unpadded}
      onChange={(next) => set(next ?? "")}
      aria-label={label}
      className="tm-knob-input"
    />
  );
}
