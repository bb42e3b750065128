/** Small pieces every page is made of. */
import { CheckOutlined, CopyOutlined, ReloadOutlined } from "@ant-design/icons";
import { Alert, Empty as AntEmpty, App, Button, Skeleton, Tag, Tooltip } from "antd";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../api/client";
import { ENDED, type Job } from "../api/types";
import { useLanguage } from "../i18n";
import { number, percent } from "./format";
import type { Kept } from "./kept";
import { useLeft } from "./left";
import { toneOf } from "./state";
import { useFormatTime, useNow } from "./time";
import { useTitle } from "./title";
import { useErrorText } from "./trouble";

export { useErrorText } from "./trouble";

/** The head of a page. Its title is also the tab's, unless `name` says another. */
export function PageHeader(props: {
  title: ReactNode;
  name?: string;
  sub?: ReactNode;
  actions?: ReactNode;
}): ReactNode {
  useTitle(props.name ?? (typeof props.title === "string" ? props.title : undefined));
  return (
    <header className="tm-page-header">
      <div className="tm-grow">
        <h1>{props.title}</h1>
        {props.sub && <div className="tm-sub">{props.sub}</div>}
      </div>
      {props.actions && <div className="tm-actions">{props.actions}</div>}
    </header>
  );
}

/** The page above this one. */
export function Crumb({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation();
  return (
    <nav className="tm-crumb" aria-label={t("nav.above")}>
      {children}
    </nav>
  );
}

/** `alone`: among the buttons of a page, instead of behind what it copies. */
export function CopyButton({ text, label, alone }: { text: string; label?: string; alone?: boolean }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async (): Promise<void> => {
    if (await copyText(text)) setDone(true);
    else message.info(text);
  };
  return (
    <Tooltip title={done ? t("action.copied") : (label ?? t("action.copy"))}>
      <Button
        type={alone ? "default" : "text"}
        size={alone ? "middle" : "small"}
        className={alone ? undefined : "tm-copy"}
        aria-label={label ?? t("action.copy")}
        onClick={() => void copy()}
        icon={done ? <CheckOutlined /> : <CopyOutlined />}
      />
    </Tooltip>
  );
}

/** The clipboard needs a secure page; over plain http to another host the old way is left. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function Mono({ children, copy }: { children: ReactNode; copy?: string }): ReactNode {
  return (
    <span className="tm-mono">
      {children}
      {copy !== undefined && <CopyButton text={copy} />}
    </span>
  );
}

/** Words that say more when they are pointed at, or reached by the keyboard. */
export function Hinted({
  hint,
  className,
  children,
}: {
  hint: ReactNode;
  className?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <Tooltip title={hint}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has no other way to the hint. */}
      <span className={className} tabIndex={0}>
        {children}
      </span>
    </Tooltip>
  );
}

export function ErrorPanel({ error, retry }: { error: unknown; retry?: () => void }): ReactNode {
  const { t } = useTranslation();
  const { title, remedy } = useErrorText()(error);
  const problems = error instanceof ApiError ? error.problems : [];
  const advice = error instanceof ApiError && problems.length > 0 ? error.remedy : remedy;
  return (
    <Alert
      type="error"
      showIcon
      title={title}
      data-testid="error"
      description={
        <>
          {advice}
          {problems.length > 0 && (
            <ul className="tm-problems">
              {problems.map((p) => (
                <li key={`${p.path}${p.rule}`}>
                  {p.path && <code>{p.path}</code>} {p.rule}
                  {t("mark.stop")}
                  {p.remedy}
                </li>
              ))}
            </ul>
          )}
        </>
      }
      action={
        retry && (
          <Button size="small" icon={<ReloadOutlined />} onClick={retry}>
            {t("action.retry")}
          </Button>
        )
      }
    />
  );
}

/** What a query shows before it has data: a skeleton, or the error with a way out. */
export function Pending({
  query,
  rows = 6,
}: {
  query: { error: unknown; refetch: () => unknown };
  rows?: number;
}): ReactNode {
  if (query.error) return <ErrorPanel error={query.error} retry={() => void query.refetch()} />;
  return <Skeleton active paragraph={{ rows }} title={false} />;
}

/** Above data that could not be read again: of which moment it is, what is the matter, and a way on. Nothing while answers come. */
export function Outdated({ query }: { query: Kept<unknown> }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const words = useErrorText();
  if (!query.error || query.data === undefined) return null;
  const { title, remedy } = words(query.error);
  return (
    <Alert
      type="warning"
      showIcon
      className="tm-outdated"
      data-testid="outdated"
      title={t(query.earlier ? "error.earlier" : "error.outdated", { time: time(query.dataUpdatedAt / 1000, "short") })}
      description={<Sentences of={[title, remedy]} />}
      action={
        <Button size="small" icon={<ReloadOutlined />} onClick={() => void query.refetch()}>
          {t("action.retry")}
        </Button>
      }
    />
  );
}

