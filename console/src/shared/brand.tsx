/** The mark and the switch of language that every page carries, the sign-in page included: so without Ant Design. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { setLanguage, useLanguage } from "../i18n";

export function Logo({ size = 28 }: { size?: number }): ReactNode {
  return <img src="/favicon.svg" width={size} height={size} alt="" className="tm-logo" />;
}

export function LanguageSwitch(): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  return (
    <button
      type="button"
      className="tm-flat-button"
      data-testid="language"
      title={t("language.switch")}
      lang={language === "zh" ? "en" : "zh"}
      onClick={() => setLanguage(language === "zh" ? "en" : "zh")}
    >
      {t("language.other")}
    </button>
  );
}
