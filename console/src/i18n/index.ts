/** Language: zh and en, chosen by the person, remembered in the browser, typed so that a key missing in one fails the build. */
import i18n from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import type { Bilingual } from "../api/types";
import { type Language, speak } from "../shared/format";
import { en } from "./en";
import { zh } from "./zh";

export type { Language } from "../shared/format";

const KEY = "trainmaster.language";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation";
    resources: { translation: typeof en };
  }
}

function preferred(): Language {
  const saved = localStorage.getItem(KEY);
  if (saved === "zh" || saved === "en") return saved;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

void i18n.use(initReactI18next).init({
  resources: { en: { translation: en }, zh: { translation: zh } },
  lng: preferred(),
  fallbackLng: "en",
  interpolation: { escapeValue: false }, // React does that
  returnNull: false,
});
say(preferred());

/** The page, what the server answers (api/client reads `lang`) and durations are in this language. */
function say(language: Language): void {
  document.documentElement.lang = language;
  speak(language);
}

export function setLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
  say(language);
  void i18n.changeLanguage(language);
}

export function useLanguage(): Language {
  return useTranslation().i18n.language === "zh" ? "zh" : "en";
}

/** Pick the text of the current language out of a bilingual text of the server; a plain text is passed through. */
export function useBilingual(): (text: Bilingual | string | null | undefined) => string {
  const language = useLanguage();
  return (text) => (typeof text === "string" ? text : (text?.[language] ?? text?.en ?? ""));
}

export { i18n };
