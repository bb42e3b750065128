/** What every tab of a job's page is given. */
import type { JobDetail } from "../../api/types";
import type { JobSearch } from "../../shared/address";

export interface TabProps {
  job: JobDetail;
  search: JobSearch;
  update: (change: Partial<JobSearch>) => void;
}
