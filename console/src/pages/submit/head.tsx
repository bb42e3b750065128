/** The head of the form, which stays in sight: how much to show, the other ways to write a job, and Submit; in expert mode the sections. */
import {
  CodeOutlined,
  FileDoneOutlined,
  ImportOutlined,
  MoreOutlined,
  SaveOutlined,
  SendOutlined,
} from "@ant-design/icons";
import { Button, Dropdown, Grid, Segmented, Tooltip } from "antd";
import { type ReactNode, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { Problem } from "../../api/types";
import { ButtonLink } from "../../shared/link";
import { ProblemsTag, type Would, WouldTag } from "./would";

interface Props {
  title: string;
  /** What it begins with; undefined: with nothing. */
  sub: string | undefined;
  expert: boolean;
  choose: (expert: boolean) => void;
  load: (file: File | undefined) => void;
  edit: () => void;
  /** Whether it starts; null: that is not asked, as of a template. */
  start: Would | null;
  /** What is wrong, and the way to where it is. */
  problems: Problem[];
  go: (path: string) => void;
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
  const { title, expert, choose, load, edit, start, problems, go, submit, busy, save, edits, roles, several } = props;
  const { t } = useTranslation();
  const file = useRef<HTMLInputElement>(null);
  const wide = Grid.useBreakpoint().lg !== false;
  const sub = props.sub ?? (wide ? t("submit.json.drop") : undefined); // nobody drops a file on a phone
  const ways = { load: () => file.current?.click(), edit, save: edits ? undefined : save };
  return (
    <header className="tm-submit-head" data-testid="form-head">
      <div className={`tm-submit-bar${edits ? " tm-submit-edits" : ""}`}>
        <div className="tm-grow tm-submit-title">
          <h1>{title}</h1>
          {sub !== undefined && (
            <div className="tm-sub" title={sub}>
              {sub}
            </div>
          )}
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
        {wide && <WaysButtons {...ways} />}
        {problems.length > 0 ? <ProblemsTag problems={problems} go={go} /> : start && <WouldTag start={start} />}
        {wide ? ways.save && <SaveButton save={ways.save} /> : <WaysMenu {...ways} />}
        {edits ? (
          <>
            <ButtonLink to="/templates" className="tm-submit-back" data-testid="template-cancel">
              {t("action.cancel")}
            </ButtonLink>
            <Button type="primary" icon={<SaveOutlined />} onClick={save} data-testid="save-template">
              {t("templates.saveChange")}
            </Button>
          </>
        ) : (
          <Button type="primary" icon={<SendOutlined />} onClick={submit} loading={busy} data-testid="review">
            {t("submit.review")}
          </Button>
        )}
      </div>
      {expert && <Sections roles={roles} several={several} />}
    </header>
  );
}

/** The other ways to write a job, and to keep it. */
interface Ways {
  load: () => void;
  edit: () => void;
  save: (() => void) | undefined;
}

function WaysButtons({ load, edit }: Ways): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <Button icon={<ImportOutlined />} onClick={load} data-testid="import">
        {t("submit.import")}
      </Button>
      <Button icon={<CodeOutlined />} onClick={edit} data-testid="edit-json">
        {t("submit.editJson")}
      </Button>
    </>
  );
}

function SaveButton({ save }: { save: () => void }): ReactNode {
  const { t } = useTranslation();
  const widest = Grid.useBreakpoint().xl !== false;
  return (
    <Tooltip title={widest ? "" : t("templates.save")}>
      <Button icon={<FileDoneOutlined />} onClick={save} aria-label={t("templates.save")} data-testid="save-template">
        {widest && t("templates.save")}
      </Button>
    </Tooltip>
  );
}

/** Where there is no room for words beside the icons. */
function WaysMenu({ load, edit, save }: Ways): ReactNode {
  const { t } = useTranslation();
  const item = (name: string, icon: ReactNode, words: string, onClick: () => void) => ({
    key: name,
    icon,
    label: <span data-testid={name}>{words}</span>,
    onClick,
  });
  return (
    <Dropdown
      trigger={["click"]}
      placement="bottomRight"
      menu={{
        items: [
          item("import", <ImportOutlined />, t("submit.import"), load),
          item("edit-json", <CodeOutlined />, t("submit.editJson"), edit),
          ...(save ? [item("save-template", <FileDoneOutlined />, t("templates.save"), save)] : []),
        ],
      }}
    >
      <Button
        icon={<MoreOutlined />}
        className="tm-submit-more"
        aria-label={t("action.more")}
        data-testid="form-more"
      />
    </Dropdown>
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
