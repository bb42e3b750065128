/** What stands in a lineage: how it is called, and where it leads. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Lineage, LineageNode } from "../../api/types";

export function nameOf(node: LineageNode): string {
  return node.version === null ? node.name : `${node.name}@${node.version}`;
}

interface NodeWords {
  /** What it is, and what became of it. */
  kind: (node: LineageNode) => string;
  /** What it is to those that are nearer to the middle. */
  beside: (node: LineageNode, lineage: Lineage) => string;
}

export function useNodeWords(): NodeWords {
  const { t } = useTranslation();
  const called = (node: LineageNode): string => nameOf(node) || t("lineage.unnamed");
  return {
    kind: (node) => {
      const kind = t(`lineage.kind.${node.kind}`);
      return node.state === "there" ? kind : `${kind} · ${t(`lineage.state.${node.state}`)}`;
    },
    beside: (node, lineage) => {
      const before = node.layer < 0;
      const byId = new Map(lineage.nodes.map((one) => [one.id, one]));
      return lineage.edges
        .filter((edge) => (before ? edge.source : edge.target) === node.id)
        .flatMap((edge) => {
          const near = byId.get(before ? edge.target : edge.source);
          return near ? [t(`lineage.${before ? "to" : "from"}.${edge.how}`, { name: called(near) })] : [];
        })
        .join(t("mark.comma"));
    },
  };
}

/** Leads to its page; what is not there is only named. */
export function NodeLink({ node }: { node: LineageNode }): ReactNode {
  const { t } = useTranslation();
  const name = nameOf(node);
  const search = node.version === null ? {} : { version: node.version };
  const shown = { className: "tm-lineage-name tm-name", title: name, children: name };
  const params = { id: node.ref };
  if (node.state !== "there" || node.kind === "storage" || !node.ref)
    return (
      <span className="tm-lineage-name" title={name || undefined}>
        {name || t("lineage.unnamed")}
      </span>
    );
  switch (node.kind) {
    case "job":
      return <Link to="/jobs/$id" params={params} search={{ tab: "lineage" }} {...shown} />;
    case "model":
      return <Link to="/models/$id" params={params} search={search} {...shown} />;
    case "dataset":
      return <Link to="/datasets/$id" params={params} search={search} {...shown} />;
    case "algorithm":
      return <Link to="/algorithms/$id" params={params} search={search} {...shown} />;
    case "image":
      return <Link to="/images/$id" params={params} search={search} {...shown} />;
    case "volume":
      return <Link to="/volumes/$id" params={params} {...shown} />;
  }
}
