/** The log of one replica: follow, search, jump, link to a line, download (R206-R208, R221). */
import { Spin } from "antd";
import { type ReactNode, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import type { TaskAddress } from "../../../api/watch";
import { bytes } from "../../../shared/format";
import { ErrorPanel } from "../../../shared/ui";
import { FailureSteps, type Look, SearchBox, Untimed } from "./bar";
import { useFailures } from "./failures";
import { LogLines } from "./lines";
import { useLogSearch } from "./search";
import { LogSession } from "./session";
import { LogTools } from "./tools";

interface Props {
  address: TaskAddress;
  line: number | undefined;
  find: string;
  pick: ReactNode;
  look: Look;
}

export function OneLog({ address, line, find, pick, look }: Props): ReactNode {
  const { t } = useTranslation();
  const { job, attempt, task } = address;
  const where = useMemo(() => ({ job, attempt, task }), [job, attempt, task]);
  const session = useMemo(() => new LogSession(where), [where]);
  const view = useSyncExternalStore(session.subscribe, session.snapshot);
  const [pinned, setPinned] = useState(line === undefined && find === "");
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
  const failures = useFailures(where, goTo);
  const follow = (on: boolean): void => {
    setPinned(on);
    if (on) void session.end();
  };
  return (
    <div className="tm-panel tm-log-panel">
      <div className="tm-log-bar">
        {pick}
        <SearchBox search={search} />
        <FailureSteps failures={failures} current={current} />
        <LogTools
          address={where}
          line={current}
          goTo={goTo}
          top={() => {
            setPinned(false);
            void session.top();
          }}
          bottom={() => follow(true)}
          look={look}
        />
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
          wrap={look.wrap}
          times={look.times}
          pick={(number) => {
            setPinned(false);
            setCurrent(number);
          }}
          pinned={pinned}
          setPinned={setPinned}
          mark={search.mark}
          current={current}
        />
      )}
      <div className="tm-log-foot">
        <span className="tm-num">
          {view.total !== null
            ? `${t("job.log.lines", { n: view.total.toLocaleString("en-US"), count: view.total })} · `
            : ""}
          {bytes(view.size)}
        </span>
        {look.times && <Untimed lines={view.lines} />}
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
