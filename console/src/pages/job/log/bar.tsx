/** What stands above and below the lines of a log. */
import { ArrowDownOutlined, ArrowUpOutlined, LinkOutlined, SearchOutlined } from "@ant-design/icons";
import { App, Button, Input, InputNumber, Space, Spin, Switch, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { TaskAddress } from "../../../api/watch";
import { copyText } from "../../../shared/ui";
import type { LogLine } from "./buffer";
import type { Failures } from "./failures";
import type { Search } from "./search";

/** How lines are shown, kept in this browser; on a phone they are wrapped unless somebody chose otherwise. */
export interface Look {
  wrap: boolean;
  times: boolean;
  set: (what: "wrap" | "times", on: boolean) => void;
}

/** Where a line is hardly ever whole. */
export const PHONE = "(max-width: 599px)";
const KEYS = { wrap: "trainmaster.wrap", times: "trainmaster.times" } as const;

export function useLogLook(): Look {
  const [wrap, setWrap] = useState(
    () => (localStorage.getItem(KEYS.wrap) ?? (matchMedia(PHONE).matches ? "1" : "0")) === "1",
  );
  const [times, setTimes] = useState(() => localStorage.getItem(KEYS.times) === "1");
  return {
    wrap,
    times,
    set: (what, on) => {
      localStorage.setItem(KEYS[what], on ? "1" : "0");
      (what === "wrap" ? setWrap : setTimes)(on);
    },
  };
}

export function LookSwitches({ look }: { look: Look }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      {(["times", "wrap"] as const).map((what) => (
        <label key={what} className="tm-switch">
          <Switch size="small" checked={look[what]} onChange={(on) => look.set(what, on)} data-testid={`log-${what}`} />
          {t(`job.log.${what}`)}
        </label>
      ))}
    </>
  );
}

/** Said where times are asked for and nobody knows any. */
export function Untimed({ lines }: { lines: readonly LogLine[] }): ReactNode {
  const { t } = useTranslation();
  if (lines.length === 0 || lines.some((line) => line.by != null)) return null;
  return <span data-testid="log-untimed">{t("job.log.untimed")}</span>;
}

/** Where a line is found again. Pure. */
export function lineAddress(origin: string, { job, attempt, task }: TaskAddress, line: number): string {
  const at = new URLSearchParams({ tab: "logs", attempt: String(attempt), task, line: String(line) });
  return `${origin}/jobs/${encodeURIComponent(job)}?${at.toString()}`;
}

export function LineLink({ address, line }: { address: TaskAddress; line: number }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const copy = async (): Promise<void> => {
    const text = lineAddress(location.origin, address, line);
    message.success((await copyText(text)) ? t("job.log.linked") : text);
  };
  return (
    <Button icon={<LinkOutlined />} onClick={() => void copy()} data-testid="log-link">
      {t("job.log.link", { n: line + 1 })}
    </Button>
  );
}

export function FailureSteps({ failures, current }: { failures: Failures; current: number | null }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const go = async (by: 1 | -1): Promise<void> => {
    if (!(await failures.step(by, current)))
      message.info(
        t(current === null ? "job.log.noFailure" : by === 1 ? "job.log.lastFailure" : "job.log.firstFailure"),
      );
  };
  return (
    <Space.Compact>
      <Tooltip title={t("job.log.previousFailure")}>
        <Button
          icon={<ArrowUpOutlined />}
          loading={failures.busy}
          onClick={() => void go(-1)}
          aria-label={t("job.log.previousFailure")}
          data-testid="failure-previous"
        />
      </Tooltip>
      <Tooltip title={t("job.log.nextFailure")}>
        <Button
          icon={<ArrowDownOutlined />}
          iconPlacement="end"
          disabled={failures.busy}
          onClick={() => void go(1)}
          data-testid="failure-next"
        >
          {t("job.log.failure")}
        </Button>
      </Tooltip>
    </Space.Compact>
  );
}

export function SearchBox({ search }: { search: Search }): ReactNode {
  const { t } = useTranslation();
  const total = search.hits.length;
  const count =
    search.bad !== ""
      ? search.bad
      : search.text === ""
        ? ""
        : total === 0
          ? t("job.log.none")
          : t(search.done ? "job.log.hits" : "job.log.hitsMore", { n: search.at + 1, total });
  return (
    <Space.Compact className="tm-log-search">
      <Input
        allowClear
        prefix={<SearchOutlined />}
        value={search.text}
        placeholder={t("job.log.search")}
        aria-label={t("job.log.search")}
        data-testid="log-search"
        status={search.bad ? "error" : ""}
        onChange={(e) => search.setText(e.target.value)}
        onKeyDown={(e) => e.key === "Enter" && search.step(e.shiftKey ? -1 : 1)}
        suffix={
          <span className="tm-faint tm-num tm-nowrap" data-testid="log-hits">
            {search.busy ? (
              <>
                <Spin size="small" /> {t("job.log.searching")}
              </>
            ) : (
              count
            )}
          </span>
        }
      />
      <Tooltip title={t("job.log.regex")}>
        <Button
          type={search.regex ? "primary" : "default"}
          aria-pressed={search.regex}
          onClick={() => search.setRegex(!search.regex)}
          className="tm-mono"
        >
          .*
        </Button>
      </Tooltip>
      <Button
        icon={<ArrowUpOutlined />}
        disabled={total === 0}
        onClick={() => search.step(-1)}
        aria-label={t("job.log.previous")}
      />
      <Button
        icon={<ArrowDownOutlined />}
        disabled={total === 0}
        onClick={() => search.step(1)}
        aria-label={t("job.log.next")}
        data-testid="log-next"
      />
    </Space.Compact>
  );
}

export function GoToLine({ goTo }: { goTo: (line: number) => void }): ReactNode {
  const { t } = useTranslation();
  const [value, setValue] = useState<number | null>(null);
  const go = (): void => {
    if (value !== null && value >= 1) goTo(value - 1);
  };
  return (
    <InputNumber
      min={1}
      precision={0}
      controls={false}
      value={value}
      onChange={setValue}
      onPressEnter={go}
      placeholder={t("job.log.line")}
      className="tm-goto"
      aria-label={t("job.log.line")}
      data-testid="log-line"
    />
  );
}
