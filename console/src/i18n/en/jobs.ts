/** The list of jobs, and the questions asked before stopping or deleting. */
export const jobs = {
  title: "Training jobs", search: "Name, id, description or label:key=value", all: "All",
  col: {
    name: "Name", state: "State", progress: "Progress", owner: "Owner", submitted: "Submitted", run: "Run time",
    where: "Pool / nodes", resources: "Resources", metric: "Metric", actions: "Actions",
  },
  filter: { owner: "Owner", framework: "Framework", sort: "Sort by" },
  sort: {
    "-submitted_at": "Newest first", submitted_at: "Oldest first", name: "Name", "-run_s": "Longest run time", "-priority": "Priority",
  },
  position: "No. {{n}} in the queue", waited: "waiting {{time}}", ranOf: "{{run}} of {{limit}}", eta: "about {{time}} left",
  step: "Step {{step}} of {{of}}", stepOnly: "Step {{step}}",
  selected: "{{count}} selected", selected_one: "{{count}} selected", loadMore: "Load more", loaded: "{{n}} shown",
  emptyTitle: "No jobs yet", emptyHint: "Submit your first one here, or from a terminal:",
  noneTitle: "No job matches", noneHint: "Change the search or the filters.", clearFilters: "Clear filters",
  stop: {
    title_one: "Stop this job?", title: "Stop {{count}} jobs?", ok: "Stop",
    what: "All tasks are asked to end and are ended by force after their grace time. Logs and outputs so far are kept. A stopped job cannot be started again, but it can be cloned.",
    skip: "{{count}} of the selected jobs have already ended and stay as they are.",
    skip_one: "{{count}} of the selected jobs has already ended and stays as it is.",
    done: "Stopping {{count}} jobs", done_one: "Stopping the job",
  },
  delete: {
    title_one: "Delete this job?", title: "Delete {{count}} jobs?", ok: "Delete",
    what: "The record, the logs of every attempt and the unsaved outputs are removed for good. Saved model versions are kept.",
    skip: "{{count}} of the selected jobs have not ended and are not deleted. Stop them first.",
    skip_one: "{{count}} of the selected jobs has not ended and is not deleted. Stop it first.",
    done: "Deleted {{count}} jobs", done_one: "Deleted the job", onlyEnded: "Only ended jobs can be deleted. Stop it first.",
  },
  refused: "{{count}} refused:", andMore: "and {{count}} more",
} as const;
