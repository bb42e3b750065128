/** Administration of the queue: policy, pools, virtual clusters, workspaces, flavors, nodes. */
export const admin = {
  title: "Administration", tabs: { policy: "Queue policy", pools: "Pools", workspaces: "Workspaces", flavors: "Flavors", nodes: "Nodes" },
  add: "Add", edit: "Edit", name: "Name", description: "Description", saved: "Saved.", removed: "Removed.", remove: "Remove {{name}}?", removeHint: "What still uses it is named in the refusal; nothing is removed then.",
  nameHint: "Letters, digits, dot, underscore and hyphen; 1 to 63 characters, beginning with a letter or digit.", nameMissing: "A name is needed.", nameBad: "Not a name that can be used here.", defaultStays: "The default one cannot be removed.", onlyAdmins: "For administrators", onlyAdminsHint: "Policy, pools, quotas, flavors and nodes are changed by administrators. Ask one of them.", waitingRunning: "Waiting / running", actions: "Actions", none: "None yet",
  policy: {
    hint: "Rules by which waiting jobs are ordered and started. A change holds from the next pass on; what runs is not touched.", changedBy: "Changed by {{name}}", never: "Nobody has changed it yet.",
    bounds: "{{min}} to {{max}}", default: "default {{value}}", toDefault: "Back to the default", on: "on", off: "off", bad: "Between {{min}} and {{max}}.", badDuration: "Write a duration such as 30m, 12h or 3d.", whole: "A whole number.",
    simulate: "Simulate", simulateHint: "Runs this platform's own recent jobs through the queue again, once as it is and once as changed. Nothing on the server is touched.", save: "Save the policy", discard: "Discard", changes: "{{count}} changes", changes_one: "{{count}} change", noChanges: "No changes", saveFirst: "Not simulated yet. Saving without looking is allowed, but rarely wise.",
    effect: "What would have happened", over: "{{count}} jobs that ended between {{since}} and {{until}}", leftOut: "The oldest {{count}} were left out.", mean: "Mean wait", median: "Median wait", p90: "Nine of ten within", max: "Longest wait", notRun: "Never started", now: "as it is", changed: "changed", share: "Share of jobs", wait: "Wait", same: "no difference",
    empty: "No job has ended here yet", emptyHint: "There is nothing to simulate with. The effect shows once jobs have run.", stale: "The values were changed since; simulate again.", simulating: "Simulating",
  },
  pools: {
    pools: "Resource pools", hint: "Nodes that jobs choose together. A dedicated pool can be used by the workspaces named only.", kind: "Kind", kinds: { public: "public", dedicated: "dedicated" }, workspaces: "Workspaces", nodes: "Nodes", inService: "{{n}} of {{total}} in service", cards: "Cards", addPool: "Add a pool",
    shares: "Virtual clusters", sharesHint: "A guaranteed share of a pool. What its jobs leave idle may be lent to others until it is wanted back.", pool: "Pool", share: "Share", addShare: "Add a virtual cluster",
  },
  engines: {
    title: "Engines", hint: "What runs the jobs. A pool lives on one engine. A cluster is added on the server's machine: tm engine add slurm NAME.", kinds: { local: "this machine", slurm: "Slurm cluster" }, pools: "Pools", state: "State", answers: "answers", silent: "does not answer",
  },
  limits: {
    resource: "Resource", nominal: "Entitled to", cap: "At most", capHint: "Without a number, at most means: as much as others leave unused.", capBelow: "Less than what it is entitled to.", add: "Add a resource", used: "used {{used}}", borrowed: "{{borrowed}} borrowed", none: "no limit", upTo: "up to {{cap}}", memoryUnit: "MiB",
    names: { gpu: "Cards", cpu: "CPU cores", memory_mib: "Memory" }, of: "Cards {{model}}",
  },
  workspaces: {
    hint: "Groups of people who share quotas. The weight says how much of the machines a workspace is entitled to in relation to others.", weight: "Weight", quotas: "Quotas", urgent: "Urgent jobs", perUser: "Most per person", total: "Most together", unlimited: "any number", usedOf: "{{used}} of {{total}}", usedFree: "{{used}}, no limit", addQuota: "Add a pool's quota", add: "Add a workspace", noQuota: "no limit",
  },
  flavors: { hint: "Named sets of resources of one replica, which jobs choose from.", workspace: "Workspace", kind: "Kind", cpu: "CPU cores", memory: "Memory (MiB)", gpu: "Cards", gpuType: "Card model", gpuShare: "Part of a card", shm: "Shared memory (MiB)", add: "Add a flavor", any: "any" },
  nodes: {
    hint: "Cordoned: starts nothing new. Draining: becomes empty by itself, and by sending preemptible jobs back to the queue.", service: "Service", move: "Pool", jobs: "Jobs", cordon: "Cordon", uncordon: "Back into service", drain: "Drain", note: "Why (shown with the node)", evict: "Running jobs", evicts: { none: "run to their end", preemptible: "preemptible ones go back to the queue", all: "all go back to the queue" }, by: "by {{name}}", runsNow: "{{count}} jobs run on it now.", runsNow_one: "{{count}} job runs on it now.", driver: "driver {{version}}", moved: "Moved to {{pool}}.", cordonTitle: "Take {{name}} out of service?", drainTitle: "Drain {{name}}?",
  },
} as const;
