/** The addresses of the console. Pages are loaded when first visited. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readHome } from "./api/home";
import { sessionKey } from "./api/key";
import { readEntries, readSweep } from "./api/sweeps";
import { Crash, Missing } from "./pages/lost";
import { Shell } from "./pages/shell";
import { usualOrder } from "./pages/sweeps/order";
import {
  ADMIN_TABS,
  type AdminTab,
  type AuditSearch,
  type ClusterSearch,
  COMPARE_TABS,
  type CompareSearch,
  type FilesSearch,
  JOB_TABS,
  type JobSearch,
  type JobsSearch,
  type NoticesSearch,
  type QueueSearch,
  SETTINGS_TABS,
  type SettingsTab,
  type SubmitSearch,
  SWEEP_TABS,
  type SweepSearch,
  type UsageSearch,
} from "./shared/address";
import { client } from "./shared/queries";

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
/** A text that may look like a number in the address. */
const word = (value: unknown): string | undefined => text(typeof value === "number" ? String(value) : value);
const texts = (value: unknown): string[] | undefined => {
  const list = (Array.isArray(value) ? value : [value]).filter(
    (item): item is string => typeof item === "string" && item !== "",
  );
  return list.length > 0 ? list : undefined;
};
/** Several texts, each of which may look like a number in the address. */
const words = (value: unknown): string[] | undefined =>
  texts((Array.isArray(value) ? value : [value]).map((item) => word(item) ?? ""));
const whole = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
const one = <T extends string>(known: readonly T[], value: unknown): T | undefined => known.find((is) => is === value);

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, errorComponent: Crash });

const jobsSearch = (s: Record<string, unknown>): JobsSearch => ({
  q: word(s["q"]),
  state: texts(s["state"])?.join(","),
  who: one(["mine", "all"], s["who"]),
  owner: word(s["owner"]),
  workspace: word(s["workspace"]),
  pool: word(s["pool"]),
  framework: word(s["framework"]),
  node: word(s["node"]),
  tag: word(s["tag"]),
  favorite: s["favorite"] === true || undefined,
  sweep: text(s["sweep"]),
  algorithm: word(s["algorithm"]),
  favorite_algorithm: s["favorite_algorithm"] === true || undefined,
  flavor: word(s["flavor"]),
  output: word(s["output"]),
  columns: text(s["columns"]),
  since: word(s["since"]),
  until: word(s["until"]),
  order: text(s["order"]),
});

const filesSearch = (s: Record<string, unknown>): FilesSearch => ({
  version: whole(s["version"]),
  path: word(s["path"]),
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: jobsSearch,
  // The list of jobs was here: what was kept of its addresses leads to it.
  beforeLoad: ({ search }) => {
    if (Object.values(search).some((value) => value !== undefined)) throw redirect({ to: "/jobs", search });
  },
  // Asked for while the page itself is still on its way.
  loader: () => {
    if (sessionKey() !== "") void client.prefetchQuery({ queryKey: ["home"], queryFn: readHome });
  },
  component: lazyRouteComponent(() => import("./pages/home"), "HomePage"),
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: jobsSearch,
  component: lazyRouteComponent(() => import("./pages/jobs"), "JobsPage"),
});

