/** Shown at an address without a page, in place of what is not there for this person, and in place of a page that failed. */
import { useRouterState } from "@tanstack/react-router";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "../shared/link";
import { useTitle } from "../shared/title";

export function Missing(): ReactNode {
  const { t } = useTranslation();
  const address = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Lost id="missing" title={t("error.notFound")} way={<WayOn to="/jobs" text={t("lost.all")} />}>
      {t("error.notFoundHint", { address })}
    </Lost>
  );
}

/** One answer whether it exists or not: who may not see it learns neither (D8). */
export function NotShared({
  what,
  id,
}: {
  what: "job" | "model" | "template" | "dataset" | "volume" | "algorithm" | "image" | "sweep";
  id: string;
}): ReactNode {
  const { t } = useTranslation();
  const ways = {
    job: <WayOn to="/jobs" text={t("lost.all")} />,
    model: <WayOn to="/models" text={t("lost.models")} />,
    template: <WayOn to="/templates" text={t("lost.templates")} />,
    dataset: <WayOn to="/datasets" text={t("lost.datasets")} />,
    volume: <WayOn to="/volumes" text={t("lost.volumes")} />,
    algorithm: <WayOn to="/algorithms" text={t("lost.algorithms")} />,
    image: <WayOn to="/images" text={t("lost.images")} />,
    sweep: <WayOn to="/sweeps" text={t("lost.sweeps")} />,
  };
  return (
    <Lost id="not-shared" title={t(`lost.${what}`)} way={ways[what]}>
      {t("lost.hint")}
      {t("mark.colon")}
      <code className="tm-mono">{id}</code>
    </Lost>
  );
}

/** What browsers, and the loader of styles, say of a part of the console that they could not get. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed|Unable to preload/;

export function Crash({ error }: { error: unknown }): ReactNode {
  const { t } = useTranslation();
  const said = error instanceof Error ? error.message : String(error);
  const reload = (
    <Button type="primary" onClick={() => window.location.reload()}>
      {t("action.reload")}
    </Button>
  );
  if (NOT_LOADED.test(said))
    return (
      <Lost id="not-loaded" title={t("error.load")} way={reload}>
        {t("error.loadHint")}
      </Lost>
    );
  return (
    <Lost id="crash" title={t("error.render")} way={reload}>
      {t("error.renderHint")}
      <pre className="tm-code">{said}</pre>
    </Lost>
  );
}

const WayOn = ({
  to,
  text,
}: {
  to: "/jobs" | "/models" | "/templates" | "/datasets" | "/volumes" | "/algorithms" | "/images" | "/sweeps";
  text: string;
}): ReactNode => (
  <ButtonLink to={to} color="primary" variant="solid">
    {text}
  </ButtonLink>
);

function Lost(props: { id: string; title: string; way: ReactNode; children: ReactNode }): ReactNode {
  useTitle(props.title);
  return (
    <section className="tm-lost" data-testid={props.id}>
      <h1>{props.title}</h1>
      <div className="tm-lost-hint">{props.children}</div>
      {props.way}
    </section>
  );
}
