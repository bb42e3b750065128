/** The first page: what runs, what waits and until when, what failed, what is free, what one used and did last. */
import { EyeOutlined, PlusOutlined, RocketOutlined, TeamOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readHome } from "../../api/home";
import type { Home } from "../../api/types";
import { number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { ButtonLink } from "../../shared/link";
import { submitsSomewhere } from "../../shared/people";
import { useFreshSession } from "../../shared/session";
import { useFormatTime } from "../../shared/time";
import { Empty, Outdated, PageHeader, Pending } from "../../shared/ui";
import { Done } from "./done";
import { Free } from "./free";
import { FailedJobs, RunningJobs, WaitingJobs } from "./jobs";
import { type Card, sides } from "./sides";
import { Limits, Use } from "./use";
import { Workspaces } from "./workspaces";

const REFRESH_MS = 30_000;

export function HomePage(): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const kept = useKept(useQuery({ queryKey: ["home"], queryFn: readHome, refetchInterval: REFRESH_MS }));
  const home = kept.data;
  return (
    <div className="tm-stack" data-testid="home">
      <PageHeader
        title={t("home.title")}
        sub={home && t("home.hello", { name: home.name, time: time(home.at, "minute") })}
      />
      <Outdated query={kept} />
      {home ? <Cards home={home} /> : <Pending query={kept} rows={12} />}
    </div>
  );
}

function Cards({ home }: { home: Home }): ReactNode {
  const { left, right } = sides(home);
  return (
    <>
      <Figures home={home} />
      <div className="tm-home">
        <div className="tm-stack">
          {home.any ? (
            <>
              <RunningJobs home={home} />
              <WaitingJobs home={home} />
              <FailedJobs home={home} />
            </>
          ) : (
            <First />
          )}
          {left.map((card) => (
            <OneCard key={card} card={card} home={home} />
          ))}
        </div>
        <div className="tm-stack">
          <Free pools={home.free} />
          {right.map((card) => (
            <OneCard key={card} card={card} home={home} />
          ))}
        </div>
      </div>
      {home.workspaces.length > 0 && <Workspaces all={home.workspaces} />}
    </>
  );
}

function OneCard({ card, home }: { card: Card; home: Home }): ReactNode {
  if (card === "limits") return <Limits limits={home.limits} />;
  return card === "use" ? <Use use={home.use} /> : <Done events={home.did} />;
}

function Figures({ home }: { home: Home }): ReactNode {
  const { t } = useTranslation();
  const cards = home.free.flatMap((pool) => pool.cards);
  const cores = home.free.reduce((sum, pool) => sum + pool.cpu_free, 0);
  const free =
    cards.length > 0
      ? (["freeCards", cards.reduce((sum, one) => sum + one.free, 0)] as const)
      : (["freeCores", cores] as const);
  return (
    <div className="tm-panel tm-home-figures" data-testid="home-figures">
      <Link to="/jobs" search={{ who: "mine", state: "running" }} className="tm-figure">
        <b className="tm-num">{home.running_total}</b>
        <span>{t("home.running")}</span>
      </Link>
      <Link to="/queue" search={{ mine: true }} className="tm-figure">
        <b className="tm-num">{home.waiting_total}</b>
        <span>{t("home.waiting")}</span>
      </Link>
      <Link to="/jobs" search={{ who: "mine", state: "failed,expired", since: "14d" }} className="tm-figure">
        <b className={`tm-num${home.failed.length > 0 ? " tm-bad" : ""}`}>
          {home.failed.length}
          {home.failed.length === 5 && "+"}
        </b>
        <span>{t("home.failed")}</span>
      </Link>
      <Link to="/cluster" search={{}} className="tm-figure">
        <b className="tm-num">{number(Math.round(free[1] * 100) / 100)}</b>
        <span>{t(`home.${free[0]}`)}</span>
      </Link>
    </div>
  );
}

/** How to begin: for who may submit nothing, with what there is to see and whom to ask. */
function First(): ReactNode {
  const { t } = useTranslation();
  const user = useFreshSession()?.user;
  if (user && !submitsSomewhere(user)) return <OnlyLooks workspaces={user.workspaces.map((one) => one.workspace)} />;
  return (
    <section className="tm-panel" data-testid="home-first">
      <Empty title={t("home.emptyTitle")} icon={<RocketOutlined className="tm-empty-icon" />}>
        <p className="tm-faint">{t("home.emptyHint")}</p>
        <ButtonLink
          to="/submit"
          search={{}}
          color="primary"
          variant="solid"
          size="large"
          icon={<PlusOutlined />}
          data-testid="first-job"
        >
          {t("home.emptyStart")}
        </ButtonLink>
      </Empty>
    </section>
  );
}

function OnlyLooks({ workspaces }: { workspaces: string[] }): ReactNode {
  const { t } = useTranslation();
  const none = workspaces.length === 0;
  return (
    <section className="tm-panel" data-testid="home-looks">
      <Empty
        title={t(none ? "home.noneTitle" : "home.viewerTitle")}
        icon={none ? <TeamOutlined className="tm-empty-icon" /> : <EyeOutlined className="tm-empty-icon" />}
      >
        <p className="tm-faint">
          {none ? t("people.mineNone") : t("home.viewerHint", { workspaces: workspaces.join(t("mark.comma")) })}
        </p>
        {!none && (
          <ButtonLink to="/jobs" search={{ who: "all" }} color="primary" variant="solid" data-testid="shared-jobs">
            {t("home.viewerStart")}
          </ButtonLink>
        )}
      </Empty>
    </section>
  );
}
