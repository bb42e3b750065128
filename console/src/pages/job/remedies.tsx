/** What would help a job that went wrong: cloned with the change after a look at it, or edited by its owner (D6, D7). */
import { CopyOutlined, EditOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Alert, App, Button, Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { cloneJob } from "../../api/jobs";
import type { JobDetail, Json, Suggestion } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration, mib, shellWords } from "../../shared/format";
import { useErrorText } from "../../shared/ui";
import { Change } from "../queue/sooner";
import { getAt } from "../submit/document";

export function Remedies({ job, all }: { job: JobDetail; all: Suggestion[] }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const [open, setOpen] = useState<Suggestion | null>(null);
  if (all.length === 0) return null;
  return (
    <div className="tm-verdict-help" data-testid="remedies">
      <b>{t("job.verdict.suggestions")}</b>
      <ul className="tm-remedies">
        {all.map((one, i) => (
          <li key={one.code} data-testid={`remedy-${one.code}`}>
            <span className="tm-grow">
              <Spoken text={pick(one.message)} />
            </span>
            {Object.keys(one.change).length > 0 || one.code === "run_as_it_is" ? (
              <Button
                type={i === 0 ? "primary" : "default"}
                icon={<CopyOutlined />}
                onClick={() => setOpen(one)}
                data-testid="remedy-clone"
              >
                {t("job.remedy.clone")}
              </Button>
            ) : (
              <EditLink job={job.id} change={one.change} />
            )}
          </li>
        ))}
      </ul>
      {open && <CloneSo job={job} remedy={open} close={() => setOpen(null)} />}
    </div>
  );
}

/** A sentence with what stands between backticks as code. */
function Spoken({ text }: { text: string }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the sentence does not change.
  return text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part));
}

function EditLink({ job, change }: { job: string; change: Suggestion["change"] }): ReactNode {
  const { t } = useTranslation();
  const set = Object.keys(change).length > 0 ? JSON.stringify(change) : undefined;
  const navigate = useNavigate();
  return (
    <Button
      icon={<EditOutlined />}
      onClick={() => void navigate({ to: "/submit", search: { clone: job, set } })}
      data-testid="remedy-edit"
    >
      {t("job.remedy.edit")}
    </Button>
  );
}

/** The question: what is and what will be, then one click. */
function CloneSo({ job, remedy, close }: { job: JobDetail; remedy: Suggestion; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const navigate = useNavigate();
  const client = useQueryClient();
  const errorText = useErrorText();
  const { message } = App.useApp();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const changes = Object.entries(remedy.change) as [string, Json][];
  const clone = async (): Promise<void> => {
    setBusy(true);
    try {
      const made = await cloneJob(job.id, remedy.change);
      void client.invalidateQueries({ queryKey: ["jobs"] });
      message.success(t("job.remedy.cloned"));
      close();
      await navigate({ to: "/jobs/$id", params: { id: made.id }, search: {} });
    } catch (error) {
      const { title, remedy: advice } = errorText(error);
      setProblem(`${title} ${advice}`);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t("job.remedy.title", { name: job.name })}
      onCancel={close}
      width={520}
      footer={
        <>
          <Button onClick={close}>{t("action.cancel")}</Button>
          <EditLink job={job.id} change={remedy.change} />
          <Button type="primary" loading={busy} onClick={() => void clone()} data-testid="remedy-ok">
            {t("action.clone")}
          </Button>
        </>
      }
    >
      <p>
        <Spoken text={pick(remedy.message)} />
      </p>
      {changes.length > 0 && (
        <ul className="tm-changes tm-changes-box" data-testid="remedy-change">
          {changes.map(([path, value]) => (
            <Line key={path} path={path} before={getAt(job.spec, path)} after={value} />
          ))}
        </ul>
      )}
      {problem && <Alert type="error" showIcon title={problem} />}
    </Modal>
  );
}

type Field = "duration" | "memory" | "shm" | "command" | "flavors";
const FIELDS: readonly Field[] = ["duration", "memory", "shm", "command", "flavors"];

function Line({ path, before, after }: { path: string; before: Json | undefined; after: Json }): ReactNode {
  const { t } = useTranslation();
  const field = FIELDS.find((name) => path === name || path.endsWith(`.${name}`));
  const words = (value: Json | undefined): string => {
    if (value === null || value === undefined) return field === "duration" ? t("time.noLimit") : "–";
    if (typeof value === "number" && field === "duration") return duration(value);
    if (typeof value === "number" && (field === "memory" || field === "shm")) return mib(value);
    return Array.isArray(value) ? shellWords(value.map(String)) : String(value);
  };
  return (
    <li>
      <span className="tm-grow">{field ? t(`job.remedy.field.${field}`) : <code>{path}</code>}</span>
      <Change before={words(before)} after={words(after)} />
    </li>
  );
}
