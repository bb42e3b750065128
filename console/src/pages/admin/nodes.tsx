/** Nodes: which pool they are in, and whether they are in service; cordon, drain, back again. */
import { SearchOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Form, Input, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { cordonNode, drainNode, type Evict, listNodes, listPools, moveNode, uncordonNode } from "../../api/cluster";
import type { NodeDetail } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useAttempt } from "../../shared/attempt";
import { useEngineOf } from "../../shared/engines";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { Nothing, Pending, TwoLines } from "../../shared/ui";
import { cards } from "../queue/demand";
import { Dialog, useRefresh } from "./dialog";

type Asking = { node: NodeDetail; what: "cordon" | "drain" };
const TONES = { in_service: "green", cordoned: "amber", draining: "violet", drained: "grey" } as const;

export function NodesAdmin(): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["nodes"], queryFn: listNodes, refetchInterval: 10_000 });
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools() });
  const [asking, setAsking] = useState<Asking | null>(null);
  const act = useAct();
  const engineOf = useEngineOf();
  const [q, setQ] = useState("");
  if (!query.data) return <Pending query={query} />;
  const wanted = q.trim().toLowerCase();
  const shown = query.data.items.filter(({ name, host, pool }) =>
    [name, host, pool].some((text) => text.toLowerCase().includes(wanted)),
  );
  const decider = ({ pool }: NodeDetail): string | null => {
    const engine = engineOf(pool);
    return engine?.can.owns_queue ? engine.name : null;
  };
  const beside = (pool: string): { value: string; label: string }[] => {
    const all = (pools.data?.items ?? []).map((one) => one.name);
    const same = engineOf(pool)?.pools ?? all;
    return all.filter((name) => same.includes(name)).map((name) => ({ value: name, label: name }));
  };
  return (
    <section className="tm-panel" data-testid="admin-nodes-table">
      <div className="tm-admin-head">
        <p className="tm-faint tm-flat tm-grow">{t("admin.nodes.hint")}</p>
        <Input
          allowClear
          prefix={<SearchOutlined />}
          value={q}
          onChange={(e) => setQ(e.target.value)}
          placeholder={t("resources.search")}
          aria-label={t("resources.search")}
          className="tm-node-search"
          data-testid="admin-node-search"
        />
      </div>
      <DataTable<NodeDetail>
        rowKey="name"
        size="middle"
        dataSource={shown}
        tableLayout="fixed"
        scroll={{ x: 980 }}
        pagination={shown.length > 50 ? { pageSize: 50, showSizeChanger: false } : false}
        onRow={(node) => ({ "data-testid": `admin-node-${node.name}`, "data-service": node.service }) as object}
        columns={[
          {
            title: t("admin.name"),
            key: "name",
            render: (_, node) => (
              <TwoLines
                first={<b>{node.name}</b>}
                second={[node.host, node.driver && t("admin.nodes.driver", { version: node.driver })]
                  .filter(Boolean)
                  .join(" · ")}
              />
            ),
          },
          {
            title: t("admin.nodes.move"),
            key: "pool",
            width: 170,
            render: (_, node) =>
              decider(node) !== null ? (
                node.pool
              ) : (
                <Select
                  size="small"
                  value={node.pool}
                  options={beside(node.pool)}
                  style={{ width: 150 }}
                  aria-label={`${t("admin.nodes.move")} ${node.name}`}
                  onChange={(pool: string) =>
                    void act(() => moveNode(node.name, pool), t("admin.nodes.moved", { pool }))
                  }
                />
              ),
          },
          {
            title: t("admin.flavors.gpu"),
            key: "cards",
            width: 170,
            render: (_, node) =>
              node.cards.map((card) => `${card.model} ${cards(card.used)} / ${cards(card.total)}`).join(", ") || (
                <Nothing />
              ),
          },
          {
            title: t("admin.nodes.jobs"),
            key: "jobs",
            width: 80,
            render: (_, node) => <span className="tm-num">{node.jobs}</span>,
          },
          {
            title: t("admin.nodes.service"),
            key: "service",
            width: 190,
            render: (_, node) => <ServiceCell node={node} />,
          },
          {
            title: <span className="tm-hidden">{t("admin.actions")}</span>,
            key: "act",
            width: 210,
            align: "end",
            render: (_, node) => {
              const engine = decider(node);
              return engine !== null ? (
                <span className="tm-faint">{t("admin.nodes.decides", { engine })}</span>
              ) : (
                <ServiceButtons node={node} ask={setAsking} act={act} />
              );
            },
          },
        ]}
      />
      {asking && <AskDialog asking={asking} close={() => setAsking(null)} />}
    </section>
  );
}

