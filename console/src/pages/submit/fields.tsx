/** Fields bound to a place of the document: label, hover help with bounds (R66), value, and the problem right there. */
import { QuestionCircleOutlined } from "@ant-design/icons";
import { AutoComplete, Form, Input, InputNumber, Select, Space, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Json, Problem } from "../../api/types";
import {
  duration,
  mib,
  number,
  parseDuration,
  parseMemory,
  shellWords,
  spellDuration,
  spellMemory,
} from "../../shared/format";
import { type Bounds, boundsAt } from "./bounds";
import { getAt } from "./document";
import { useForm } from "./state";

export interface FieldProps {
  path: string;
  label: string;
  help?: string;
  required?: boolean;
  className?: string;
}

interface FrameProps extends FieldProps {
  children: ReactNode;
  /** Problems of everything inside count too (lists, key-value pairs). */
  deep?: boolean;
  /** Those inside that another field shows. */
  except?: (path: string) => boolean;
  hint?: ReactNode;
  /** How its bounds are written. */
  spell?: (value: number) => string;
  most?: number;
}

/** What a field is for and what it may hold: the help, and the bounds of the job's schema (R66). */
function useHelp(
  path: string,
  help: string | undefined,
  spell: (value: number) => string,
  atMost = Number.POSITIVE_INFINITY,
): string | undefined {
  const { t } = useTranslation();
  const { schema } = useForm();
  if (help === undefined) return undefined;
  const { min, max: highest, shortest, longest, most, longestKey, longestValue, usual } = boundsAt(schema, path);
  const max = highest === undefined ? undefined : Math.min(highest, atMost);
  const said = [help];
  if (min !== undefined && max !== undefined) said.push(t("submit.bounds.range", { min: spell(min), max: spell(max) }));
  else if (min !== undefined) said.push(t("submit.bounds.least", { min: spell(min) }));
  if (shortest !== undefined && longest !== undefined)
    said.push(t("submit.bounds.charactersFrom", { min: shortest, max: longest }));
  else if (longest !== undefined) said.push(t("submit.bounds.characters", { max: number(longest) }));
  if (most !== undefined) said.push(t("submit.bounds.items", { max: number(most) }));
  if (longestKey !== undefined) said.push(t("submit.bounds.names", { max: number(longestKey) }));
  if (longestValue !== undefined) said.push(t("submit.bounds.values", { max: number(longestValue) }));
  if (usual !== undefined) said.push(t("submit.bounds.usual", { value: spell(usual) }));
  return said.join(" ");
}

/** The question mark beside a label, which says more under the pointer and to the keyboard. */
export function HelpMark({ text }: { text: string }): ReactNode {
  return (
    <Tooltip title={text}>
      <QuestionCircleOutlined tabIndex={0} aria-label={text} className="tm-help" data-testid="help" />
    </Tooltip>
  );
}

export function FieldFrame(props: FrameProps): ReactNode {
  const { path, label, required, className, children, deep, except, hint, spell = number } = props;
  const { problemsAt } = useForm();
  const problems = problemsAt(path, deep).filter((one) => except?.(one.path) !== true);
  const help = useHelp(path, props.help, spell, props.most);
  return (
    <div data-path={path} className={className}>
      <Form.Item
        layout="vertical"
        label={label}
        required={required}
        tooltip={help ? { title: help, icon: <QuestionCircleOutlined tabIndex={0} aria-label={help} /> } : undefined}
        validateStatus={problems.length > 0 ? "error" : ""}
        help={problems.length > 0 ? <ProblemLines problems={problems} /> : hint}
      >
        {children}
      </Form.Item>
    </div>
  );
}

/** The names of columns, each with its help, above rows whose fields have no label of their own. */
export function ColumnHeads({
  columns,
}: {
  columns: readonly [path: string, label: string, help: string][];
}): ReactNode {
  return (
    <div className="tm-kv-heads">
      {columns.map(([path, label, help]) => (
        <ColumnHead key={path} path={path} label={label} help={help} />
      ))}
    </div>
  );
}

