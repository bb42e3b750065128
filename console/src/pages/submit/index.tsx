/** The form of a new job. The document is the state: form, text and preview are three views of it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Alert, App, Button } from "antd";
import type { TFunction } from "i18next";
import { type DragEvent, lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { cloneDocument } from "../../api/jobs";
import { readTemplate } from "../../api/templates";
import type { Job, Json, JsonObject, SweepDetail, TemplateDetail } from "../../api/types";
import { useMetaQuery } from "../../shared/meta";
import { placeOf } from "../../shared/passing/place";
import { homeOf } from "../../shared/people";
import { useSession } from "../../shared/session";
import { SaveTemplate } from "../../shared/template";
import { Pending } from "../../shared/ui";
import { NotShared } from "../lost";
import { Confirm } from "./confirm";
import { Copied, Replace, useWaitingFirst } from "./copied";
import {
  changed,
  emptyDocument,
  inWorkspace,
  isDistributed,
  readChange,
  rolesOf,
  sessionOf,
  shortForm,
  trainingOf,
  withRoles,
} from "./document";
import { draftKey, dropDraft, useDraft, useFoundDraft } from "./draft";
import { FormHead } from "./head";
import { Leaving } from "./leave";
import { PreviewPanel, usePreview } from "./preview";
import { Roles } from "./roles";
import { EnvironmentSection, JobSection, RunningSection, WatchingSection } from "./sections";
import { Examples } from "./start";
import { FormContext } from "./state";
import { SweepSection } from "./sweep";
import { useTake } from "./take";
import { useFormState } from "./use-form";
import { useWouldStart } from "./would";

const JsonDrawer = lazy(() => import("./json").then((m) => ({ default: m.JsonDrawer })));

export function SubmitPage(): ReactNode {
  const { clone, set, session, train, template, edit, sweep } = useSearch({ from: "/submit" });
  const of = clone ?? session ?? train;
  const source = useQuery({
    queryKey: ["clone", of],
    queryFn: () => cloneDocument(of ?? ""),
    enabled: of !== undefined,
    // Read once for each visit: never again under somebody's hands, and not kept for the next one.
    staleTime: Infinity,
    gcTime: 0,
  });
  const meta = useMetaQuery();
  const most = meta.data?.limits.max_duration_s ?? undefined;
  const saved = useQuery({
    queryKey: ["form of", template],
    queryFn: ({ signal }) => readTemplate(template ?? "", signal),
    enabled: template !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const change = useMemo(() => readChange(set), [set]);
  const user = useSession()?.user;
  const home = user && homeOf(user);
  const place = saved.data && placeOf(saved.data, user).workspace; // where it was taken in, for who submits nothing there
  const original = useMemo(() => {
    const found = source.data && withRoles(source.data);
    if (found && clone === undefined) return session === undefined ? trainingOf(found) : sessionOf(found);
    if (found) return found;
    if (saved.data)
      return withRoles(edit || place === undefined ? saved.data.spec : { ...saved.data.spec, workspace: place });
    return inWorkspace(emptyDocument(most), home);
  }, [source.data, saved.data, place, clone, session, edit, home, most]);
  if (of !== undefined && !source.data) return <Pending query={source} rows={10} />;
  if (template !== undefined && saved.error instanceof ApiError && saved.error.status === 404)
    return <NotShared what="template" id={template} />;
  if (template !== undefined && !saved.data) return <Pending query={saved} rows={10} />;
  if (meta.isPending) return <Pending query={meta} rows={10} />;
  const begins = clone ?? (session && `session ${session}`) ?? (train && `train ${train}`);
  const key = draftKey(begins ?? (template && `${edit ? "edit" : "template"} ${template}`), set);
  const from = {
    clone,
    session: clone === undefined ? session : undefined,
    train: (clone ?? session) === undefined ? train : undefined,
    template: begins === undefined ? saved.data : undefined,
    edits: edit === true && begins === undefined && saved.data !== undefined,
  };
  const called = of && String(source.data?.["name"] ?? of.slice(0, 12));
  return (
    <SubmitForm
      key={key}
      draft={key}
      original={original}
      change={change}
      {...from}
      called={called}
      sweep={sweep === true && begins === undefined && template === undefined}
      home={home}
    />
  );
}

interface FormProps {
  draft: string;
  original: JsonObject;
  change: [string, Json][];
  clone: string | undefined;
  /** The job whose settings a session begins with. */
  session: string | undefined;
  /** The session with whose settings a training begins. */
  train: string | undefined;
  /** The name of the job that it begins with, whichever of these. */
  called: string | undefined;
  /** The template that it begins with, which is changed where it `edits`. */
  template: TemplateDetail | undefined;
  edits: boolean;
  /** Somebody came to write a sweep. */
  sweep: boolean;
  /** The workspace of a job that names none; undefined: the default one. */
  home: string | undefined;
}

