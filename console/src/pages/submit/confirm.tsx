/** The last look before the job is submitted (R64), and the start button (R42). */
import { CaretRightFilled } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Collapse, Modal, Table } from "antd";
import type { TFunction } from "i18next";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { submitJob } from "../../api/jobs";
import { submitSweep } from "../../api/sweeps";
import { submitTemplate } from "../../api/templates";
import type { Job, JsonObject, Preview, SweepDetail, SweepPreview } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration, mib, number, parseMemory } from "../../shared/format";
import { freshKey } from "../../shared/fresh";
import { useFrameworkTitle } from "../../shared/meta";
import { CopyButton, Dotted, ErrorPanel, Facts } from "../../shared/ui";
import { inOrder, isObject, rolesOf } from "./document";
import { outlook, type Would, WouldDetail } from "./would";

interface Props {
  doc: JsonObject;
  /** A queued job that is stopped as this one is taken in. */
  insteadOf: string | undefined;
  /** The job that this one is a clone of. */
  versionOf: string | undefined;
  /** The id of the template that the document is of. */
  template: string | undefined;
  preview: Preview & { sweep?: SweepPreview };
  start: Would;
  /** Whether the job that this one is a clone of, and that is still queued, is to be replaced: the choice. */
  children: ReactNode;
  close: () => void;
  done: (job: Job) => void;
  /** Of a sweep. */
  sweptUp: (made: SweepDetail) => void;
}

interface RoleLine {
  name: string;
  replicas: number;
  cpu: number;
  memory: number;
  gpu: number;
  command: string;
}

function linesOf(effective: JsonObject, preview: Preview): RoleLine[] {
  return rolesOf(effective).map((role, i) => {
    const r = isObject(role["resources"]) ? role["resources"] : {};
    const memory = r["memory"];
    return {
      name: String(role["name"]),
      replicas: Number(role["replicas"] ?? 1),
      cpu: Number(r["cpu"] ?? 1),
      gpu: Number(r["gpu"] ?? 0),
      memory: typeof memory === "number" || typeof memory === "string" ? (parseMemory(memory) ?? 0) : 0,
      command: preview.roles[i]?.command ?? String(role["command"]),
    };
  });
}

/** How many jobs there will be, and what they take together. */
function sweepFact({ entries, asks }: SweepPreview, t: TFunction): [string, ReactNode] {
  return [
    t("sweeps.form.total"),
    <Dotted
      key="s"
      items={[
        <strong key="n" data-testid="confirm-sweep">
          {t("sweeps.form.count", { count: entries })}
        </strong>,
        asks !== null && asks.gpu > 0 && t("unit.cards", { n: asks.gpu, count: asks.gpu }),
        asks !== null && t("unit.cores", { n: number(asks.cpu), count: asks.cpu }),
        asks !== null && mib(asks.memory_mib),
      ]}
    />,
  ];
}

