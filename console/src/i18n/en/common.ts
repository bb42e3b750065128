/** Words every page uses. */
export const common = {
  nav: { jobs: "Jobs", queue: "Queue", cluster: "Cluster", admin: "Administration", models: "Models", settings: "Settings", newJob: "New job", main: "Main navigation" },
  state: {
    queued: "Queued", initialising: "Initialising", pending: "Pending", running: "Running", saving: "Saving", retained: "Debug hold",
    stopping: "Stopping", succeeded: "Succeeded", failed: "Failed", stopped: "Stopped", expired: "Expired",
    waiting: "Waiting", exited: "Exited", lost: "Lost", placed: "Placed", staging: "Staging", starting: "Starting",
    draining: "Draining", ended: "Ended",
  },
  priority: { normal: "Normal", urgent: "Urgent", very_urgent: "Very urgent", adminsOnly: "administrators only" },
  action: {
    stop: "Stop", clone: "Clone", delete: "Delete", cancel: "Cancel", save: "Save", copy: "Copy", copied: "Copied",
    retry: "Try again", download: "Download", remove: "Remove", more: "More",
    reload: "Reload", clear: "Clear",
  },
  mark: { colon: ": ", stop: ". " },
  role: { admin: "administrator", user: "user" },
  unit: {
    cores: "{{n}} cores", cores_one: "{{n}} core", cards: "{{n}} cards", cards_one: "{{n}} card",
    tasks: "{{count}} tasks", tasks_one: "{{count}} task",
  },
  time: {
    justNow: "just now", noLimit: "no limit", left: "{{time}} left",
    local: "Local", utc: "UTC",
  },
  feed: {
    live: "Live", connecting: "Connecting", waiting: "Reconnecting", paused: "Paused",
    hint: "Pages update by themselves while this is live.",
  },
  error: {
    title: "Something went wrong", broken: "The server could not answer ({{status}}).", brokenHint: "Try again; if it goes on, an administrator finds the cause in the server's log.", unreachable: "The server does not answer.",
    unreachableHint: "Check that it is running and that your network reaches it; this page tries again by itself.",
    notFound: "This page does not exist", notFoundHint: "The address may be mistyped, or the thing was deleted.",
    render: "This page could not be drawn", renderHint: "Reload the page; if it happens again, report the text below.",
    outdated: "Not up to date: this is from {{time}}.", earlier: "This does not show what you chose: it is from {{time}}, before the choice.", problems: "{{count}} problems", problems_one: "{{count}} problem",
  },
  theme: { title: "Appearance", light: "Light", dark: "Dark", system: "System" },
  language: { title: "Language", switch: "Switch to Chinese", other: "中文" },
  user: { menu: "Account", signOut: "Sign out", password: "Change password" },
  signin: {
    title: "Sign in", username: "User name", password: "Password", submit: "Sign in",
    tagline: "From one command to a trained model.",
    firstStart: "First start? The server printed a one-time password in the terminal it was started from.",
    wrong: "User name or password is not right.", wrongHint: "Check both. On the server's own machine a new password can be set with: tm password", needUsername: "Enter your user name.", needPassword: "Enter your password.",
    changeTitle: "Choose your own password", changeHint: "The one-time password works once. Choose a password of at least 10 characters.",
    old: "Current password", fresh: "New password", again: "New password again", tooShort: "At least 10 characters.",
    differ: "The two passwords differ.", same: "Choose a password other than the current one.", change: "Set password and continue",
    changed: "Password changed.", skip: "Sign in as someone else", points: {
      gang: "Distributed jobs start all together, or not at all",
      why: "Everything that waits says why; everything that fails says what to do",
      model: "What you train becomes a versioned model with its origin",
    },
  },
} as const;
