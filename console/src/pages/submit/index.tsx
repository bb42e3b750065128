/** The form of a new job. The document is the state: form, text and preview are three views of it. */
import { CodeOutlined, EyeOutlined, ImportOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { App, Button, Segmented } from "antd";
import type { TFunction } from "i18next";
import { type DragEvent, lazy, type ReactNode, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { cloneDocument, previewJob } from "../../api/jobs";
import type { Json, JsonObject, Problem } from "../../api/types";
import { useMeta } from "../../shared/meta";
import { PageHeader, Pending, useErrorText } from "../../shared/ui";
import { Confirm } from "./confirm";
import { Copied, StopFirst, useStopFirst, useWaitingFirst } from "./copied";
import { changed, emptyDocument, readChange, readDocument, setAt, shortForm, withRoles } from "./document";
import { PreviewPanel, usePreview } from "./preview";
import { Roles } from "./roles";
import { EnvironmentSection, JobSection, RunningSection, WatchingSection } from "./sections";
import { FormContext, type FormState, usePressed, useWhile } from "./state";
import { useWouldStart, WouldTag } from "./would";

const JsonDrawer = lazy(() => import("./json").then((m) => ({ default: m.JsonDrawer })));
const LARGEST_FILE = 4 * 1024 * 1024;
const MODE = "trainmaster.expert";

export function SubmitPage(): ReactNode {
  const { clone, set } = useSearch({ from: "/submit" });
  const source = useQuery({
    queryKey: ["clone", clone],
    queryFn: () => cloneDocument(clone ?? ""),
    enabled: clone !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const change = useMemo(() => readChange(set), [set]);
  const original = useMemo(() => (source.data ? withRoles(source.data) : emptyDocument()), [source.data]);
  if (clone !== undefined && !source.data) return <Pending query={source} rows={10} />;
  return <SubmitForm key={`${clone ?? ""} ${set ?? ""}`} original={original} change={change} clone={clone} />;
}

interface FormProps {
  original: JsonObject;
  change: [string, Json][];
  clone: string | undefined;
}

function SubmitForm({ original, change, clone }: FormProps): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const stopFirst = useStopFirst();
  const [doc, setDoc] = useState(() => shortForm(changed(original, change)));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [tried, setTried] = useState(clone !== undefined);
  const [expert, setExpert] = useState(() => localStorage.getItem(MODE) === "1");
  const [open, setOpen] = useState<"json" | "confirm" | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const meta = useMeta();
  const live = usePreview(doc);
  const first = useWaitingFirst(clone);
  const [stopping, setStopping] = useState(change.length > 0);
  const insteadOf = stopping ? first : undefined;
  const start = useWouldStart(live.preview?.ok ? live.previewed : null, live.preview?.ok === true, insteadOf);
  const choice = first !== undefined && <StopFirst first={first} stopping={stopping} choose={setStopping} />;

  const set = useCallback((path: string, value: Json | undefined) => setDoc((old) => setAt(old, path, value)), []);
  const touch = useCallback((path: string) => setTouched((old) => (old.has(path) ? old : new Set(old).add(path))), []);
  const problems = useMemo(() => allProblems(doc, live.preview?.problems ?? [], t), [doc, live.preview, t]);
  const refused = live.preview?.ok === false && live.preview.spec !== null; // well formed, but not here: to be said at once
  const left = useWhile(touched, live.current); // the preview has not seen what was just typed
  const found = useMemo(
    () =>
      problems.filter(
        (p) =>
          tried ||
          (refused && p.path !== "name") ||
          [...left].some((path) => p.path === path || p.path.startsWith(`${path}.`)),
      ),
    [problems, tried, refused, left],
  );
  const visible = useWhile(found, !usePressed()); // a line that comes or goes moves what is being clicked
  const form = useMemo(
    (): FormState => ({
      doc,
      set,
      touch,
      expert,
      meta,
      problemsAt: (path, deep) =>
        visible.filter((p) => p.path === path || (deep === true && p.path.startsWith(`${path}.`))),
    }),
    [doc, set, touch, expert, meta, visible],
  );

  const chooseMode = (next: boolean): void => {
    localStorage.setItem(MODE, next ? "1" : "0");
    setExpert(next);
  };
  const go = (path: string): void => {
    chooseMode(true);
    requestAnimationFrame(() => reveal(path));
  };
  const take = async (text: string): Promise<string | null> => {
    const read = readDocument(text);
    if ("problem" in read)
      return read.problem === "" ? t("submit.json.notObject") : t("submit.json.invalid", { message: read.problem });
    if (!read.pai) {
      setDoc(withRoles(read.doc));
      setTried(true);
      return null;
    }
    try {
      const translated = await previewJob({ spec: read.doc, dialect: "pai" });
      if (!translated.spec) return translated.problems.map((p) => `${p.path}: ${p.rule}. ${p.remedy}`).join("\n");
      setDoc(withRoles(shortForm(translated.spec)));
      setTried(true);
      message.success(t("submit.json.translated"));
      return null;
    } catch (error) {
      const { title, remedy } = errorText(error);
      return `${title} ${remedy}`;
    }
  };
  const load = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    const problem = chosen.size > LARGEST_FILE ? t("submit.json.tooBig") : await take(await chosen.text());
    if (problem === null) message.success(t("submit.json.imported", { name: chosen.name }));
    else message.error(problem, 8);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    void load(event.dataTransfer.files[0]);
  };
  const review = (): void => {
    setTried(true);
    const first = problems[0];
    if (first) reveal(first.path);
    else if (live.current && live.preview?.ok) setOpen("confirm");
  };
  return (
    <FormContext value={form}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what can be dropped here a button of the header reads, too. */}
      <div onDragOver={(e) => e.preventDefault()} onDrop={drop} data-testid="submit-page">
        <PageHeader
          title={t("submit.title")}
          sub={clone ? t("submit.clonedFrom", { id: clone.slice(0, 12) }) : t("submit.json.drop")}
          actions={
            <>
              <Segmented<boolean>
                value={expert}
                onChange={chooseMode}
                options={[
                  { value: false, label: t("submit.basic") },
                  { value: true, label: <span data-testid="expert">{t("submit.expert")}</span> },
                ]}
                aria-label={t("submit.mode")}
              />
              <input
                ref={file}
                type="file"
                hidden
                accept=".json,.yaml,.yml"
                data-testid="import-file"
                onChange={(e) => {
                  void load(e.target.files?.[0]);
                  e.target.value = "";
                }}
              />
              <Button icon={<ImportOutlined />} onClick={() => file.current?.click()} data-testid="import">
                {t("submit.import")}
              </Button>
              <Button icon={<CodeOutlined />} onClick={() => setOpen("json")} data-testid="edit-json">
                {t("submit.editJson")}
              </Button>
              <WouldTag answer={start.latest} />
              <Button
                type="primary"
                icon={<EyeOutlined />}
                onClick={review}
                disabled={live.busy && problems.length === 0}
                data-testid="review"
              >
                {t("submit.review")}
              </Button>
            </>
          }
        />
        {(change.length > 0 || first !== undefined) && (
          <Copied original={original} change={change}>
            {choice && (
              <>
                <p className="tm-flat">{t("submit.copied.hint")}</p>
                {choice}
              </>
            )}
          </Copied>
        )}
        <div className="tm-submit">
          <form className="tm-form" onSubmit={(e) => e.preventDefault()}>
            <JobSection />
            <Roles />
            <EnvironmentSection />
            <RunningSection />
            <WatchingSection />
          </form>
          <PreviewPanel
            preview={live.preview}
            start={start}
            busy={live.busy}
            error={live.error}
            problems={visible}
            go={go}
            apply={(made) => setDoc((old) => changed(old, Object.entries(made) as [string, Json][]))}
          />
        </div>
        <Suspense>{open === "json" && <JsonDrawer doc={doc} close={() => setOpen(null)} take={take} />}</Suspense>
        {open === "confirm" && live.preview && (
          <Confirm
            doc={doc}
            preview={live.preview}
            start={start}
            close={() => setOpen(null)}
            done={(job) => {
              message.success(t("submit.confirm.submitted"));
              if (insteadOf !== undefined) void stopFirst(insteadOf);
              void navigate({ to: "/jobs/$id", params: { id: job.id }, search: {} });
            }}
          >
            {choice}
          </Confirm>
        )}
      </div>
    </FormContext>
  );
}

/** The platform's problems, and the missing name, which the preview was not asked about. */
function allProblems(doc: JsonObject, found: Problem[], t: TFunction): Problem[] {
  if (doc["name"]) return found;
  return [{ path: "name", rule: t("submit.nameless"), remedy: t("submit.namelessHint"), code: "required" }, ...found];
}

/** Scroll to the field of a path, or to what encloses it, and put the cursor there. */
function reveal(path: string): void {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const element = document.querySelector(`[data-path="${CSS.escape(at)}"]`);
    if (!element) continue;
    element.scrollIntoView({ block: "center", behavior: "smooth" });
    element.querySelector<HTMLElement>("input, textarea, [role=combobox]")?.focus({ preventScroll: true });
    return;
  }
}
