/** Where the server has the documentation that was built for it (trainmaster/api/static.py). */
import type { Language } from "./format";

const DOCS = "/docs";

/** The address of a page of the documentation, such as guide/cli, in the reader's language. Pure. */
export const docsPage = (page: string, language: Language): string =>
  `${DOCS}${language === "zh" ? "/zh" : ""}/${page}.html`;