/** Where the document comes from; undefined: it is new. */
function whatItIs(
  from: Pick<FormProps, "clone" | "session" | "called" | "template" | "edits">,
  t: TFunction,
): string | undefined {
  const { clone, session, called: name, template, edits } = from;
  if (template) return t(edits ? "templates.editing" : "templates.from", { name: template.name });
  if (name === undefined) return undefined;
  if (clone !== undefined) return t("submit.clonedFrom", { name });
  return t(session === undefined ? "submit.trainingOf" : "submit.sessionOf", { name });
}

function SubmitForm(props: FormProps): ReactNode {
  const { draft, original, change, clone, session, train, template, edits, sweep, home } = props;
  const begun = (clone ?? session ?? train ?? template) !== undefined;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { message } = App.useApp();
  const fresh = useMemo(() => shortForm(changed(original, change)), [original, change]);
  const found = useFoundDraft(draft);
  const [given, setGiven] = useState(fresh); // what nobody typed: the empty form, the clone, an example
  const [doc, setDoc] = useState(found ?? fresh);
  const [open, setOpen] = useState<"json" | "confirm" | "template" | null>(null);
  const [asked, setAsked] = useState(false);
  const first = useWaitingFirst(clone);
  const [replacing, setReplacing] = useState(change.length > 0);
  const insteadOf = replacing ? first : undefined;
  const live = usePreview(doc, insteadOf);
  const asks = !edits && live.preview?.ok === true; // a template starts nothing
  const start = useWouldStart(asks ? live.previewed : null, asks, insteadOf);
  const form = useFormState({
    doc,
    setDoc,
    live,
    original: clone === undefined ? null : original,
    whole: clone !== undefined || template !== undefined,
  });
  const take = useTake((read) => {
    form.state.showSeveral(isDistributed(read));
    setDoc(read);
    form.tryAll();
  });

  const typed = JSON.stringify(doc) !== JSON.stringify(given);
  const left = useRef(false); // submitted or saved: nothing is asked or kept any more
  useDraft(draft, doc, typed && !left.current);
  const put = (next: JsonObject): void => {
    form.state.showSeveral(isDistributed(next));
    setGiven(next);
    setDoc(next);
  };
  const lead = (path: string): void => {
    if (!form.go(path)) setOpen("json"); // no field shows it: the text does
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    void take.file(event.dataTransfer.files[0]);
  };
  // Judged by the answer to the last change: what was wrong before may be right, and the other way round.
  const review = (): void => setAsked(true);
  const answered = live.current || (live.error !== null && !live.busy);
  useEffect(() => {
    if (!asked || !answered) return;
    setAsked(false);
    const wrong = form.tryAll()[0];
    if (wrong) form.go(wrong.path);
    else if (live.preview?.ok && live.error === null) setOpen("confirm");
  }, [asked, answered, form, live.preview, live.error]);
  const discard = (): void => {
    left.current = true;
    dropDraft(draft);
  };
  /** Whoever is back before the page has been left finds the form as it was at first. */
  const forget = (): void => {
    dropDraft(draft);
    put(fresh);
  };
  const done = (job: Job): void => {
    discard();
    message.success(t("submit.confirm.submitted"));
    for (const key of ["jobs", "queue", "job"]) void client.invalidateQueries({ queryKey: [key] });
    void navigate({ to: "/jobs/$id", params: { id: job.id }, search: {} });
  };
  const sweptUp = (made: SweepDetail): void => {
    discard();
    message.success(t("sweeps.form.made", { count: made.entries }));
    for (const key of ["jobs", "queue", "sweeps"]) void client.invalidateQueries({ queryKey: [key] });
    void navigate({ to: "/sweeps/$id", params: { id: made.id }, search: {} });
  };
  const choice = (first !== undefined || (clone !== undefined && change.length > 0)) && (
    <Replace first={first} replacing={replacing} choose={setReplacing} />
  );
  return (
    <FormContext value={form.state}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what can be dropped here a button of the header reads, too. */}
      <div onDragOver={(e) => e.preventDefault()} onDrop={drop} data-testid="submit-page">
        <FormHead
          title={t(edits ? "submit.editTemplate" : sweep ? "sweeps.add" : "submit.title")}
          sub={whatItIs(props, t)}
          expert={form.state.expert}
          choose={form.chooseMode}
          load={(file) => void take.file(file)}
          edit={() => setOpen("json")}
          start={edits ? null : start}
          problems={form.visible}
          go={lead}
          submit={review}
          busy={asked}
          save={() => setOpen("template")}
          edits={edits}
          roles={rolesOf(doc).length}
          several={form.state.several}
        />
        {found && typed && (
          <Alert
            type="info"
            showIcon
            className="tm-gap"
            title={t("submit.draft.restored")}
            data-testid="draft"
            action={
              <Button size="small" onClick={() => put(fresh)} data-testid="draft-restart">
                {t("submit.draft.restart")}
              </Button>
            }
          />
        )}
        {!begun && change.length === 0 && !typed && <Examples choose={(job) => put(inWorkspace(job, home))} />}
        {begun && (change.length > 0 || first !== undefined) && (
          <Copied original={original} change={change} waits={first !== undefined}>
            {choice}
          </Copied>
        )}
        <div className="tm-submit">
          <form className="tm-form" onSubmit={(e) => e.preventDefault()}>
            <JobSection />
            <Roles />
            <SweepSection count={live.preview?.sweep?.entries} wanted={sweep} />
            <EnvironmentSection />
            <RunningSection />
            <WatchingSection />
          </form>
          <PreviewPanel
            preview={live.preview}
            start={edits ? null : start}
            busy={live.busy}
            error={live.error}
            problems={form.visible}
            go={lead}
            apply={(made) => setDoc((old) => changed(old, Object.entries(made) as [string, Json][]))}
          />
        </div>
        <Suspense>{open === "json" && <JsonDrawer doc={doc} close={() => setOpen(null)} take={take.text} />}</Suspense>
        {open === "confirm" && live.preview && (
          <Confirm
            doc={doc}
            insteadOf={insteadOf}
            versionOf={clone}
            template={template?.id}
            preview={live.preview}
            start={start}
            close={() => setOpen(null)}
            done={done}
            sweptUp={sweptUp}
          >
            {choice}
          </Confirm>
        )}
        {open === "template" && (
          <SaveTemplate
            of={{ spec: doc }}
            edits={edits ? template : undefined}
            name={edits && template ? template.name : String(doc["name"] ?? "")}
            close={() => setOpen(null)}
            done={() => {
              if (!edits) return;
              discard();
              void navigate({ to: "/templates" });
            }}
          />
        )}
        <Leaving typed={() => typed && !left.current} discard={forget} />
      </div>
    </FormContext>
  );
}
