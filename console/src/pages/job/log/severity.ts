/** Lines that tell of trouble, by what loggers, Python and shells write. Pure. */

/** For the server's search as well as for the browser: RE2 and JavaScript read it alike. */
export const FAILURE = [
  String.raw`\b(?:ERROR|CRITICAL|FATAL)\b`,
  String.raw`\b[Ee]rror: `,
  String.raw`Traceback \(most recent call last\)`,
  String.raw`\b\w*(?:Error|Exception)(?:: |$)`,
  String.raw`\bSegmentation fault\b`,
  ": (?:command )?not found$",
].join("|");
const FAILS = new RegExp(FAILURE);
const WARNS = /\bWARN(?:ING)?\b|\b\w*Warning: |\b[Ww]arning: /;

export type Severity = "bad" | "warn" | null;

export function severityOf(line: string): Severity {
  if (FAILS.test(line)) return "bad";
  return WARNS.test(line) ? "warn" : null;
}
