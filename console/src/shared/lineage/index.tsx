/** What something was made of and what was made of it, drawn from left to right, or as a list. */
import { useQuery } from "@tanstack/react-query";
import { Segmented } from "antd";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { readLineage } from "../../api/lineage";
import type { Lineage, LineageAsked, LineageNode } from "../../api/types";
import { useMedia } from "../../theme";
import { StateTag } from "../state";
import { Pending } from "../ui";
import { BOX, draw } from "./layout";
import { NodeLink, useNodeWords } from "./node";

/** `at`: an id with @VERSION behind it, or the id of a job. */
export function LineagePanel({ kind, at }: { kind: LineageAsked; at: string }): ReactNode {
  const { t } = useTranslation();
  const phone = useMedia("(max-width: 599px)");
  const [chosen, setListed] = useState<boolean>();
  const listed = chosen ?? phone;
  const query = useQuery({
    queryKey: ["lineage", kind, at],
    queryFn: ({ signal }) => readLineage(kind, at, signal),
    staleTime: 10_000,
  });
  const lineage = query.data;
  const alone = lineage !== undefined && lineage.nodes.length < 2;
  return (
    <section className="tm-panel" data-testid="lineage">
      <h2 className="tm-version-head">
        <span className="tm-grow">{t("lineage.title")}</span>
        {lineage && !alone && (
          <Segmented
            size="small"
            value={listed ? "list" : "graph"}
            onChange={(value) => setListed(value === "list")}
            options={[
              { value: "graph", label: <span data-testid="lineage-as-graph">{t("lineage.graph")}</span> },
              { value: "list", label: <span data-testid="lineage-as-list">{t("lineage.list")}</span> },
            ]}
          />
        )}
      </h2>
      <div className="tm-panel-body">
        {!lineage && <Pending query={query} rows={3} />}
        {alone && (
          <span className="tm-faint">{t(lineage.more ? "lineage.more" : `lineage.none.${groupOf(kind)}`)}</span>
        )}
        {lineage && !alone && (listed ? <List of={lineage} /> : <Graph key={lineage.center} of={lineage} />)}
        {lineage?.more && !alone && <p className="tm-faint tm-lineage-more">{t("lineage.more")}</p>}
      </div>
    </section>
  );
}

function groupOf(kind: LineageAsked): "job" | "model" | "used" {
  return kind === "job" || kind === "model" ? kind : "used";
}

function Graph({ of }: { of: Lineage }): ReactNode {
  const { t } = useTranslation();
  const words = useNodeWords();
  const drawing = useMemo(() => draw(of), [of]);
  const frame = useRef<HTMLDivElement>(null);
  const center = drawing.placed.find((one) => one.node.id === of.center);
  useEffect(() => {
    const box = frame.current;
    if (!box || !center) return;
    // How wide it is may be known only after what stands beside it is there.
    const watch = new ResizeObserver(() => {
      box.scrollLeft = BOX.margin + center.x + BOX.width / 2 - box.clientWidth / 2;
    });
    watch.observe(box);
    return () => watch.disconnect();
  }, [center]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by the keyboard, too.
    <div className="tm-lineage tm-moves" ref={frame} tabIndex={0} role="region" aria-label={t("lineage.title")}>
      <div className="tm-lineage-sheet" style={{ width: drawing.width, height: drawing.height }}>
        <svg aria-hidden="true" width={drawing.width} height={drawing.height}>
          {drawing.lines.map(({ key, path }) => (
            <path key={key} d={path} />
          ))}
        </svg>
        <ol>
          {drawing.placed.map(({ node, x, y }) => (
            <li
              key={node.id}
              className={`tm-lineage-box tm-lineage-${node.kind}`}
              style={{ left: x, top: y }}
              aria-current={node.id === of.center || undefined}
              data-gone={node.state !== "there" || undefined}
              data-testid="lineage-node"
            >
              <Box node={node} />
              {node.more && (
                <span
                  className={`tm-lineage-further ${node.layer < 0 ? "tm-lineage-left" : ""}`}
                  role="img"
                  title={t("lineage.further")}
                  aria-label={t("lineage.further")}
                >
                  …
                </span>
              )}
              <span className="tm-said">{words.beside(node, of)}</span>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function Box({ node }: { node: LineageNode }): ReactNode {
  const words = useNodeWords();
  return (
    <>
      <span className="tm-lineage-kind">
        <span>{words.kind(node)}</span>
        {node.status && <StateTag state={node.status} quiet />}
      </span>
      <NodeLink node={node} />
    </>
  );
}

/** The same in words: each with what it came of. */
function List({ of }: { of: Lineage }): ReactNode {
  const { t } = useTranslation();
  const words = useNodeWords();
  const parts = [
    { key: "before", nodes: of.nodes.filter((one) => one.layer < 0).sort((a, b) => b.layer - a.layer) },
    { key: "after", nodes: of.nodes.filter((one) => one.layer > 0) },
  ] as const;
  return (
    <div className="tm-lineage-list" data-testid="lineage-list">
      {parts.map(({ key, nodes }) => (
        <div key={key}>
          <h3>{t(`lineage.${key}`)}</h3>
          {nodes.length === 0 && <span className="tm-faint">{t("lineage.nothing")}</span>}
          <ul>
            {nodes.map((node) => (
              <li key={node.id}>
                <span className="tm-faint">{words.kind(node)}</span> <NodeLink node={node} />{" "}
                {node.status && <StateTag state={node.status} quiet />}{" "}
                <span className="tm-faint">{words.beside(node, of)}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
