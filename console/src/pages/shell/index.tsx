/** The frame around every page: navigation at the side, or in a drawer where the window is narrow; the bar above; the keyboard. */
import { PlusOutlined } from "@ant-design/icons";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Drawer } from "antd";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Session } from "../../api/types";
import { Logo } from "../../shared/brand";
import { ButtonLink } from "../../shared/link";
import { useSession } from "../../shared/session";
import { useMedia } from "../../theme";
import { useFocusBack } from "./focus";
import { Keyboard } from "./keyboard";
import { currentPage, pagesFor, whereOf } from "./pages";
import { TopBar } from "./top";

const NARROW = "(max-width: 899px)";
const COMPACT = "(max-width: 1199px)";

export function Shell(): ReactNode {
  const session = useSession();
  return session ? <Frame session={session} /> : null;
}

function Frame({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation();
  const narrow = useMedia(NARROW);
  const compact = useMedia(COMPACT);
  const [open, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => whereOf(state.location) });
  const content = useRef<HTMLElement>(null);
  useFocusBack();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer.
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="tm-frame">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place on this page, which must not become another address. */}
      <a
        className="tm-skip"
        href="#content"
        onClick={(e) => {
          e.preventDefault();
          content.current?.focus();
        }}
      >
        {t("nav.skip")}
      </a>
      {narrow ? (
        <Drawer
          open={open}
          onClose={() => setOpen(false)}
          placement="left"
          size={248}
          title="Trainmaster"
          closable={{ "aria-label": t("nav.close") }}
          classNames={{ body: "tm-drawer" }}
        >
          <Navigation session={session} path={path} compact={false} />
        </Drawer>
      ) : (
        <div className={`tm-sider${compact ? " tm-compact" : ""}`}>
          <Link to="/" search={{}} className="tm-brand" aria-label="Trainmaster">
            <Logo />
            {!compact && <span>Trainmaster</span>}
          </Link>
          <Navigation session={session} path={path} compact={compact} />
        </div>
      )}
      <div className="tm-main">
        <TopBar session={session} openMenu={narrow ? () => setOpen(true) : undefined} />
        <main className="tm-content" id="content" ref={content} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <Keyboard session={session} />
    </div>
  );
}

function Navigation(props: { session: Session; path: string; compact: boolean }): ReactNode {
  const { t } = useTranslation();
  const current = currentPage(props.path);
  const words = props.compact ? "tm-said" : undefined;
  return (
    <nav aria-label={t("nav.main")}>
      <div className="tm-new">
        <ButtonLink
          to="/submit"
          search={{}}
          color="primary"
          variant="solid"
          block
          icon={<PlusOutlined />}
          title={props.compact ? t("nav.newJob") : undefined}
          data-testid="new-job"
        >
          <span className={words}>{t("nav.newJob")}</span>
        </ButtonLink>
      </div>
      <ul className="tm-nav">
        {pagesFor(props.session.user.role).map(({ to, name, icon }) => (
          <li key={to}>
            <Link
              to={to}
              data-testid={`nav-${name}`}
              title={props.compact ? t(`nav.${name}`) : undefined}
              className={to === current ? "tm-here" : undefined}
            >
              {icon}
              <span className={words}>{t(`nav.${name}`)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