export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: ReactNode }): ReactNode {
  return (
    <div className="tm-empty" data-testid="empty">
      {icon ?? <AntEmpty image={AntEmpty.PRESENTED_IMAGE_SIMPLE} description={null} />}
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/**
 * Progress of a job, honest about not knowing: stripes while it runs without telling, nothing while it waits. Only `wide` do they
 * move: whatever moves somewhere in a long list makes the browser look through all of it five times a second.
 */
export function JobProgress({ job, wide = false, pace }: { job: Job; wide?: boolean; pace?: ReactNode }): ReactNode {
  const { t } = useTranslation();
  const left = useLeft()(job, useNow());
  const known = job.state === "succeeded" ? 1 : (job.progress?.fraction ?? null);
  const live = !ENDED.has(job.state) && job.state !== "queued";
  if (known === null && !live) return <Nothing />;
  const p = job.progress;
  const words =
    p?.step != null && p.of != null
      ? t("jobs.step", { step: number(p.step), of: number(p.of) })
      : p?.step != null
        ? t("jobs.stepOnly", { step: number(p.step) })
        : "";
  const tone = job.state === "running" ? "blue" : toneOf(job.state);
  return (
    <Tooltip title={[words, left?.text].filter(Boolean).join(" · ")}>
      <div
        className={`tm-progress${wide ? " tm-wide" : ""}`}
        role="progressbar"
        aria-label={t("unit.progress", { name: job.name })}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={known === null ? undefined : percent(known)}
        data-testid="progress"
      >
        <div className="tm-progress-track">
          <div
            className={`tm-progress-bar tm-fill-${tone}${known === null ? " tm-unknown" : ""}`}
            style={known === null ? undefined : { width: `${percent(known)}%` }}
          />
        </div>
        <span className="tm-num">{known === null ? "" : `${Math.floor(percent(known))}%`}</span>
        {wide && (
          <Dotted
            className="tm-faint"
            items={[
              words,
              left && (
                <span key="left" className={left.cut ? "tm-warn" : undefined}>
                  {left.text}
                </span>
              ),
              pace ?? "",
            ]}
          />
        )}
      </div>
    </Tooltip>
  );
}

/** How much of something is held. `small`: in a cell of a table; `bare`: where the cell's column says what it is. */
export function Bar({
  used,
  total,
  label,
  text,
  tone = "blue",
  small = false,
  bare = false,
}: {
  used: number;
  total: number;
  label: string;
  text: string;
  tone?: string;
  small?: boolean;
  bare?: boolean;
}): ReactNode {
  const share = total > 0 ? percent(used / total) : 0;
  return (
    <div
      className={`tm-bar${small ? " tm-bar-small" : ""}`}
      role="meter"
      aria-label={label}
      aria-valuenow={used}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuetext={text}
    >
      <div className="tm-bar-head">
        {!bare && (
          <span className="tm-ellipsis" title={label}>
            {label}
          </span>
        )}
        <span className="tm-num">{text}</span>
      </div>
      <div className="tm-progress-track">
        <div className={`tm-progress-bar tm-fill-${share >= 95 ? "amber" : tone}`} style={{ width: `${share}%` }} />
      </div>
    </div>
  );
}

/** A cell of two lines: what it is, and in small what more there is to it. What does not fit is told when pointed at. */
export function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }): ReactNode {
  const title = (node: ReactNode): string | undefined => (typeof node === "string" ? node : undefined);
  return (
    <div className="tm-cell">
      <span className="tm-ellipsis" title={title(first)}>
        {first}
      </span>
      <span className="tm-line" title={title(second)}>
        {second}
      </span>
    </div>
  );
}

/** Facts beside each other with a dot between, none of which is left at the end of a line. */
export function Dotted({ items, className }: { items: ReactNode[]; className?: string }): ReactNode {
  const shown = items.flatMap((item, at) => (item === "" || item === null || item === false ? [] : [{ item, at }]));
  return (
    <span className={`tm-dotted ${className ?? ""}`}>
      {shown.map(({ item, at }) => (
        <span key={at}>{item}</span>
      ))}
    </span>
  );
}

/** Sentences one behind the other: Chinese ones have their space in their stops. */
export function Sentences({ of }: { of: readonly string[] }): ReactNode {
  return of.filter(Boolean).join(useLanguage() === "zh" ? "" : " ");
}

/** Names beside each other. */
export function Labels({ names, children }: { names: readonly string[]; children?: ReactNode }): ReactNode {
  return (
    <span className="tm-labels">
      {children}
      {names.map((name) => (
        <Tag key={name} className="tm-tag">
          {name}
        </Tag>
      ))}
    </span>
  );
}

/** There is none. */
export function Nothing(): ReactNode {
  return <span className="tm-faint">–</span>;
}

/** A fact is "wide" where it takes the whole width of a narrow window. */
export function Facts({
  items,
  columns = 3,
}: {
  items: [label: string, value: ReactNode, wide?: "wide"][];
  columns?: number;
}): ReactNode {
  return (
    <dl className="tm-facts" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
      {items.map(([label, value, wide]) => (
        <div key={label} className={wide && "tm-fact-wide"}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
