/** One field for everything: pages, actions, jobs, people, places, and what is kept under names. */
import { SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Modal } from "antd";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { searchAll } from "../../api/find";
import { listJobs } from "../../api/jobs";
import type { Found, Session } from "../../api/types";
import { setLanguage, useLanguage } from "../../i18n";
import { StateTag } from "../../shared/state";
import { useLook } from "../../theme";
import { useSignOut } from "./leave";
import { pagesFor } from "./pages";

const JOBS_AT_MOST = 8;
const TYPING_MS = 180;

type Kind = Exclude<keyof Found, "jobs">;

interface Entry {
  id: string;
  group: "actions" | "pages" | "jobs" | Kind;
  text: string;
  more?: ReactNode;
  act: () => void;
}

export default function Palette({ session, close }: { session: Session; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = useEntries(session, typed);
  const chosen = Math.min(at, found.length - 1);
  const take = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    entry.act();
  };
  const key = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      setAt((chosen + step + found.length) % found.length);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) take(found[chosen]);
  };
  return (
    <Modal
      open
      title={t("palette.title")}
      closable={false}
      onCancel={close}
      footer={null}
      width={560}
      afterOpenChange={(open) => open && field.current?.focus()}
    >
      <div className="tm-palette-field">
        <SearchOutlined />
        <input
          ref={field}
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={found[chosen] ? `${list}-${chosen}` : undefined}
          aria-label={t("palette.hint")}
          placeholder={t("palette.hint")}
          value={typed}
          onChange={(e) => {
            setTyped(e.target.value);
            setAt(0);
          }}
          onKeyDown={key}
          data-testid="palette"
        />
      </div>
      <div role="listbox" id={list} aria-label={t("palette.title")} className="tm-palette-list">
        {found.map((entry, nth) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keyboard.
          <div
            key={entry.id}
            id={`${list}-${nth}`}
            role="option"
            tabIndex={-1}
            aria-selected={nth === chosen}
            ref={nth === chosen ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
            onClick={() => take(entry)}
            data-testid="palette-entry"
          >
            <span className="tm-ellipsis">{entry.text}</span>
            {entry.more ?? <span className="tm-faint">{t(`palette.${entry.group}`)}</span>}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="tm-faint">{t("palette.none")}</p>}
    </Modal>
  );
}

function useEntries(session: Session, typed: string): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const leave = useSignOut();
  const language = useLanguage();
  const { setLook } = useLook();
  const asked = useLater(typed.trim());
  const found = useQuery({
    queryKey: ["palette", asked],
    queryFn: ({ signal }) => (asked ? searchAll(asked, signal) : lastJobs(signal)),
    placeholderData: keepPreviousData,
  });
  const act = (id: string, text: string, run: () => void): Entry => ({ id, group: "actions", text, act: run });
  const fixed: Entry[] = [
    act("new", t("nav.newJob"), () => void navigate({ to: "/submit", search: {} })),
    ...pagesFor(session.user.role).map(
      ({ to, name }): Entry => ({
        id: to,
        group: "pages",
        text: t(`nav.${name}`),
        act: () => void navigate({ to, search: {} }),
      }),
    ),
    act("language", t("palette.language"), () => setLanguage(language === "zh" ? "en" : "zh")),
    act("light", t("palette.light"), () => setLook("light")),
    act("dark", t("palette.dark"), () => setLook("dark")),
    act("out", t("palette.signOut"), () => void leave()),
  ];
  const wanted = typed.trim().toLowerCase();
  const named = (kind: Kind, go: (ref: string) => void): Entry[] =>
    (found.data?.[kind] ?? []).map((one) => ({
      id: `${kind}/${one.ref}`,
      group: kind,
      text: one.name,
      act: () => go(one.ref),
    }));
  return [
    ...fixed.filter(({ text }) => isLike(text.toLowerCase(), wanted)),
    ...(found.data?.jobs ?? []).map(
      (job): Entry => ({
        id: job.id,
        group: "jobs",
        text: job.name,
        more: <StateTag state={job.state} quiet />,
        act: () => void navigate({ to: "/jobs/$id", params: { id: job.id }, search: {} }),
      }),
    ),
    ...named("people", (owner) => void navigate({ to: "/jobs", search: { owner, who: "all" } })),
    ...named("workspaces", (workspace) => void navigate({ to: "/jobs", search: { workspace, who: "all" } })),
    ...named("pools", (pool) => void navigate({ to: "/cluster", search: { pool } })),
    ...named("sweeps", (id) => void navigate({ to: "/sweeps/$id", params: { id }, search: {} })),
    ...named("datasets", (id) => void navigate({ to: "/datasets/$id", params: { id }, search: {} })),
    ...named("volumes", (id) => void navigate({ to: "/volumes/$id", params: { id }, search: {} })),
    ...named("algorithms", (id) => void navigate({ to: "/algorithms/$id", params: { id }, search: {} })),
    ...named("images", (id) => void navigate({ to: "/images/$id", params: { id }, search: {} })),
    ...named("models", (id) => void navigate({ to: "/models/$id", params: { id }, search: {} })),
    ...named("templates", (template) => void navigate({ to: "/submit", search: { template } })),
  ];
}

const NOTHING: Found = {
  jobs: [],
  people: [],
  workspaces: [],
  pools: [],
  sweeps: [],
  datasets: [],
  volumes: [],
  templates: [],
  algorithms: [],
  images: [],
  models: [],
};

/** What is shown before anything is typed. */
async function lastJobs(signal: AbortSignal): Promise<Found> {
  const { items } = await listJobs({ order: "-submitted_at", limit: JOBS_AT_MOST }, null, signal);
  return { ...NOTHING, jobs: items.map((job) => ({ ...job, near: false })) };
}

/** Whether the characters of `wanted` stand in `text` in their order: "nwjb" finds "New job". */
export function isLike(text: string, wanted: string): boolean {
  let at = 0;
  for (const character of wanted) {
    at = text.indexOf(character, at);
    if (at < 0) return false;
    at += character.length;
  }
  return true;
}

/** The value once nobody has changed it for a moment. */
function useLater(value: string): string {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}
