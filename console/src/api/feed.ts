/**
 * The live feed: server-sent events that survive anything between here and the server.
 *
 * Invariant: after every reconnect it asks for what came after the last event seen, so nothing is missed and nothing is
 * asked twice. Where that is, the server alone can read; if it cannot, the feed begins anew and says that there is a gap
 * (`reset`). Reconnects back off x1.5 up to a minute. A hidden page lets its connection go (a browser grants few per
 * server, and ten tabs must not starve the eleventh) and catches up when it is looked at again.
 */
import { type Query, signedOut } from "./client";
import { type Ears, type Heard, listen } from "./events";

export type FeedStatus = "connecting" | "live" | "waiting" | "paused";

export interface FeedOptions {
  path: string;
  query?: Query;
  /** Name of the parameter that says where to go on; `after` where nothing else is said. */
  cursor?: string;
  after: string | number;
  events: { reset?: (data: unknown) => void; [event: string]: ((data: unknown) => void) | undefined };
  onStatus?: (status: FeedStatus) => void;
  /** For tests; the server's otherwise. */
  open?: (path: string, query: Query, ears: Ears) => () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const HIDDEN_GRACE_MS = 20_000;
/** The server's status for what it cannot read: the last event was another server's, whose home this one has. */
const NOT_KNOWN = 422;

export class Feed {
  private stop: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = FIRST_WAIT_MS;
  /** Null: wherever the server is. */
  private last: string | number | null;
  private gap = false;
  private closed = false;
  private readonly options: FeedOptions;

  constructor(options: FeedOptions) {
    this.options = options;
    this.last = options.after;
    document.addEventListener("visibilitychange", this.onVisibility);
    this.connect();
  }

  close(): void {
    this.closed = true;
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.drop();
  }

  private drop(): void {
    clearTimeout(this.timer);
    this.stop?.();
    this.stop = null;
  }

  private connect(): void {
    this.drop();
    if (this.closed) return;
    this.options.onStatus?.("connecting");
    const query = { ...this.options.query, [this.options.cursor ?? "after"]: this.last ?? undefined };
    this.stop = (this.options.open ?? listen)(this.options.path, query, {
      opened: () => {
        this.wait = FIRST_WAIT_MS;
        this.options.onStatus?.("live");
        if (this.gap) this.options.events.reset?.({});
        this.gap = false;
      },
      heard: (event) => this.deliver(event),
      ended: (status) => {
        if (status === NOT_KNOWN && this.options.events.reset) {
          this.gap = true;
          this.last = null;
        }
        this.retry();
      },
    });
  }

  private deliver(event: Heard): void {
    // What was allowed is so no more; if that is for everything, the page is told. Trying again finds out.
    if (event.event === "refused") signedOut();
    const handler = this.options.events[event.event];
    if (!handler) return;
    if (event.id) this.last = event.id;
    let data: unknown;
    try {
      data = JSON.parse(event.data);
    } catch {
      return;
    }
    handler(data);
  }

  private retry(): void {
    this.drop();
    if (this.closed) return;
    this.options.onStatus?.("waiting");
    const jitter = 0.75 + Math.random() / 2;
    this.timer = setTimeout(() => this.connect(), this.wait * jitter);
    this.wait = Math.min(this.wait * 1.5, LONGEST_WAIT_MS);
  }

  private readonly onVisibility = (): void => {
    clearTimeout(this.timer);
    if (document.hidden) {
      this.timer = setTimeout(() => {
        this.drop();
        this.options.onStatus?.("paused");
      }, HIDDEN_GRACE_MS);
    } else if (this.stop === null) {
      this.wait = FIRST_WAIT_MS;
      this.connect();
    }
  };
}
