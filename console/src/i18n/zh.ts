/** Chinese texts. Terms follow the manuals of the platforms our users come from: 任务, 子任务, 副本, 训练. */
import type { en, Translated } from "./en";
import { admin } from "./zh/admin";
import { algorithms } from "./zh/algorithms";
import { audit } from "./zh/audit";
import { bin } from "./zh/bin";
import { cluster, engines, resources } from "./zh/cluster";
import { common } from "./zh/common";
import { compare } from "./zh/compare";
import { datasets } from "./zh/datasets";
import { home } from "./zh/home";
import { images } from "./zh/images";
import { job } from "./zh/job";
import { jobs } from "./zh/jobs";
import { lineage } from "./zh/lineage";
import { look } from "./zh/look";
import { notices } from "./zh/notices";
import { passing } from "./zh/passing";
import { people } from "./zh/people";
import { queue, timeline } from "./zh/queue";
import { secrets } from "./zh/secrets";
import { settings } from "./zh/settings";
import { storage } from "./zh/storage";
import { help, submit } from "./zh/submit";
import { sweeps } from "./zh/sweeps";
import { templates } from "./zh/templates";
import { usage } from "./zh/usage";
import { volumes } from "./zh/volumes";

export const zh: Translated<typeof en> = {
  ...common,
  home,
  jobs,
  compare,
  job,
  look,
  submit,
  help,
  queue,
  timeline,
  admin,
  audit,
  bin,
  passing,
  people,
  notices,
  secrets,
  storage,
  usage,
  templates,
  datasets,
  volumes,
  algorithms,
  images,
  lineage,
  sweeps,
  engines,
  resources,
  ...cluster,
  ...settings,
};
