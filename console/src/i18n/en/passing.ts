/** What workspaces pass on to each other: offers, subscriptions. */
export const passing = {
  title: "Other workspaces",
  hint: {
    dataset:
      "Members of a workspace to which it is offered can subscribe to it and read it in their jobs; they cannot change it.",
    algorithm:
      "Members of a workspace to which it is offered can subscribe to it and run it in their jobs, with its code; they cannot change it.",
    image:
      "Members of a workspace to which it is offered can subscribe to it and use it in their jobs; they cannot change it. An image made with a secret cannot be offered.",
    template:
      "Members of a workspace to which it is offered can subscribe to it and submit jobs of it there; they cannot change it.",
  },
  name: "Name",
  changed: "Changed",
  latest: "Newest version",
  version: "Version {{n}}",
  size: "Size",
  offeredTo: "Offered to",
  subscribers: "Subscribed by",
  nobody: "Nobody",
  under: "{{workspace}}, as {{name}}",
  everybody: "Everybody",
  choose: "Choose a workspace",
  more: "Choose another workspace",
  offered: "Now offered to: {{to}}",
  withdraw: "Take the offer back: {{to}}",
  withdrawn: "No longer offered to: {{to}}",
  for: "Offered to the workspace",
  from: "From",
  none: {
    dataset: "No other workspace offers a data set to {{workspace}}",
    algorithm: "No other workspace offers an algorithm to {{workspace}}",
    image: "No other workspace offers an image to {{workspace}}",
    template: "No other workspace offers a template to {{workspace}}",
  },
  subscribe: "Subscribe",
  subscribeTo: "Subscribe to {{name}}",
  subscribed: "Subscribed",
  what: {
    dataset:
      "Every member of {{workspace}} then finds it under this name and may give it to jobs. New versions come by themselves.",
    algorithm:
      "Every member of {{workspace}} then finds it under this name and may run it in jobs. It brings its code; an image that it names has to be in {{workspace}}, too. New versions come by themselves.",
    image:
      "Every member of {{workspace}} then finds it under this name and may use it in jobs. New versions come by themselves.",
    template:
      "Every member of {{workspace}} then finds it under this name and may submit jobs of it. What it names, such as data sets, has to be in {{workspace}} under the same names; the form says what is missing.",
  },
  as: "Name in this workspace",
  done: "Subscribed as {{name}}.",
  end: "Unsubscribe",
  endOf: "Unsubscribe {{workspace}} from {{name}}",
  endTitle: "End the subscription to {{name}} in {{workspace}}?",
  endWhat: {
    dataset:
      "Nobody in this workspace finds it any more. Running jobs keep it; queued jobs that name it fail when they start.",
    algorithm: "Nobody in this workspace finds it any more. Jobs that were submitted keep what they have of it.",
    image:
      "Nobody in this workspace finds it any more. Running jobs keep it; queued jobs that name it fail when they start.",
    template: "Nobody in this workspace finds it any more. Jobs that were made of it stay.",
  },
  ended: "No longer subscribed to {{name}}.",
  lapsed: "Not offered any more",
  lapsedHint: {
    dataset:
      "These names are still taken, but jobs that give them fail. End the subscription, or ask for the offer again.",
    algorithm:
      "These names are still taken, but new jobs that name them are refused. End the subscription, or ask for the offer again.",
    image:
      "These names are still taken, but jobs that name them fail. End the subscription, or ask for the offer again.",
    template: "These names are still taken. End the subscription, or ask for the offer again.",
  },
  takenTitle: "Subscription",
  takenIn: {
    dataset: "The workspace {{workspace}} subscribes to it from {{from}}; its jobs name it {{name}}.",
    algorithm: "The workspace {{workspace}} subscribes to it from {{from}}; its jobs name it {{name}}.",
    image: "The workspace {{workspace}} subscribes to it from {{from}}; its jobs name it {{name}}.",
    template: "The workspace {{workspace}} subscribes to it from {{from}}, as {{name}}; jobs of it run there.",
  },
} as const;
