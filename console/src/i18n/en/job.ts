/** The page of one job. */
export const job = {
  tab: { overview: "Overview", logs: "Logs", metrics: "Metrics", usage: "Usage", events: "Events", files: "Files", json: "JSON" },
  act: {
    duration: "Change duration", priority: "Change priority", release: "End debug hold",
    durationHint: "Counted from the start of the job. Processes are not touched. Examples: 30m, 2h, 1h30m. Empty: no limit.",
    durationBad: "Write a duration such as 30m, 2h or 1h30m.", changed: "Changed.", released: "The debug hold ends now.",
    releaseHint: "The failed tasks are ended and their resources are given back.",
  },
  fact: {
    id: "Job ID", owner: "Owner", submitted: "Submitted", started: "Started", ended: "Ended", run: "Run time", wait: "Time in queue",
    duration: "Usage duration", priority: "Priority", framework: "Framework", pool: "Resource pool", resources: "Resources",
    retries: "Retries", nodes: "Nodes", model: "Saved model", labels: "Labels", dialect: "Written as",
    description: "Description",
  },
  verdict: {
    failed: "Why it failed", expired: "Duration ran out", atLimit: "Stopped at its time limit of {{limit}}", atLimitHint: "Logs and outputs so far are kept. Clone it to run it again, with a longer limit or none.", stopped: "Stopped", waits: "Why it waits", evidence: "Evidence",
    openLog: "Open the log there", where: "Where", exit: "exit code {{code}}", signal: "signal {{signal}}", suggestions: "What would help",
    succeeded: "Done", savedAs: "The outputs were saved as {{model}}", noModel: "Nothing was written to /model or /workspace/outputs, so no model version was made.",
    retained: "Held for debugging", retainedHint: "A task failed; its resources are kept so that you can look into it: tm exec. End the hold when you are done.",
    warnings: "Notes of the platform",
  },
  wait: { place: "Place", decidedBy: "Decided by" },
  timeline: {
    title: "Attempts", attempt: "Attempt {{n}}", queued: "Queued", initialising: "Initialising", pending: "Pending", running: "Running", saving: "Saving or stopping",
    now: "now", none: "No attempt yet: the job waits in the queue.",
  },
  cause: {
    first: "first", retry: "retry after a failure", fault: "after a platform fault", bad_node: "after a bad node", preempted: "after preemption",
  },
  tasks: {
    title: "Replicas", role: "Sub-task", task: "Replica", node: "Node", cards: "Cards", ports: "Ports", exit: "Ended with", run: "Run time", log: "Log",
    main: "main", mainHint: "Completing this sub-task completes the job", state: "State", roles: "Sub-tasks",
    minSucceeded: "complete after {{count}} successes", minSucceeded_one: "complete after {{count}} success", minFailed: "fails after {{count}} failures", minFailed_one: "fails after {{count}} failure",
    neverFails: "failures are tolerated", allEnd: "complete when all have ended", each: "each",
  },
  log: {
    pick: "Replica", attempt: "Attempt", following: "Following", paused: "Paused: scrolled away from the end", search: "Search the log",
    regex: "Regular expression", hits: "{{n}} of {{total}}", hitsMore: "{{n}} of {{total}}+", none: "Nothing found", searching: "Searching", wrap: "Wrap lines", line: "Go to line",
    download: "This log", downloadAll: "All logs (zip)", empty: "Nothing was written yet.", emptyEnded: "The task wrote nothing.",
    cut: "{{size}} were dropped here by the log size limit", end: "End of the log", top: "To the start", bottom: "To the end",
    notStarted: "The job has not started yet, so there is no log.", next: "Next hit", previous: "Previous hit",
    loading: "Loading",
  },
  metrics: {
    smoothing: "Smoothing", log: "Logarithmic", steps: "Steps", time: "Time", relative: "Relative", axis: "Horizontal axis", none: "No metrics yet",
    noneHint: "Metrics come from TensorBoard files, a pattern over the log, or trainmaster.log({...}, step=) in the script:",
    noneEnded: "The job reported no metrics", last: "latest", best: "best", source: { sdk: "SDK", log: "log pattern", tensorboard: "TensorBoard" },
    filter: "Filter by name", attempt: "attempt {{n}}",
  },
  usage: {
    cpu: "CPU (cores)", memory_mib: "Memory", gpu: "Card utilisation", gpu_memory_mib: "Card memory", disk: "Disk", net: "Network", processes: "Processes",
    read: "read", write: "write", rx: "in", tx: "out", limit: "limit", none: "No samples yet", noneHint: "Samples appear a few seconds after the tasks start.",
    all: "All replicas", unavailable: "Not measured here",
  },
  events: { none: "No events",
    actors: { system: "platform", scheduler: "scheduler", agent: "agent", engine: "cluster" } },
  files: {
    live: "Outputs", none: "No files", noneHint: "What a task writes to /model or /workspace/outputs appears here.",
    name: "Name", size: "Size", modified: "Modified", root: "outputs",
  },
  json: { native: "Native", pai: "OpenPAI", hint: "The job's document. Save it to a file and submit it again with tm submit." },
} as const;
