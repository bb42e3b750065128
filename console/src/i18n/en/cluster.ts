/** Cluster and models. */
export const cluster = {
  cluster: {
    title: "Cluster", waiting: "Waiting", running: "Running", nodesReady: "Nodes ready", cards: "Cards in use", cpu: "CPU", memory: "Memory", cardsShort: "Cards",
    noCards: "No accelerator cards", drained: "Drained", drainedWhy: "Takes no new jobs: {{why}}", simulated: "simulated", simulatedHint: "These cards are made up by configuration, for trying gangs and card assignment; they compute nothing.",
    idle: "idle", another: "Another user's job", nobody: "Nobody is using this node.", sandbox: "Sandbox", sandboxNone: "Tasks run without a sandbox: they can see this machine's files.",
    card: "Card {{n}}", share: "{{n}}% of the card", shareFree: "{{n}}% free", utilisation: "Utilisation", ready: "Ready",
  },
  models: {
    title: "Models", search: "Search models", name: "Name", owner: "Owner", versions: "Versions", latest: "Latest", created: "Created", version: "Version {{n}}",
    size: "Size", files: "Files", digest: "Digest", job: "Made by job", metrics: "Metrics at the end", path: "Where it lies", none: "No models yet",
    noneHint: "When a job succeeds, what it wrote to /model and /workspace/outputs becomes a model version here.", downloadAll: "Download all (tar.gz)",
    attempt: "attempt {{n}}",
  },
} as const;

/** The table of machines that fit, and who uses what of them (R164-R169). */
export const resources = {
  title: "Cluster resources", nodes: "Machines", table: "Resources", view: "How to show it", flavors: "Flavors", flavorsHint: "Only machines that can carry one of them", model: "Card model", pool: "Pool",
  col: { node: "Node", system: "System", cpu: "CPU", memory: "Memory", cards: "Cards", driver: "Driver", suits: "Suitable flavors", state: "State", usage: "Card usage" },
  state: { idle: "Room now", tight: "Full", free: "Has room", full: "Full", away: "Out of service", cards: "{{n}} free" },
  stateHint: { idle: "At least one replica of a chosen flavor starts here now.", tight: "What is free does not carry any chosen flavor now.", free: "Something can start here now. Choose a flavor to see whether it fits.", full: "Nothing more can start here now.", away: "Takes no new jobs." },
  usageHint: "physical card (virtual card): application", nobody: "free", none: "No machine fits", noneHint: "Choose other flavors, another card model or another pool.", anySuits: "any", noDriver: "no driver",
  moreUsers: "+{{count}} more", open: "Cluster resources", noFlavors: "No flavors are defined for this workspace.",
} as const;
