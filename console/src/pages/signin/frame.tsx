/** What stands around everything that is shown before somebody is in. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useLanguage } from "../../i18n";
import { LanguageSwitch, Logo } from "../../shared/brand";
import { docsPage } from "../../shared/docs";
import { useTitle } from "../../shared/title";
import { type Look, useLook } from "../../theme";

/** `onTyping`: somebody is about to come in. */
export function Frame({
  title,
  onTyping,
  children,
}: {
  title: string;
  onTyping?: () => void;
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  useTitle(title);
  return (
    <div className="tm-signin" onInput={onTyping}>
      <header>
        <span className="tm-brand">
          <Logo />
          Trainmaster
        </span>
        <a
          className="tm-flat-button"
          href={docsPage("index", language)}
          target="_blank"
          rel="noreferrer"
          data-testid="docs"
        >
          {t("signin.docs")}
        </a>
        <LanguageSwitch />
        <LookChoice />
      </header>
      <main className="tm-signin-box">{children}</main>
      <footer>
        <strong>{t("signin.tagline")}</strong> {t("signin.point")}
      </footer>
    </div>
  );
}

function LookChoice(): ReactNode {
  const { t } = useTranslation();
  const { look, setLook } = useLook();
  return (
    <select
      className="tm-flat-button"
      value={look}
      onChange={(e) => setLook(e.target.value as Look)}
      aria-label={t("theme.title")}
      data-testid="look"
    >
      {(["light", "dark", "system"] as const).map((one) => (
        <option key={one} value={one}>
          {t(`theme.${one}`)}
        </option>
      ))}
    </select>
  );
}