function ColumnHead({ path, label, help }: { path: string; label: string; help: string }): ReactNode {
  const text = useHelp(path, help, number);
  return (
    <span>
      {label} <HelpMark text={text ?? help} />
    </span>
  );
}

function ProblemLines({ problems }: { problems: Problem[] }): ReactNode {
  const { t } = useTranslation();
  return (
    <span data-testid="field-problem">
      {problems.map((p) => (
        <span key={p.path + p.rule} className="tm-problem-line">
          {p.rule}
          {p.remedy && `${t("mark.stop")}${p.remedy}`}
        </span>
      ))}
    </span>
  );
}

function useField(path: string): {
  value: Json | undefined;
  set: (value: Json | undefined) => void;
  touch: () => void;
} {
  const form = useForm();
  return { value: getAt(form.doc, path), set: (value) => form.set(path, value), touch: () => form.touch(path) };
}

/** A command given as a list of words is shown as the one line that means the same. */
const text = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : Array.isArray(value) ? shellWords(value.map(String)) : String(value);

export function TextField({
  rows,
  mono,
  placeholder,
  keepEmpty,
  hint,
  replaced,
  ...props
}: FieldProps & {
  rows?: number;
  mono?: boolean;
  placeholder?: string;
  keepEmpty?: boolean;
  hint?: ReactNode;
  /** A text that is there to be written over: all of it is selected as soon as somebody is in the field. */
  replaced?: string;
}): ReactNode {
  const { value, set, touch } = useField(props.path);
  const common = {
    onFocus: (e: { target: { select: () => void } }) => {
      if (replaced !== undefined && value === replaced) e.target.select();
    },
    value: text(value),
    placeholder,
    onBlur: touch,
    "data-testid": `field-${props.path}`,
    "aria-label": props.label,
    className: mono ? "tm-mono" : undefined,
    onChange: (e: { target: { value: string } }) =>
      set(e.target.value === "" && !keepEmpty ? undefined : e.target.value),
  };
  return (
    <FieldFrame {...props} hint={hint}>
      {rows ? (
        <Input.TextArea {...common} autoSize={{ minRows: rows, maxRows: 10 }} spellCheck={false} />
      ) : (
        <Input {...common} />
      )}
    </FieldFrame>
  );
}

/** The bounds of a field, for inputs that keep to them. */
export const useBounds = (path: string): Bounds => boundsAt(useForm().schema, path);

export function NumberField({
  step = 1,
  unit,
  placeholder,
  hint,
  ...props
}: FieldProps & {
  step?: number;
  unit?: (count: number) => string;
  placeholder?: string;
  hint?: ReactNode;
}): ReactNode {
  const { value, set, touch } = useField(props.path);
  const { min, max, usual } = useBounds(props.path);
  const count = typeof value === "number" ? value : usual;
  return (
    <FieldFrame {...props} hint={hint} spell={number}>
      <InputNumber
        value={typeof value === "number" ? value : null}
        min={min}
        max={max}
        step={step}
        suffix={unit?.(typeof count === "number" ? count : 0)}
        placeholder={placeholder ?? (usual === undefined ? undefined : number(usual))}
        onBlur={touch}
        style={{ width: "100%" }}
        onChange={(next) => set(typeof next === "number" ? next : undefined)}
        data-testid={`field-${props.path}`}
        aria-label={props.label}
      />
    </FieldFrame>
  );
}

const UNITS = { MiB: 1, GiB: 1024 } as const;
type Unit = keyof typeof UNITS;

