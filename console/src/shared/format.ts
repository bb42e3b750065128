/** Numbers as people read them. Pure but for the language of durations: the page's (i18n sets it), unless one is given. */

export type Language = "zh" | "en";
let spoken: Language = "en";

/** Durations are said in this language from now on. */
export const speak = (language: Language): void => {
  spoken = language;
};

/** Words one after the other, as the language of the page separates them. */
export const listed = (words: readonly string[]): string => words.join(spoken === "zh" ? "、" : ", ");

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** 1536 -> "1.5 KiB". */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < SIZES.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${trim(value.toFixed(digits))} ${SIZES[unit]}`;
}

export const mib = (count: number): string => bytes(count * 1024 * 1024);

function trim(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** 0.0001234 -> "1.234e-4", 0.97321 -> "0.9732", 123456 -> "123,456". */
export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(3).replace(/\.?0+e/, "e");
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return trim(value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 4));
}

const UNITS = [
  ["d", 86400, "天", "天"],
  ["h", 3600, "小时", "小时"],
  ["m", 60, "分", "分钟"],
  ["s", 1, "秒", "秒"],
] as const;

/** 93 -> "1m 33s", "1 分 33 秒": the largest unit and the next smaller one; below ten seconds with one decimal when `exact`. Like a clock it
    never shows what has not passed yet, as the server and the command line say it (trainmaster/messages/amounts.py). */
export function duration(seconds: number, exact = false, language: Language = spoken): string {
  const chinese = language === "zh";
  if (exact && seconds > 0 && seconds < 0.1) return chinese ? "<0.1 秒" : "<0.1s";
  if (exact && seconds < 10) return `${trim((Math.floor(seconds * 10) / 10).toFixed(1))}${chinese ? " 秒" : "s"}`;
  const [first, second] = partsOf(seconds);
  const parts = [first, second && first && follows(first[1], second[1]) ? second : undefined].filter((part) => !!part);
  const words = parts.map(([count, [short, , within, alone]]) =>
    chinese ? `${count} ${parts.length > 1 ? within : alone}` : `${count}${short}`,
  );
  return words.join(" ") || (chinese ? "0 秒" : "0s");
}

/** 5430 -> "1h30m30s": exact to the second, as documents spell it and `parseDuration` reads it. */
export const spellDuration = (seconds: number): string =>
  partsOf(seconds)
    .map(([count, [short]]) => `${count}${short}`)
    .join("") || "0s";

const follows = (unit: (typeof UNITS)[number], next: (typeof UNITS)[number]) =>
  UNITS.indexOf(next) === UNITS.indexOf(unit) + 1;

function partsOf(seconds: number): [number, (typeof UNITS)[number]][] {
  let rest = Math.max(0, Math.floor(seconds));
  return UNITS.flatMap((unit): [number, (typeof UNITS)[number]][] => {
    const count = Math.floor(rest / unit[1]);
    rest -= count * unit[1];
    return count > 0 ? [[count, unit]] : [];
  });
}

/** Distances of marks on an axis of whole numbers: steps, processes. */
export const WHOLE_STEPS = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat();

/** Distances of marks on an axis of MiB, so that each is a round number of its unit: 2 KiB, not 1.9. */
export const MIB_STEPS = Array.from({ length: 45 }, (_, power) => 2 ** (power - 20));

const UP_TO_A_MINUTE = [1, 2, 5, 10, 15, 30];

/** Distances of marks on an axis of seconds, ascending, each said in one word: decimal ones would read 1m 40s, or 0s again and again. */
export const DURATION_STEPS = [
  ...UP_TO_A_MINUTE,
  ...UP_TO_A_MINUTE.map((n) => n * 60),
  ...[1, 2, 3, 6, 12].map((n) => n * 3600),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * 86400),
];

const DURATION_PART = /(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)?\s*/gy;
const DURATION_UNITS: Record<string, number> = { s: 1, m: 60, min: 60, h: 3600, d: 86400, w: 604800 };

/** "1h30m" -> 5400; null when it is not a duration. The same grammar as the server's. */
export function parseDuration(text: string): number | null {
  const source = text.trim().toLowerCase();
  if (!source) return null;
  let total = 0;
  DURATION_PART.lastIndex = 0;
  while (DURATION_PART.lastIndex < source.length) {
    const match = DURATION_PART.exec(source);
    if (!match) return null;
    total += Number(match[1]) * (DURATION_UNITS[match[2] ?? "s"] ?? 1);
  }
  return total;
}

const MEMORY = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i;
const MEMORY_UNITS: Record<string, number> = {
  "": 1,
  m: 1,
  mb: 1,
  mi: 1,
  mib: 1,
  k: 1 / 1024,
  kb: 1 / 1024,
  ki: 1 / 1024,
  kib: 1 / 1024,
  g: 1024,
  gb: 1024,
  gi: 1024,
  gib: 1024,
  t: 1048576,
  tb: 1048576,
  ti: 1048576,
  tib: 1048576,
};

/** "2GiB" -> 2048 (MiB); null when it is not a size. The same grammar as the server's. */
export function parseMemory(text: string | number): number | null {
  if (typeof text === "number") return text;
  const match = MEMORY.exec(text);
  const factor = match ? MEMORY_UNITS[(match[2] ?? "").toLowerCase()] : undefined;
  return match && factor !== undefined ? Math.ceil(Number(match[1]) * factor) : null;
}

/** 2048 -> "2GiB", 1536 -> "1536MiB": exact, as the documents spell it. */
export function spellMemory(value: number): string {
  return value >= 1024 && value % 1024 === 0 ? `${value / 1024}GiB` : `${value}MiB`;
}

export const percent = (fraction: number): number => Math.round(Math.min(1, Math.max(0, fraction)) * 1000) / 10;

/** "digits@3" -> its id and version. */
export function modelName(model: string): { id: string; version: number | undefined } {
  const at = model.lastIndexOf("@");
  const version = at < 0 ? Number.NaN : Number(model.slice(at + 1));
  return { id: at < 0 ? model : model.slice(0, at), version: Number.isInteger(version) ? version : undefined };
}

/** The beginning of an id, which the command line takes for the whole. */
export const shortId = (id: string): string => id.slice(0, 8);

/** Types of resources as people call them (R14). */
export const RESOURCE_TYPES: Readonly<Record<string, string>> = {
  cpu: "CPU",
  gpu: "GPU",
  ascend: "Ascend",
  mlu: "MLU",
};

/** The words of a command as a shell would need them. */
export function shellWords(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** A label as people see it and search for it. */
export const labelText = ([key, value]: [string, string]): string => (value ? `${key}=${value}` : key);

/** The search that shows the jobs with this label. */
export function labelFilter(label: [string, string]): string {
  const text = labelText(label);
  return `label:${/[\s"]/.test(text) ? `"${text.replaceAll('"', "")}"` : text}`;
}

/** One process of a job as people know it: `trainer-0`. */
export const replicaName = ({ role, index }: { role: string; index: number }): string => `${role}-${index}`;

/** The same by what the platform calls it, `task0-1`, given the names of the sub-tasks. */
export function replicaOf(task: string, roles: readonly { name: string }[]): string {
  const found = /^task(\d+)-(\d+)$/.exec(task);
  const role = roles[Number(found?.[1] ?? -1)];
  return found && role ? replicaName({ role: role.name, index: Number(found[2]) }) : task;
}