const submit = createRoute({
  getParentRoute: () => root,
  path: "/submit",
  validateSearch: (s: Record<string, unknown>): SubmitSearch => ({
    clone: text(s["clone"]),
    template: text(s["template"]),
    edit: s["edit"] === true || undefined,
    session: text(s["session"]),
    train: text(s["train"]),
    set: text(s["set"]),
    sweep: s["sweep"] === true || undefined,
  }),
  component: lazyRouteComponent(() => import("./pages/submit"), "SubmitPage"),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$id",
  validateSearch: (s: Record<string, unknown>): JobSearch => ({
    tab: JOB_TABS.find((tab) => tab === s["tab"]),
    attempt: whole(s["attempt"]),
    task: text(s["task"]),
    line: whole(s["line"]),
    find: text(s["find"]),
    logs: one(["merged", "side"] as const, s["logs"]),
    metrics: texts(s["metrics"]),
    axis: one(["epoch", "relative", "time"] as const, s["axis"]),
    smooth: whole(s["smooth"]),
    log: s["log"] === true || undefined,
    events: one(["all", "bad", "people"] as const, s["events"]),
    path: word(s["path"]),
  }),
  component: lazyRouteComponent(() => import("./pages/job"), "JobPage"),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: (s: Record<string, unknown>): CompareSearch => ({
    job: words(s["job"]),
    tab: one(COMPARE_TABS, s["tab"]),
    metric: words(s["metric"]),
    x: one(["epoch", "relative", "time"] as const, s["x"]),
    smooth: whole(s["smooth"]),
    log: s["log"] === true || undefined,
    all: s["all"] === true || undefined,
    order: word(s["order"]),
    best: one(["min", "max"] as const, s["best"]),
    by: word(s["by"]),
    of: word(s["of"]),
    base: word(s["base"]),
    other: word(s["other"]),
  }),
  component: lazyRouteComponent(() => import("./pages/compare"), "ComparePage"),
});

const queue = createRoute({
  getParentRoute: () => root,
  path: "/queue",
  validateSearch: (s: Record<string, unknown>): QueueSearch => ({
    view: s["view"] === "timeline" ? "timeline" : undefined,
    pool: text(s["pool"]),
    model: text(s["model"]),
    workspace: text(s["workspace"]),
    owner: text(s["owner"]),
    mine: s["mine"] === true || undefined,
  }),
  component: lazyRouteComponent(() => import("./pages/queue"), "QueuePage"),
});

const cluster = createRoute({
  getParentRoute: () => root,
  path: "/cluster",
  validateSearch: (s: Record<string, unknown>): ClusterSearch => ({
    flavors: texts(s["flavors"]),
    model: text(s["model"]),
    pool: text(s["pool"]),
    owner: text(s["owner"]),
    q: text(s["q"]),
  }),
  component: lazyRouteComponent(() => import("./pages/cluster"), "ClusterPage"),
});

const bin = createRoute({
  getParentRoute: () => root,
  path: "/bin",
  component: lazyRouteComponent(() => import("./pages/bin"), "BinPage"),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  validateSearch: (s: Record<string, unknown>): UsageSearch => ({
    month: text(s["month"]),
    workspace: word(s["workspace"]),
  }),
  component: lazyRouteComponent(() => import("./pages/usage"), "UsagePage"),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  component: lazyRouteComponent(() => import("./pages/models"), "ModelsPage"),
});

const templates = createRoute({
  getParentRoute: () => root,
  path: "/templates",
  component: lazyRouteComponent(() => import("./pages/templates"), "TemplatesPage"),
});

const datasets = createRoute({
  getParentRoute: () => root,
  path: "/datasets",
  component: lazyRouteComponent(() => import("./pages/datasets"), "DatasetsPage"),
});

const dataset = createRoute({
  getParentRoute: () => root,
  path: "/datasets/$id",
  validateSearch: filesSearch,
  component: lazyRouteComponent(() => import("./pages/datasets/dataset"), "DatasetPage"),
});

const volumes = createRoute({
  getParentRoute: () => root,
  path: "/volumes",
  component: lazyRouteComponent(() => import("./pages/volumes"), "VolumesPage"),
});

const volume = createRoute({
  getParentRoute: () => root,
  path: "/volumes/$id",
  validateSearch: (s: Record<string, unknown>): { path?: string } => ({ path: word(s["path"]) }),
  component: lazyRouteComponent(() => import("./pages/volumes/volume"), "VolumePage"),
});

const algorithms = createRoute({
  getParentRoute: () => root,
  path: "/algorithms",
  component: lazyRouteComponent(() => import("./pages/algorithms"), "AlgorithmsPage"),
});

const algorithm = createRoute({
  getParentRoute: () => root,
  path: "/algorithms/$id",
  validateSearch: (s: Record<string, unknown>): { version?: number } => ({ version: whole(s["version"]) }),
  component: lazyRouteComponent(() => import("./pages/algorithms/algorithm"), "AlgorithmPage"),
});

