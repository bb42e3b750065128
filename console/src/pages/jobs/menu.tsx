/** What can be done to one job of the list: one menu for all rows, at the button that was pressed. */
import {
  ClockCircleOutlined,
  CodeOutlined,
  CopyOutlined,
  DeleteOutlined,
  FileDoneOutlined,
  FlagOutlined,
  StopOutlined,
} from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { Dropdown } from "antd";
import { type ReactNode, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type Job } from "../../api/types";
import { useJobActions } from "../../shared/actions";
import { useRanks } from "../../shared/engines";

export interface MenuAt {
  job: Job;
  button: HTMLElement;
  left: number;
  top: number;
}

/** What is changed of which job. */
export interface Changing {
  job: Job;
  what: "duration" | "priority";
}

export function RowMenu({
  at,
  close,
  change,
  save,
}: {
  at: MenuAt;
  close: () => void;
  change: (what: Changing) => void;
  /** Save a job as a template. */
  save: (job: Job) => void;
}): ReactNode {
  const { t } = useTranslation();
  const act = useJobActions();
  const navigate = useNavigate();
  const { job } = at;
  const ended = ENDED.has(job.state);
  const acts = job.may.includes("write");
  const ranks = useRanks()(job);
  useEffect(() => {
    // Ant Design's own way scrolls the page to where the menu is before it is placed.
    const frame = requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(".tm-row-menu [role=menuitem]")?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, []);
  const leave = (): void => {
    close();
    at.button.focus({ preventScroll: true });
  };
  return (
    <Dropdown
      open
      classNames={{ root: "tm-row-menu" }}
      trigger={["click"]}
      placement="bottomRight"
      onOpenChange={(open) => open || leave()}
      menu={{
        onClick: leave,
        items: [
          {
            key: "clone",
            icon: <CopyOutlined />,
            label: <span data-testid="row-clone">{t("action.clone")}</span>,
            onClick: () => void navigate({ to: "/submit", search: { clone: job.id } }),
          },
          {
            key: "session",
            icon: <CodeOutlined />,
            title: t("action.sessionHint"),
            label: <span data-testid="row-session">{t("action.session")}</span>,
            onClick: () => void navigate({ to: "/submit", search: { session: job.id } }),
          },
          {
            key: "template",
            icon: <FileDoneOutlined />,
            label: <span data-testid="row-template">{t("templates.save")}</span>,
            onClick: () => save(job),
          },
          {
            key: "limit",
            icon: <ClockCircleOutlined />,
            disabled: !acts || ended,
            label: <span data-testid="row-limit">{t("jobs.limit.change")}</span>,
            onClick: () => change({ job, what: "duration" }),
          },
          {
            key: "priority",
            icon: <FlagOutlined />,
            disabled: !acts || !ranks,
            label: <span data-testid="row-priority">{t("job.act.priority")}</span>,
            onClick: () => change({ job, what: "priority" }),
          },
          {
            key: "stop",
            icon: <StopOutlined />,
            disabled: !acts || ended || job.state === "stopping",
            label: <span data-testid="row-stop">{t("action.stop")}</span>,
            onClick: () => act("stop", [job]),
          },
          {
            key: "delete",
            icon: <DeleteOutlined />,
            danger: true,
            disabled: !acts || !ended,
            label: <span data-testid="row-delete">{t("action.delete")}</span>,
            onClick: () => act("delete", [job]),
          },
        ],
      }}
    >
      <span className="tm-menu-anchor" style={{ left: at.left, top: at.top }} />
    </Dropdown>
  );
}
