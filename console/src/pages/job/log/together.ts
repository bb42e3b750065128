/**
 * Reading the logs of several replicas at once: a buffer for each, their ends asked for again and again, and what is merged
 * of them. A store for useSyncExternalStore, with the view of one log.
 */
import { readLog, readLogLine, type TaskAddress } from "../../../api/watch";
import { LogBuffer, MOST_LINES } from "./buffer";
import { type MergedLine, merge } from "./merge";
import type { LogView } from "./session";

/** A line behind the end of every log: there the server answers how many lines there are. */
const BEHIND_THE_END = 2 ** 50;
const LINES = 400;
const BYTES = 128 * 1024;
const POLL_MS = 1500;

export interface Replica {
  address: TaskAddress;
  name: string;
}

export interface TogetherView extends LogView {
  lines: MergedLine[];
  untimed: boolean;
  /** No more is kept of what lies above. */
  full: boolean;
}

interface Kept extends Replica {
  buffer: LogBuffer;
  size: number;
  ended: boolean;
}

const EMPTY: TogetherView = {
  lines: [],
  first: null,
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
  untimed: false,
  full: false,
};

export class TogetherSession {
  view: TogetherView = EMPTY;
  private parts: Kept[];
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private busy = false;
  private turn = 0;

  constructor(replicas: readonly Replica[]) {
    this.parts = replicas.map((one) => ({ ...one, buffer: new LogBuffer(), size: 0, ended: false }));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): TogetherView => this.view;

  /** Read the ends of all logs and follow them. */
  async open(): Promise<void> {
    const turn = ++this.turn;
    this.busy = true;
    this.publish({ loading: true, error: null });
    try {
      await Promise.all(this.parts.map((part) => this.readEnd(part)));
      if (turn !== this.turn) return;
      this.publish({ loading: false, epoch: this.view.epoch + 1, aim: "end" });
      this.timer ??= setInterval(() => void this.look(), POLL_MS);
    } catch (error) {
      if (turn === this.turn) this.publish({ loading: false, error });
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }

  close(): void {
    this.turn += 1;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async readEnd(part: Kept): Promise<void> {
    const behind = await readLogLine(part.address, BEHIND_THE_END, 1);
    const from = Math.max(0, (behind.first_line ?? 0) - LINES);
    let chunk = await readLogLine(part.address, from, 2 * LINES);
    if (chunk.next_offset < behind.size) chunk = await readLog(part.address, -BYTES, BYTES); // very long lines
    part.buffer.reset(chunk);
    part.size = chunk.size;
    part.ended = chunk.ended && chunk.next_offset >= chunk.size;
  }

  /** More of what lies above, of the logs that keep the others' lines back; what follows comes by itself. */
  async more(where: "above" | "below"): Promise<void> {
    if (where === "below" || this.busy || this.view.atStart || this.view.full) return;
    const turn = this.turn;
    this.busy = true;
    this.publish({ loading: true });
    const { lacking } = merge(this.shown());
    try {
      await Promise.all(this.parts.filter((_, i) => lacking[i]).map((part) => this.readAbove(part)));
      if (turn !== this.turn) return;
      const before = this.view.lines.length;
      const after = merge(this.shown()).lines.length;
      this.publish({ loading: false, shift: after - before });
    } catch (error) {
      if (turn === this.turn) this.publish({ loading: false, error });
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }

  private async readAbove({ address, buffer }: Kept): Promise<void> {
    const first = buffer.first;
    if (first !== null && first > 0) {
      const from = Math.max(0, first - LINES);
      const chunk = await readLogLine(address, from, first - from);
      if (buffer.prepend({ ...chunk, first_line: from }) >= 0) return;
    }
    const from = Math.max(0, buffer.start - BYTES);
    buffer.prepend(await readLog(address, from, buffer.start - from));
  }

  private async look(): Promise<void> {
    if (document.hidden || this.busy) return;
    const open = this.parts.filter((part) => !part.ended);
    if (open.length === 0) return;
    const turn = this.turn;
    this.busy = true;
    const grown = await Promise.all(open.map((part) => this.grow(part).catch(() => false)));
    if (turn !== this.turn) return;
    this.busy = false;
    if (grown.some(Boolean) || this.parts.every((part) => part.ended)) this.publish({ error: null });
  }

  /** Read what was written since the last look; whether that is anything. */
  private async grow(part: Kept): Promise<boolean> {
    const chunk = await readLog(part.address, part.buffer.end, BYTES);
    if (chunk.text !== "" && !part.buffer.append(chunk)) part.buffer.reset(chunk);
    part.size = chunk.size;
    part.ended = chunk.ended && chunk.next_offset >= chunk.size;
    part.buffer.trimTop(Math.floor(MOST_LINES / this.parts.length));
    return chunk.text !== "" || part.ended;
  }

  private shown(): Parameters<typeof merge>[0] {
    return this.parts.map(({ name, buffer }) => ({
      name,
      lines: buffer.lines,
      first: buffer.first,
      atStart: buffer.start === 0 || buffer.first === 0,
    }));
  }

  private publish(change: Partial<TogetherView>): void {
    const { lines, lacking, untimed } = merge(this.shown());
    this.view = {
      ...this.view,
      aim: null,
      shift: 0,
      lines,
      untimed,
      size: this.parts.reduce((sum, part) => sum + part.size, 0),
      atStart: !lacking.some(Boolean),
      ended: this.parts.every((part) => part.ended),
      full: this.parts.reduce((sum, part) => sum + part.buffer.lines.length, 0) >= MOST_LINES,
      ...change,
    };
    for (const listener of this.listeners) listener();
  }
}
