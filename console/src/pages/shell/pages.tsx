/** The pages of the navigation: their addresses, icons and keys, and where the guide tells of them. */
import {
  AccountBookOutlined,
  AppstoreOutlined,
  AuditOutlined,
  ClusterOutlined,
  ControlOutlined,
  DatabaseOutlined,
  DeleteOutlined,
  DeploymentUnitOutlined,
  FileDoneOutlined,
  FolderOutlined,
  FunctionOutlined,
  HomeOutlined,
  HourglassOutlined,
  SettingOutlined,
  TableOutlined,
  UnorderedListOutlined,
} from "@ant-design/icons";
import type { ReactNode } from "react";
import type { Language } from "../../i18n";
import { docsPage } from "../../shared/docs";

export interface Page {
  to: "/" | `/${Exclude<Page["name"], "home">}`;
  name:
    | "home"
    | "jobs"
    | "sweeps"
    | "queue"
    | "cluster"
    | "templates"
    | "datasets"
    | "volumes"
    | "algorithms"
    | "images"
    | "models"
    | "bin"
    | "usage"
    | "audit"
    | "admin"
    | "settings";
  icon: ReactNode;
  /** Pressed after g. */
  key: string;
}

const PAGES: readonly Page[] = [
  { to: "/", name: "home", icon: <HomeOutlined />, key: "h" },
  { to: "/jobs", name: "jobs", icon: <UnorderedListOutlined />, key: "j" },
  { to: "/sweeps", name: "sweeps", icon: <TableOutlined />, key: "w" },
  { to: "/queue", name: "queue", icon: <HourglassOutlined />, key: "q" },
  { to: "/cluster", name: "cluster", icon: <ClusterOutlined />, key: "c" },
  { to: "/templates", name: "templates", icon: <FileDoneOutlined />, key: "t" },
  { to: "/datasets", name: "datasets", icon: <DatabaseOutlined />, key: "d" },
  { to: "/volumes", name: "volumes", icon: <FolderOutlined />, key: "v" },
  { to: "/algorithms", name: "algorithms", icon: <FunctionOutlined />, key: "l" },
  { to: "/images", name: "images", icon: <AppstoreOutlined />, key: "i" },
  { to: "/models", name: "models", icon: <DeploymentUnitOutlined />, key: "m" },
  { to: "/bin", name: "bin", icon: <DeleteOutlined />, key: "b" },
  { to: "/usage", name: "usage", icon: <AccountBookOutlined />, key: "u" },
  { to: "/audit", name: "audit", icon: <AuditOutlined />, key: "o" },
  { to: "/admin", name: "admin", icon: <ControlOutlined />, key: "a" },
  { to: "/settings", name: "settings", icon: <SettingOutlined />, key: "s" },
];
const ADMINISTRATORS: ReadonlySet<string> = new Set(["admin"]);

export const pagesFor = (role: string): readonly Page[] =>
  PAGES.filter((page) => role === "admin" || !ADMINISTRATORS.has(page.name));

/** The page of the navigation that an address belongs to; undefined: it has none there. Pure. */
export function currentPage(path: string): Page["to"] | undefined {
  if (path.startsWith("/submit") || path.startsWith("/compare")) return "/jobs";
  return PAGES.find(({ to }) => (to === "/" ? path === to : path.startsWith(to)))?.to;
}

/** Where one is as the navigation sees it: who edits a template is among the templates, though the form is that of a job. Pure. */
export const whereOf = (at: { pathname: string; search: { template?: unknown; edit?: unknown } }): string =>
  at.pathname.startsWith("/submit") && at.search.template !== undefined && at.search.edit === true
    ? "/templates"
    : at.pathname;

const CHAPTERS: readonly [string, string][] = [
  ["/submit", "job-file"],
  ["/jobs/", "logs-and-metrics"],
  ["/compare", "compare"],
  ["/templates", "templates"],
  ["/datasets", "datasets"],
  ["/volumes", "volumes"],
  ["/algorithms", "algorithms"],
  ["/images", "images"],
  ["/sweeps", "sweeps"],
  ["/queue", "waiting"],
  ["/cluster", "cluster"],
  ["/models", "models"],
  ["/bin", "bin"],
  ["/usage", "usage"],
  ["/admin", "administration"],
  ["/audit", "audit"],
  ["/notifications", "notifications"],
  ["/settings", "cli"],
];

/** The chapter of the guide that tells of the page at `path`, in the reader's language. Pure. */
export function chapterOf(path: string, language: Language): string {
  const chapter = CHAPTERS.find(([begin]) => path.startsWith(begin))?.[1] ?? "console";
  return docsPage(`guide/${chapter}`, language);
}
