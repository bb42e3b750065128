/** One build: how far it is, what it says while it goes on, why it failed; stopped here, or followed to its image. */
import { StopOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Drawer } from "antd";
import { type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { readBuild, stopBuild } from "../../api/images";
import type { ImageBuild } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useAct } from "../../shared/act";
import { ButtonLink } from "../../shared/link";
import { Ago } from "../../shared/time";
import { Empty, Facts, Pending } from "../../shared/ui";
import { useMedia } from "../../theme";
import { hasEnded, toneOfBuild } from "./states";

const AGAIN_MS = 1000;
/** So near to its end, in px, the log is followed. */
const NEAR = 40;

export function BuildDrawer({ id, close }: { id: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const narrow = useMedia("(max-width: 599px)");
  const query = useQuery({
    queryKey: ["image-build", id],
    queryFn: ({ signal }) => readBuild(id, signal),
    refetchInterval: ({ state }) => (state.error || (state.data && hasEnded(state.data)) ? false : AGAIN_MS),
  });
  const build = query.data;
  const state = build?.state;
  useEffect(() => {
    if (state === undefined) return;
    for (const key of ["image-builds", ...(state === "ready" ? ["images", "image"] : [])])
      void client.invalidateQueries({ queryKey: [key] });
  }, [client, state]);
  const gone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Drawer
      open
      size={narrow ? "100%" : 720}
      onClose={close}
      title={build ? t("images.build.title", { name: build.name }) : t("images.build.all")}
    >
      {gone ? (
        <Empty title={t("images.build.gone")} />
      ) : build ? (
        <Told build={build} />
      ) : (
        <Pending query={query} rows={4} />
      )}
    </Drawer>
  );
}

function Told({ build }: { build: ImageBuild }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const act = useAct(["image-build", "image-builds"]);
  const stop = (): Promise<boolean> =>
    act(async () => {
      await stopBuild(build.id);
      return t("images.build.stopped");
    });
  return (
    <div className="tm-stack" data-testid="build" data-state={build.state}>
      <div className="tm-build-head">
        <span className="tm-grow" aria-live="polite">
          <span className={`tm-state tm-tone-${toneOfBuild(build.state)}`}>
            {t(`images.build.states.${build.state}`)}
          </span>
        </span>
        {!hasEnded(build) && (
          <Button size="small" danger icon={<StopOutlined />} onClick={() => void stop()} data-testid="build-stop">
            {t("images.build.stop")}
          </Button>
        )}
        {build.state === "ready" && build.image !== null && (
          <ButtonLink
            size="small"
            color="primary"
            variant="solid"
            to="/images/$id"
            params={{ id: build.image }}
            search={{ version: build.version ?? undefined }}
            data-testid="build-image"
          >
            {t("images.build.see")}
          </ButtonLink>
        )}
      </div>
      {build.error !== null && (
        <Alert
          type={build.state === "failed" ? "error" : "info"}
          showIcon
          title={pick(build.error)}
          description={pick(build.remedy)}
          data-testid="build-error"
        />
      )}
      <Facts
        columns={2}
        items={[
          [t("images.owner"), `${build.owner} · ${build.workspace}`],
          [t("images.packagesNumber"), build.packages > 0 ? build.packages : "–"],
          [t("images.build.began"), <Ago key="b" at={build.started_at} />],
          [t("images.build.ended"), build.ended_at === null ? "–" : <Ago key="e" at={build.ended_at} />],
        ]}
      />
      <Log lines={build.log} />
    </div>
  );
}

/** What was said, the last line in sight unless somebody has moved up. */
function Log({ lines }: { lines: readonly string[] }): ReactNode {
  const { t } = useTranslation();
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines that came are why it moves.
  useEffect(() => {
    const element = box.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  return (
    <pre
      ref={box}
      role="log"
      className="tm-code tm-build-log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by the keyboard, too.
      tabIndex={0}
      aria-label={t("images.build.log")}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR;
      }}
      data-testid="build-log"
    >
      {lines.length > 0 ? lines.join("\n") : t("images.build.nothing")}
    </pre>
  );
}
