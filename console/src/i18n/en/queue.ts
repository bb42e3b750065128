/** The queue and its timeline. */
export const queue = {
  title: "Queue", list: "List", timeline: "Timeline", view: "How to show it",
  waiting: "{{count}} jobs wait", waiting_one: "{{count}} job waits", matching: "{{count}} waiting jobs match", matching_one: "{{count}} waiting job matches", planned: "up to date; last change", nothing: "Nothing waits",
  nothingHint: "Every job that was submitted runs or has ended.", noneMatches: "No waiting job matches", noneMatchesHint: "Choose another pool, card model or workspace.",
  another: "Another user's job", anyCard: "any model", noCards: "no cards", more: "Show more", demandAsked: "{{cards}} more asked by {{count}} jobs", demandAsked_one: "{{cards}} more asked by {{count}} job",
  demandNone: "nobody waits", cardsInUse: "Cards in use and asked for",
  col: { position: "No.", job: "Job", size: "Size", reason: "Why it waits", since: "Waiting", forecast: "Expected start", actions: "Actions" },
  filter: { pool: "Pool", model: "Card model", workspace: "Workspace", mine: "Only my jobs" },
  forecast: {
    after: "after {{time}}",
    now: "now", about: "about {{time}}", range: "{{low}} – {{high}}", rangeHint: "Nine of ten starts fall between these times.", unknown: "unknown", because: "Unknown because: {{why}}", none: "not estimated yet",
    soon: "in {{time}}", overdue: "any moment", by: "estimate of {{engine}}",
  },
  detail: {
    reason: "Why it waits", sooner: "What would start it sooner", best: "cheapest", noneKnown: "No single change is known that would start it clearly sooner.", startsNow: "starts now", startsSooner: "starts about {{time}} instead of {{before}}", unknownTime: "an unknown time", holders: "Who holds what it needs", until: "until {{time}}", noEnd: "no limit",
    priority: "Change priority", open: "Open the job", apply: "Apply", copy: "Copy with this change", copyHint: "What a job asks for is fixed once it waits. Opens the form with a copy that has this change; you decide there whether it replaces this job.",
    applied: "Changed. The job is considered again at once.", keepsPlace: "It keeps its place in the queue; nothing else of it changes.", endsAfter: "It is ended after it has run for {{time}}.", flavors: "Flavors", notYours: "What would help is shown to its owner.", expand: "Why, and what would help", collapse: "Hide",
  },
} as const;

export const timeline = {
  title: "Running and expected jobs", span: "Time shown", hours: "{{n}} h", days: "{{n}} d", earlier: "Earlier", later: "Later", toNow: "Now", zoomIn: "Show less time", zoomOut: "Show more time", rows: "A line per", row: { card: "Card", node: "Node" }, colour: "Colour by",
  by: { workspace: "Workspace", priority: "Priority", job: "Job" },
  legend: { ran: "ran so far", expected: "may run until its limit", forecast: "expected start", range: "range of the start", open: "no limit", move: "Drag to move, Ctrl and wheel to zoom" },
  card: "card {{n}}", node: "Node", none: "No machines", noneHint: "Nodes appear here as soon as they report.", leftOut: "{{count}} more bars are not drawn; choose a pool.", leftOut_one: "{{count}} more bar is not drawn; choose a pool.",
  from: "Since", start: "Expected start", until: "At the latest until", unlimited: "no limit", cards: "Cards", low: "Earliest", high: "Latest", alsoOn: "also on {{nodes}}",
  help: "Arrow keys go from bar to bar, Enter opens the job, plus and minus change the time shown.", empty: "Nothing runs and nothing is expected here.",
  say: { running: "{{name}} runs on {{node}} from {{from}} until {{until}}", forecast: "{{name}} is expected to start on {{node}} at {{from}}" },
  service: { in_service: "in service", cordoned: "cordoned", draining: "draining", drained: "drained" },
} as const;
