/** English texts, one file per page. The shape of this object is the contract that zh has to meet. */
import { admin } from "./en/admin";
import { algorithms } from "./en/algorithms";
import { audit } from "./en/audit";
import { bin } from "./en/bin";
import { cluster, engines, resources } from "./en/cluster";
import { common } from "./en/common";
import { compare } from "./en/compare";
import { datasets } from "./en/datasets";
import { home } from "./en/home";
import { images } from "./en/images";
import { job } from "./en/job";
import { jobs } from "./en/jobs";
import { lineage } from "./en/lineage";
import { look } from "./en/look";
import { notices } from "./en/notices";
import { passing } from "./en/passing";
import { people } from "./en/people";
import { queue, timeline } from "./en/queue";
import { secrets } from "./en/secrets";
import { settings } from "./en/settings";
import { storage } from "./en/storage";
import { help, submit } from "./en/submit";
import { sweeps } from "./en/sweeps";
import { templates } from "./en/templates";
import { usage } from "./en/usage";
import { volumes } from "./en/volumes";

export const en = {
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

/** The same keys with other texts. A plural's `_one` may be left out: Chinese has none. */
export type Translated<T> = {
  [K in keyof T as K extends `${string}_one` ? never : K]: T[K] extends string ? string : Translated<T[K]>;
};