/** A number and its unit; the document keeps the exact text (2GiB). */
export function MemoryField(props: FieldProps): ReactNode {
  const { value, set, touch } = useField(props.path);
  const { min, max, usual } = useBounds(props.path);
  const size = typeof value === "number" || typeof value === "string" ? parseMemory(value) : null;
  const [chosen, setChosen] = useState<Unit | null>(null);
  const unit: Unit = chosen ?? ((size ?? usual ?? 1024) % 1024 === 0 ? "GiB" : "MiB");
  const inUnits = (given: number | undefined): number | undefined => given && given / UNITS[unit];
  // "96MiB" is typed as readily as 96, whatever unit is chosen. Text, as Ant Design's own parser gives: "" is no 0.
  const read = (typed = ""): string => {
    const given = /[a-z]/i.test(typed) ? parseMemory(typed.trim()) : null;
    return given === null ? typed.trim() : String(given / UNITS[unit]);
  };
  const write = (number: number | null, next: Unit): void =>
    set(number === null ? undefined : spellMemory(Math.round(number * UNITS[next])));
  return (
    <FieldFrame {...props} spell={mib}>
      <Space.Compact block>
        <InputNumber
          value={size === null ? null : size / UNITS[unit]}
          min={inUnits(min) ?? 0}
          max={inUnits(max)}
          placeholder={inUnits(usual)?.toString()}
          parser={(typed) => read(typed) as unknown as number}
          onBlur={touch}
          style={{ width: "100%" }}
          onChange={(number) => write(number, unit)}
          data-testid={`field-${props.path}`}
          aria-label={props.label}
        />
        <Select<Unit>
          value={unit}
          style={{ width: 82 }}
          aria-label={`${props.label} MiB GiB`}
          options={[
            { value: "MiB", label: "MiB" },
            { value: "GiB", label: "GiB" },
          ]}
          onChange={(next) => {
            setChosen(next);
            if (size !== null) write(size / UNITS[unit], next);
          }}
        />
      </Space.Compact>
    </FieldFrame>
  );
}

const LENGTHS = ["30m", "1h", "2h", "4h", "8h", "1d", "3d", "7d"];

export function DurationField({
  placeholder,
  lengths = LENGTHS,
  most,
  ...props
}: FieldProps & {
  placeholder?: string;
  lengths?: readonly string[];
  /** Seconds that this server allows, where that is less than what a job file may say. */
  most?: number;
}): ReactNode {
  const { t } = useTranslation();
  const { value, set, touch } = useField(props.path);
  const { usual } = useBounds(props.path);
  const shown = typeof value === "number" ? spellDuration(value) : text(value);
  const seconds = shown === "" ? null : parseDuration(shown);
  return (
    <FieldFrame
      {...props}
      spell={duration}
      most={most}
      hint={shown !== "" && seconds === null ? t("job.act.durationBad") : undefined}
    >
      <AutoComplete
        value={shown}
        options={lengths
          .filter((length) => most === undefined || (parseDuration(length) ?? 0) <= most)
          .map((length) => ({ value: length }))}
        onChange={(next: string) => set(next === "" ? undefined : next)}
        onBlur={touch}
        placeholder={placeholder ?? (usual === undefined ? undefined : spellDuration(usual))}
        data-testid={`field-${props.path}`}
        aria-label={props.label}
      />
    </FieldFrame>
  );
}

export function SelectField({
  options,
  placeholder,
  fallback,
  ...props
}: FieldProps & {
  options: { value: string; label: string; disabled?: boolean }[];
  placeholder?: string;
  fallback?: string;
}): ReactNode {
  const { value, set, touch } = useField(props.path);
  return (
    <FieldFrame {...props}>
      <Select
        value={text(value) || fallback || undefined}
        allowClear={!fallback}
        placeholder={placeholder}
        onBlur={touch}
        options={options}
        onChange={(next?: string) => set(next === undefined || next === fallback ? undefined : next)}
        data-testid={`field-${props.path}`}
        aria-label={props.label}
      />
    </FieldFrame>
  );
}

/** A text for which there are proposals; another one may be typed. */
export function OpenField({
  options,
  placeholder,
  ...props
}: FieldProps & { options: readonly string[]; placeholder?: string }): ReactNode {
  const { value, set, touch } = useField(props.path);
  return (
    <FieldFrame {...props}>
      <AutoComplete
        value={text(value)}
        options={options.map((one) => ({ value: one }))}
        filterOption={false}
        onChange={(next?: string) => set(next ? next : undefined)}
        onBlur={touch}
        placeholder={placeholder}
        allowClear
        data-testid={`field-${props.path}`}
        aria-label={props.label}
      />
    </FieldFrame>
  );
}
