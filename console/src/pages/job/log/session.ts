/**
 * Reading one task's log: the buffer, what is asked of the server, and following its end live.
 *
 * A store for useSyncExternalStore. Every move (top, end, line N, more above, more below) replaces or extends the buffer;
 * an answer that comes after the next move is thrown away.
 */
import { Feed } from "../../../api/feed";
import { readLog, readLogLine, type TaskAddress } from "../../../api/watch";
import { type Chunk, LogBuffer, type LogLine, MOST_LINES } from "./buffer";

const LINES = 1500;
const BYTES = 256 * 1024;
/** A line behind the end of every log: there the server answers how many lines there are. */
const BEHIND_THE_END = 2 ** 50;
const POLL_MS = 1500;

export interface LogView {
  lines: LogLine[];
  first: number | null;
  size: number;
  total: number | null;
  atStart: boolean;
  atEnd: boolean;
  ended: boolean;
  loading: boolean;
  error: unknown;
  /** Grows when the lines were replaced, not extended. */
  epoch: number;
  /** Where to scroll after a move: a line index of the buffer, or the end. */
  aim: number | "end" | null;
  /** How many lines were added above by the last change, to keep the place on the screen. */
  shift: number;
}

const EMPTY: LogView = {
  lines: [],
  first: 0,
  size: 0,
  total: null,
  atStart: true,
  atEnd: true,
  ended: false,
  loading: true,
  error: null,
  epoch: 0,
  aim: null,
  shift: 0,
};

export class LogSession {
  view: LogView = EMPTY;
  private readonly address: TaskAddress;
  private readonly buffer = new LogBuffer();
  private readonly listeners = new Set<() => void>();
  private readonly live: "stream" | "poll";
  private feed: Pick<Feed, "close"> | null = null;
  private turn = 0;
  private busy = false;
  private closed = false;

  /** `live`: asked again and again where several logs are on the page, since a browser has few connections for streams. */
  constructor(address: TaskAddress, live: "stream" | "poll" = "stream") {
    this.address = address;
    this.live = live;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): LogView => this.view;

  /** React may close a session and open the same one again, as its strict mode does. */
  open(): void {
    this.closed = false;
  }

  close(): void {
    this.closed = true;
    this.turn += 1;
    this.busy = false;
    this.feed?.close();
    this.feed = null;
  }

  private publish(change: Partial<LogView>): void {
    const b = this.buffer;
    this.view = {
      ...this.view,
      aim: null,
      shift: 0,
      lines: b.lines,
      first: b.first,
      atStart: b.start === 0,
      atEnd: b.end >= 0 && b.end >= (change.size ?? this.view.size),
      ...change,
    };
    for (const listener of this.listeners) listener();
  }