function useAct(): (work: () => Promise<unknown>, done: string) => Promise<void> {
  const attempt = useAttempt();
  const refresh = useRefresh();
  return async (work, done) => {
    await attempt(work, done);
    refresh();
  };
}

function ServiceCell({ node }: { node: NodeDetail }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  return (
    <div className="tm-cell">
      <span>
        <span className={`tm-state tm-tone-${TONES[node.service]}`}>{t(`timeline.service.${node.service}`)}</span>
      </span>
      {node.reason && (
        <span className="tm-line" title={pick(node.reason)}>
          {pick(node.reason)}
        </span>
      )}
      {node.service !== "in_service" && (
        <span className="tm-line" title={node.note}>
          {node.note}
          {node.by && ` · ${t("admin.nodes.by", { name: node.by })}`}
          {node.since !== null && (
            <>
              {" "}
              · <Ago at={node.since} />
            </>
          )}
        </span>
      )}
    </div>
  );
}

function ServiceButtons({
  node,
  ask,
  act,
}: {
  node: NodeDetail;
  ask: (asking: Asking) => void;
  act: ReturnType<typeof useAct>;
}): ReactNode {
  const { t } = useTranslation();
  if (node.service !== "in_service") {
    return (
      <span className="tm-labels">
        {node.service === "cordoned" && (
          <Button size="small" onClick={() => ask({ node, what: "drain" })}>
            {t("admin.nodes.drain")}
          </Button>
        )}
        <Button
          size="small"
          type="primary"
          ghost
          onClick={() => void act(() => uncordonNode(node.name), t("admin.saved"))}
          data-testid="uncordon"
        >
          {t("admin.nodes.uncordon")}
        </Button>
      </span>
    );
  }
  return (
    <span className="tm-labels">
      <Button size="small" onClick={() => ask({ node, what: "cordon" })} data-testid="cordon">
        {t("admin.nodes.cordon")}
      </Button>
      <Button size="small" onClick={() => ask({ node, what: "drain" })} data-testid="drain">
        {t("admin.nodes.drain")}
      </Button>
    </span>
  );
}

function AskDialog({ asking, close }: { asking: Asking; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const { node, what } = asking;
  return (
    <Dialog
      title={t(what === "cordon" ? "admin.nodes.cordonTitle" : "admin.nodes.drainTitle", { name: node.name })}
      initial={{ note: "", evict: "preemptible" as Evict }}
      close={close}
      ok={t(`admin.nodes.${what}`)}
      save={({ note, evict }) =>
        what === "cordon" ? cordonNode(node.name, note ?? "") : drainNode(node.name, note ?? "", evict)
      }
    >
      <p>{t("admin.nodes.runsNow", { count: node.jobs })}</p>
      <Form.Item name="note" label={t("admin.nodes.note")}>
        <Input autoFocus maxLength={500} data-testid="node-note" />
      </Form.Item>
      {what === "drain" && (
        <Form.Item name="evict" label={t("admin.nodes.evict")}>
          <Select
            options={(["none", "preemptible", "all"] as const).map((value) => ({
              value,
              label: t(`admin.nodes.evicts.${value}`),
            }))}
          />
        </Form.Item>
      )}
    </Dialog>
  );
}
