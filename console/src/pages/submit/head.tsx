/** The head of the form, which stays in sight: how much to show, the other ways to write a job, and Submit; in expert mode the sections. */
import { CodeOutlined, FileDoneOutlined, ImportOutlined, SaveOutlined, SendOutlined } from "@ant-design/icons";
import { Button, Grid, Segmented, Tooltip } from "antd";
import { type ReactNode, useRef } from "react";
import { useTranslation } from "react-i18next";
import { type Would, WouldTag } from "./would";

interface Props {
  sub: string;
  expert: boolean;
  choose: (expert: boolean) => void;
  load: (file: File | undefined) => void;
  edit: () => void;
  start: Would;
  submit: () => void;
  busy: boolean;
  /** Save what is in the form as a template. */
  save: () => void;
  /** A template is edited: it is saved, not submitted. */
  edits: boolean;
  roles: number;
  /** Whether it may have more than one sub-task. */
  several: boolean;
}

export function FormHead(props: Props): ReactNode {
  const { sub, expert, choose, load, edit, start, submit, busy, save, edits, roles, several } = props;
  const { t } = useTranslation();
  const file = useRef<HTMLInputElement>(null);
  const room = Grid.useBreakpoint();
  const wide = room.lg !== false;
  const widest = room.xl !== false;
  return (
    <header className="tm-submit-head" data-testid="form-head">
      <div className="tm-submit-bar">
        <div className="tm-grow tm-submit-title">
          <h1>{t(edits ? "submit.editTemplate" : "submit.title")}</h1>
          <div className="tm-sub">{sub}</div>
        </div>
        <Segmented<boolean>
          value={expert}
          onChange={choose}
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
            load(e.target.files?.[0]);
            e.target.value = ""; // else the same file, chosen again, would be no change
          }}
        />
        <Tooltip title={wide ? "" : t("submit.import")}>
          <Button
            icon={<ImportOutlined />}
            onClick={() => file.current?.click()}
            aria-label={t("submit.import")}
            data-testid="import"
          >
            {wide && t("submit.import")}
          </Button>
        </Tooltip>
        <Tooltip title={wide ? "" : t("submit.editJson")}>
          <Button icon={<CodeOutlined />} onClick={edit} aria-label={t("submit.editJson")} data-testid="edit-json">
            {wide && t("submit.editJson")}
          </Button>
        </Tooltip>
        <WouldTag start={start} />
        {edits ? (
          <Button type="primary" icon={<SaveOutlined />} onClick={save} data-testid="save-template">
            {t("templates.saveChange")}
          </Button>
        ) : (
          <>
            <Tooltip title={widest ? "" : t("templates.save")}>
              <Button
                icon={<FileDoneOutlined />}
                onClick={save}
                aria-label={t("templates.save")}
                data-testid="save-template"
              >
                {widest && t("templates.save")}
              </Button>
            </Tooltip>
            <Button type="primary" icon={<SendOutlined />} onClick={submit} loading={busy} data-testid="review">
              {t("submit.review")}
            </Button>
          </>
        )}
      </div>
      {expert && <Sections roles={roles} several={several} />}
    </header>
  );
}

function Sections({ roles, several }: Pick<Props, "roles" | "several">): ReactNode {
  const { t } = useTranslation();
  const all: [string, string][] = [
    ["job", t("submit.section.job")],
    ...Array.from({ length: roles }, (_, i): [string, string] => [
      `role-${i}`,
      several ? t("submit.role.n", { n: i + 1 }) : t("submit.role.alone"),
    ]),
    ["sweep", t("sweeps.form.title")],
    ["environment", t("submit.section.environment")],
    ["running", t("submit.section.running")],
    ["watching", t("submit.section.watching")],
  ];
  return (
    <nav className="tm-submit-nav" aria-label={t("submit.sections")} data-testid="form-nav">
      {all.map(([id, label]) => (
        <button
          key={id}
          type="button"
          className="tm-link"
          onClick={() => document.getElementById(`section-${id}`)?.scrollIntoView({ block: "start" })}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}