const images = createRoute({
  getParentRoute: () => root,
  path: "/images",
  validateSearch: (s: Record<string, unknown>): { build?: string } => ({ build: word(s["build"]) }),
  component: lazyRouteComponent(() => import("./pages/images"), "ImagesPage"),
});

const image = createRoute({
  getParentRoute: () => root,
  path: "/images/$id",
  validateSearch: (s: Record<string, unknown>): { version?: number } => ({ version: whole(s["version"]) }),
  component: lazyRouteComponent(() => import("./pages/images/image"), "ImagePage"),
});

const sweeps = createRoute({
  getParentRoute: () => root,
  path: "/sweeps",
  component: lazyRouteComponent(() => import("./pages/sweeps"), "SweepsPage"),
});

const sweep = createRoute({
  getParentRoute: () => root,
  path: "/sweeps/$id",
  validateSearch: (s: Record<string, unknown>): SweepSearch => ({
    tab: one(SWEEP_TABS, s["tab"]),
    order: word(s["order"]),
    metric: words(s["metric"]),
    x: one(["epoch", "relative", "time"] as const, s["x"]),
    smooth: whole(s["smooth"]),
    log: s["log"] === true || undefined,
    by: word(s["by"]),
    of: word(s["of"]),
  }),
  loaderDeps: ({ search }) => ({ order: search.order }),
  // One after the other, but while the page itself is still on its way: a thousand entries take their time.
  loader: ({ params: { id }, deps }) => {
    if (sessionKey() === "") return;
    const detail = { queryKey: ["sweep", id], queryFn: () => readSweep(id) };
    const entries = (order: string): Promise<void> =>
      client.prefetchQuery({ queryKey: ["sweep", id, "entries", order], queryFn: () => readEntries(id, order, []) });
    void (deps.order === undefined
      ? client.fetchQuery(detail).then(
          (sweep) => entries(usualOrder(sweep)),
          () => undefined,
        )
      : Promise.all([client.prefetchQuery(detail), entries(deps.order)]));
  },
  component: lazyRouteComponent(() => import("./pages/sweeps/sweep"), "SweepDetailPage"),
});

const model = createRoute({
  getParentRoute: () => root,
  path: "/models/$id",
  validateSearch: filesSearch,
  component: lazyRouteComponent(() => import("./pages/models/model"), "ModelPage"),
});

const admin = createRoute({
  getParentRoute: () => root,
  path: "/admin",
  validateSearch: (s: Record<string, unknown>): { tab?: AdminTab } => ({
    tab: ADMIN_TABS.find((tab) => tab === s["tab"]),
  }),
  component: lazyRouteComponent(() => import("./pages/admin"), "AdminPage"),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: (s: Record<string, unknown>): AuditSearch => ({
    subject: word(s["subject"]),
    by: word(s["by"]),
    kind: text(s["kind"]),
    workspace: word(s["workspace"]),
    actor: text(s["actor"]),
    since: text(s["since"]),
  }),
  component: lazyRouteComponent(() => import("./pages/audit"), "AuditPage"),
});

const notifications = createRoute({
  getParentRoute: () => root,
  path: "/notifications",
  validateSearch: (s: Record<string, unknown>): NoticesSearch => ({
    kind: text(s["kind"]),
    unread: s["unread"] === true || undefined,
  }),
  component: lazyRouteComponent(() => import("./pages/notifications"), "NotificationsPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: (s: Record<string, unknown>): { tab?: SettingsTab } => ({
    tab: SETTINGS_TABS.find((tab) => tab === s["tab"]),
  }),
  component: lazyRouteComponent(() => import("./pages/settings"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    jobs,
    submit,
    job,
    compare,
    queue,
    cluster,
    sweeps,
    sweep,
    templates,
    datasets,
    dataset,
    volumes,
    volume,
    algorithms,
    algorithm,
    images,
    image,
    models,
    model,
    bin,
    usage,
    audit,
    admin,
    settings,
    notifications,
  ]),
  defaultPreload: "intent",
  defaultErrorComponent: Crash, // within what surrounds the page: the way to the others stays
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
