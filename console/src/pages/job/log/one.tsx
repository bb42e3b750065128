/** The log of a task: pick replica and attempt, follow, search, jump, download (R206-R208, R221). */
import {
  ArrowDownOutlined,
  ArrowUpOutlined,
  DownloadOutlined,
  SearchOutlined,
  VerticalAlignBottomOutlined,
  VerticalAlignTopOutlined,
} from "@ant-design/icons";
import { Button, Dropdown, Input, InputNumber, Select, Space, Spin, Switch, Tooltip } from "antd";
import { type ReactNode, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import type { JobDetail } from "../../../api/types";
import { allLogsUrl, logDownloadUrl, type TaskAddress } from "../../../api/watch";
import type { JobSearch } from "../../../shared/address";
import { useDownload } from "../../../shared/download";
import { bytes } from "../../../shared/format";
import { Empty, ErrorPanel } from "../../../shared/ui";
import { LogLines } from "./lines";
import { type Search, useLogSearch } from "./search";
import { LogSession } from "./session";

interface Props {
  job: JobDetail;
  search: JobSearch;
  update: (change: Partial<JobSearch>) => void;
}

export function Logs({ job, search, update }: Props): ReactNode {
  const { t } = useTranslation();
  const last = job.attempt_list[job.attempt_list.length - 1];
  const attempt = job.attempt_list.find((a) => a.number === search.attempt) ?? last;
  const task = attempt?.tasks.find((one) => one.name === search.task) ?? attempt?.tasks[0];
  if (!attempt || !task)
    return (
      <div className="tm-panel">
        <Empty title={t("job.log.notStarted")} />
      </div>
    );
  const pick = (
    <Space wrap size={8}>
      {job.attempt_list.length > 1 && (
        <Select
          value={attempt.number}
          onChange={(number: number) => update({ attempt: number, line: undefined })}
          data-testid="log-attempt"
          aria-label={t("job.log.attempt")}
          options={job.attempt_list.map((a) => ({
            value: a.number,
            label: t("job.timeline.attempt", { n: a.number }),
          }))}
        />
      )}
      <Select
        value={task.name}
        showSearch
        onChange={(name: string) => update({ task: name, line: undefined })}
        className="tm-select-task"
        data-testid="log-task"
        aria-label={t("job.log.pick")}
        optionFilterProp="label"
        options={attempt.tasks.map((one) => ({ value: one.name, label: `${one.role}[${one.index}] · ${one.name}` }))}
      />
    </Space>
  );
  return (
    <OneLog
      key={`${attempt.number}/${task.name}`}
      address={{ job: job.id, attempt: attempt.number, task: task.name }}
      line={search.line}
      find={search.find ?? ""}
      pick={pick}
    />
  );
}

function OneLog({
  address,
  line,
  find,
  pick,
}: {
  address: TaskAddress;
  line: number | undefined;
  find: string;
  pick: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const { job, attempt, task } = address;
  const where = useMemo(() => ({ job, attempt, task }), [job, attempt, task]);
  const session = useMemo(() => new LogSession(where), [where]);
  const view = useSyncExternalStore(session.subscribe, session.snapshot);
  const [pinned, setPinned] = useState(line === undefined && find === "");
  const [wrap, setWrap] = useState(() => localStorage.getItem("trainmaster.wrap") === "1");
  const [current, setCurrent] = useState<number | null>(line ?? null);

  useEffect(() => {
    session.open();
    if (line === undefined) void session.end();
    else void session.line(line);
    return () => session.close();
  }, [session, line]);

  const goTo = useCallback(
    (number: number) => {
      setPinned(false);
      setCurrent(number);
      void session.line(number);
    },
    [session],
  );
  const search = useLogSearch(where, find, goTo);
  const follow = (on: boolean): void => {
    setPinned(on);
    if (on) void session.end();
  };
  const download = useDownload();
  const toggleWrap = (on: boolean): void => {
    localStorage.setItem("trainmaster.wrap", on ? "1" : "0");
    setWrap(on);
  };
  return (
    <div className="tm-panel tm-log-panel">
      <div className="tm-log-bar">
        {pick}
        <SearchBox search={search} />
        <span className="tm-grow" />
        <GoToLine goTo={goTo} />
        <Tooltip title={t("job.log.top")}>
          <Button
            icon={<VerticalAlignTopOutlined />}
            aria-label={t("job.log.top")}
            onClick={() => {
              setPinned(false);
              void session.top();
            }}
            data-testid="log-top"
          />
        </Tooltip>
        <Tooltip title={t("job.log.bottom")}>
          <Button
            icon={<VerticalAlignBottomOutlined />}
            aria-label={t("job.log.bottom")}
            onClick={() => follow(true)}
            data-testid="log-end"
          />
        </Tooltip>
        <label className="tm-switch">
          <Switch size="small" checked={wrap} onChange={toggleWrap} />
          {t("job.log.wrap")}
        </label>
        <Dropdown
          menu={{
            items: [
              {
                key: "one",
                label: <span data-testid="log-download">{t("job.log.download")}</span>,
                onClick: () => download(logDownloadUrl(where)),
              },
              {
                key: "all",
                label: <span data-testid="logs-download">{t("job.log.downloadAll")}</span>,
                onClick: () => download(allLogsUrl(job)),
              },
            ],
          }}
          trigger={["click"]}
        >
          <Button icon={<DownloadOutlined />} aria-label={t("action.download")} data-testid="log-download-menu" />
        </Dropdown>
      </div>
      {view.error !== null && <ErrorPanel error={view.error} retry={() => void session.end()} />}
      {view.lines.length === 0 && !view.loading && view.error === null ? (
        <div className="tm-log tm-log-empty">
          {view.ended ? (
            t("job.log.emptyEnded")
          ) : (
            <>
              <Spin size="small" /> {t("job.log.empty")}
            </>
          )}
        </div>
      ) : (
        <LogLines
          session={session}
          view={view}
          wrap={wrap}
          pinned={pinned}
          setPinned={setPinned}
          mark={search.mark}
          current={current}
        />
      )}
      <div className="tm-log-foot">
        <span className="tm-num">
          {view.total !== null ? `${view.total.toLocaleString("en-US")} · ` : ""}
          {bytes(view.size)}
        </span>
        <span className="tm-grow" />
        {view.loading && <span>{t("job.log.loading")}</span>}
        {!view.ended && !view.loading && (
          <button
            type="button"
            className={pinned ? "tm-follow tm-on" : "tm-follow"}
            onClick={() => follow(!pinned)}
            aria-pressed={pinned}
            data-testid="log-follow"
          >
            <i />
            {pinned ? t("job.log.following") : t("job.log.paused")}
          </button>
        )}
        {view.ended && <span>{t("job.log.end")}</span>}
      </div>
    </div>
  );
}

function SearchBox({ search }: { search: Search }): ReactNode {
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

function GoToLine({ goTo }: { goTo: (line: number) => void }): ReactNode {
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
