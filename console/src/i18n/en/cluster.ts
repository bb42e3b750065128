/** Cluster and models. */
export const cluster = {
  cluster: {
    title: "Cluster", waiting: "Waiting", running: "Running", nodesReady: "Nodes ready", cards: "Cards in use", cpu: "CPU", memory: "Memory", cardsShort: "Cards",
    noCards: "No accelerator cards", drained: "Drained", drainedWhy: "Takes no new jobs: {{why}}", simulated: "simulated", simulatedHint: "These cards are made up by configuration, for trying gangs and card assignment; they compute nothing.",
    idle: "idle", another: "Another user's job", nobody: "Nobody is using this node.", sandbox: "Sandbox", sandboxNone: "Tasks run without a sandbox: they can see this machine's files.",
    card: "Card {{n}}", utilisation: "Utilisation", ready: "Ready",
  },
  models: {
    title: "Models", search: "Search models", name: "Name", owner: "Owner", versions: "Versions", latest: "Latest", created: "Created", version: "Version {{n}}",
    size: "Size", files: "Files", digest: "Digest", job: "Made by job", metrics: "Metrics at the end", path: "Where it lies", none: "No models yet",
    noneHint: "When a job succeeds, what it wrote to /model and /workspace/outputs becomes a model version here.", downloadAll: "Download all (tar.gz)",
    attempt: "attempt {{n}}",
  },
} as const;