  /** Run one move; a later move makes the answer of an earlier one void. */
  private async move(work: (still: () => boolean) => Promise<void>): Promise<void> {
    const turn = ++this.turn;
    this.busy = true;
    this.publish({ loading: true, error: null });
    try {
      await work(() => turn === this.turn && !this.closed);
    } catch (error) {
      if (turn === this.turn) this.publish({ loading: false, error });
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }

  private replace(chunk: Chunk & { size: number; ended: boolean }, aim: LogView["aim"], total: number | null): void {
    this.feed?.close();
    this.feed = null;
    this.buffer.reset(chunk);
    this.publish({
      size: chunk.size,
      ended: chunk.ended,
      loading: false,
      epoch: this.view.epoch + 1,
      aim,
      total: total ?? this.view.total,
    });
    if (this.view.atEnd && !chunk.ended) this.follow();
  }

  /** Show the end of the log and follow it while it is written. */
  end(): Promise<void> {
    return this.move(async (still) => {
      const behind = await readLogLine(this.address, BEHIND_THE_END, 1);
      if (!still()) return;
      const total = behind.first_line ?? null;
      const chunk = total === null ? null : await readLogLine(this.address, Math.max(0, total - LINES), 2 * LINES);
      // Very long lines: so many do not fit into one answer, and the end matters more than whole lines.
      const short = chunk === null || chunk.next_offset < behind.size;
      const last = short ? await readLog(this.address, -BYTES, BYTES) : chunk;
      if (still()) this.replace(last, "end", total);
    });
  }

  top(): Promise<void> {
    return this.line(0);
  }

  /** Show line `number` (from 0) with its surroundings. */
  line(number: number): Promise<void> {
    return this.move(async (still) => {
      const behind = await readLogLine(this.address, BEHIND_THE_END, 1);
      const total = behind.first_line ?? null;
      const wanted = total !== null && number > total ? Math.max(0, total - 1) : number;
      const from = Math.max(0, wanted - 400);
      let chunk = await readLogLine(this.address, from, LINES);
      let reached = from + chunk.text.split("\n").length - 1 >= wanted;
      // Long lines: the answer was full before the wanted one.
      if (!reached && wanted > from) {
        chunk = await readLogLine(this.address, wanted, LINES);
        reached = true;
      }
      if (still()) this.replace(chunk, wanted - (chunk.first_line ?? 0), total);
    });
  }

  async more(where: "above" | "below"): Promise<void> {
    if (this.busy || this.closed) return;
    if (where === "above" ? this.view.atStart : this.view.atEnd) return;
    await this.move(where === "above" ? (still) => this.above(still) : (still) => this.below(still));
  }

  private async above(still: () => boolean): Promise<void> {
    const first = this.buffer.first;
    let count = first === null ? 0 : Math.min(LINES, first);
    let added = -1;
    while (added < 0 && count > 0 && first !== null) {
      const chunk = await readLogLine(this.address, first - count, count);
      if (!still()) return;
      added = this.buffer.prepend({ ...chunk, first_line: first - count });
      count = Math.floor(count / 4); // so many do not fit into one answer
    }
    if (added < 0) {
      const from = Math.max(0, this.buffer.start - BYTES);
      const chunk = await readLog(this.address, from, this.buffer.start - from);
      if (!still()) return;
      added = this.buffer.prepend(chunk);
      if (added < 0) return this.replace(chunk, "end", null);
    }
    if (this.buffer.trimBottom() > 0) {
      this.feed?.close();
      this.feed = null;
    }
    this.publish({ loading: false, shift: Math.max(0, added) });
  }

  private async below(still: () => boolean): Promise<void> {
    const next = this.buffer.nextLine;
    const chunk =
      next === null
        ? await readLog(this.address, this.buffer.end, BYTES)
        : await readLogLine(this.address, next, LINES);
    if (!still()) return;
    if (!(next === null ? this.buffer.append(chunk) : this.buffer.rejoin(chunk))) return this.replace(chunk, 0, null);
    const gone = this.buffer.trimTop();
    this.publish({ size: chunk.size, ended: chunk.ended, loading: false, shift: -gone });
    if (this.view.atEnd && !chunk.ended) this.follow();
  }

  private follow(): void {
    if (this.closed || this.feed) return;
    if (this.live === "poll") {
      const timer = setInterval(() => void this.look(), POLL_MS);
      this.feed = { close: () => clearInterval(timer) };
      return;
    }
    const a = this.address;
    this.feed = new Feed({
      path: `/jobs/${encodeURIComponent(a.job)}/attempts/${a.attempt}/tasks/${encodeURIComponent(a.task)}/log/follow`,
      cursor: "offset",
      after: this.buffer.end,
      events: {
        log: (data) => this.grown(data as Partial<Chunk> & { offset: number; next_offset: number; text: string }),
        end: () => {
          this.feed?.close();
          this.feed = null;
          this.publish({ ended: true });
        },
      },
    });
  }

  /** Read what was written since the last look. Trouble is passed over: the next look comes soon. */
  private async look(): Promise<void> {
    const { turn, feed } = this;
    if (document.hidden || this.busy) return;
    const chunk = await readLog(this.address, this.buffer.end, BYTES).catch(() => null);
    if (chunk === null || turn !== this.turn || feed !== this.feed || feed === null) return;
    this.grown(chunk);
    if (!chunk.ended || chunk.next_offset < chunk.size) return;
    feed.close();
    this.feed = null;
    this.publish({ ended: true });
  }

  private grown(data: Partial<Chunk> & { offset: number; next_offset: number; text: string }): void {
    if (data.next_offset <= this.buffer.end) return;
    if (!this.buffer.append({ ...data, cut: data.cut ?? [] })) {
      void this.end();
      return;
    }
    const gone = this.buffer.lines.length > MOST_LINES + 2000 ? this.buffer.trimTop() : 0;
    const b = this.buffer;
    this.publish({
      size: Math.max(this.view.size, b.end),
      shift: -gone,
      total: b.first === null ? this.view.total : b.first + b.lines.length,
    });
  }
}
