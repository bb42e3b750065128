/**
 * The live feed: server-sent events that survive anything between here and the server.
 *
 * Invariant: after every reconnect it asks for what came after the last event seen, so nothing is missed and nothing is
 * asked twice. Reconnects back off x1.5 up to a minute. A hidden page lets its connection go (a browser grants few per
 * server, and ten tabs must not starve the eleventh) and catches up when it is looked at again.
 */
import { url, type Query } from "./client";

export type FeedStatus = "connecting" | "live" | "waiting" | "paused";

export interface FeedOptions {
  path: string;
  query?: Query;
  /** Name of the parameter that says where to go on; `after` where nothing else is said. */
  cursor?: string;
  after: number;
  events: Record<string, (data: unknown) => void>;
  onStatus?: (status: FeedStatus) => void;
  /** For tests; the browser's own otherwise. */
  open?: (address: string) => EventSource;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const HIDDEN_GRACE_MS = 20_000;

export class Feed {
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = FIRST_WAIT_MS;
  private last: number;
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
    this.source?.close();
    this.source = null;
  }

  private connect(): void {
    this.drop();
    if (this.closed) return;
    this.options.onStatus?.("connecting");
    const address = url(this.options.path, { ...this.options.query, [this.options.cursor ?? "after"]: this.last });
    const source = (this.options.open ?? ((a: string) => new EventSource(a)))(address);
    this.source = source;
    source.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.options.onStatus?.("live");
    };
    source.onerror = () => this.retry();
    for (const [name, handler] of Object.entries(this.options.events)) {
      source.addEventListener(name, (event: MessageEvent<string>) => this.deliver(event, handler));
    }
  }

  private deliver(event: MessageEvent<string>, handler: (data: unknown) => void): void {
    const id = Number(event.lastEventId);
    // A reset may go back: the server no longer has what came after our last event (an older copy was restored).
    if (event.lastEventId && Number.isFinite(id)) this.last = event.type === "reset" ? id : Math.max(this.last, id);
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
    } else if (this.source === null || this.source.readyState === 2) {
      this.wait = FIRST_WAIT_MS;
      this.connect();
    }
  };
}