export function Confirm(props: Props): ReactNode {
  const { doc, insteadOf, versionOf, template, preview, start: would, children, close, done, sweptUp } = props;
  const { t } = useTranslation();
  const pick = useBilingual();
  const client = useQueryClient();
  const keys = useRef(new Map<string | undefined, string>()); // one key per look and choice: pressing twice, or again after a lost answer, makes one job
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const effective = preview.spec ?? doc;
  const lines = linesOf(effective, preview);
  const sum = (of: (line: RoleLine) => number): number =>
    lines.reduce((total, line) => total + line.replicas * of(line), 0);
  const gpus = sum((line) => line.gpu);
  const start = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const key = keys.current.get(insteadOf) ?? freshKey();
      keys.current.set(insteadOf, key);
      if (preview.sweep) return sweptUp(await submitSweep(doc, key));
      done(
        template === undefined
          ? await submitJob(
              { spec: doc, dialect: "native", instead_of: insteadOf ?? null, version_of: versionOf ?? null },
              key,
            )
          : await submitTemplate(template, doc, key),
      );
    } catch (refused) {
      setError(refused);
      setBusy(false);
      void client.invalidateQueries({ queryKey: ["job"] }); // the original may have started meanwhile
    }
  };
  const found = preview.fits ? outlook(preview.fits, would) : null;
  const framework = useFrameworkTitle()(
    isObject(effective["framework"])
      ? String(effective["framework"]["kind"])
      : String(effective["framework"] ?? "single"),
  );
  const length = effective["duration"];
  const text = JSON.stringify(inOrder(doc), null, 2);
  return (
    <Modal
      open
      title={t("submit.confirm.title")}
      width={860}
      onCancel={close}
      mask={{ closable: false }}
      footer={[
        <Button key="back" onClick={close}>
          {t("submit.confirm.back")}
        </Button>,
        <Button
          key="go"
          type="primary"
          icon={<CaretRightFilled />}
          loading={busy}
          onClick={() => void start()}
          data-testid="start"
          autoFocus
        >
          {t("submit.start")}
        </Button>,
      ]}
    >
      <div className="tm-stack" data-testid="confirm-page">
        <Alert
          type={found?.when === "now" ? "success" : "warning"}
          showIcon
          title={t(`submit.preview.${found?.when ?? "queue"}`)}
          description={
            would.current ? (
              <WouldDetail answer={would.current} />
            ) : found?.reason ? (
              pick(found.reason.message)
            ) : undefined
          }
        />
        <Facts
          columns={4}
          items={[
            ...(preview.sweep ? [sweepFact(preview.sweep, t)] : []),
            [t("submit.field.name"), <strong key="n">{String(effective["name"])}</strong>],
            [t("submit.field.workspace"), String(effective["workspace"] ?? "default")],
            [t("submit.field.pool"), String(effective["pool"] ?? "default")],
            [t("submit.field.framework"), framework],
            [
              t("submit.field.duration"),
              typeof length === "number" ? duration(length) : typeof length === "string" ? length : t("time.noLimit"),
            ],
            [
              t("submit.confirm.total"),
              <Dotted
                key="t"
                items={[
                  t("unit.tasks", { count: lines.reduce((n, line) => n + line.replicas, 0) }),
                  gpus > 0 && t("unit.cards", { n: gpus, count: gpus }),
                  t("unit.cores", { n: number(sum((l) => l.cpu)), count: sum((l) => l.cpu) }),
                  mib(sum((l) => l.memory)),
                ]}
              />,
            ],
          ]}
        />
        <Table<RoleLine>
          rowKey="name"
          size="small"
          pagination={false}
          dataSource={lines}
          scroll={{ x: 620 }}
          columns={[
            { title: t("job.tasks.role"), dataIndex: "name" },
            { title: t("submit.field.replicas"), dataIndex: "replicas", className: "tm-nowrap" },
            { title: t("submit.field.cpu"), dataIndex: "cpu", className: "tm-nowrap" },
            {
              title: t("submit.field.memory"),
              dataIndex: "memory",
              className: "tm-nowrap",
              render: (value: number) => mib(value),
            },
            { title: t("submit.field.gpu"), dataIndex: "gpu", className: "tm-nowrap" },
            {
              title: t("submit.field.command"),
              width: "50%",
              dataIndex: "command",
              render: (command: string) => <span className="tm-mono tm-break">{command}</span>,
            },
          ]}
        />
        <Collapse
          size="small"
          items={[
            {
              key: "doc",
              label: t("submit.confirm.document"),
              extra: (
                // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps the button's clicks from the header.
                <span
                  onClick={(e) => e.stopPropagation()}
                  onKeyDown={(e) => {
                    if (e.key === "Enter") e.stopPropagation(); // the header would open, too
                  }}
                >
                  <CopyButton text={text} />
                </span>
              ),
              children: <pre className="tm-code tm-doc">{text}</pre>,
            },
          ]}
        />
        {children}
        {error !== null && <ErrorPanel error={error} />}
      </div>
    </Modal>
  );
}
