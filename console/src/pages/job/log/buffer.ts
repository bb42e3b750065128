/**
 * The part of a log that is in memory: a run of whole lines between two byte offsets. Pure; nothing here asks the server.
 *
 * Invariant: `lines` are exactly what lies in [start, end) without holes cut by the server; when `first` is known, line i
 * of the buffer is line first + i of the log. The buffer never holds more than MOST_LINES (a log may have ten million).
 */
import type { LogChunk } from "../../../api/types";

export const MOST_LINES = 20_000;
const LONGEST_SHOWN = 20_000;
const encoder = new TextEncoder();

/** `at`: of a piece that was followed, when it was read. */
export type Chunk = Pick<LogChunk, "offset" | "next_offset" | "text" | "cut"> & {
  first_line?: number | null;
  times?: LogChunk["times"];
  at?: number | null;
};

/** Written after the first moment, as far as that is known, and by the second. */
interface Stamp {
  after?: number | null;
  by?: number | null;
}

export interface LogLine extends Stamp {
  text: string;
  /** Bytes dropped by the server's size limit just before this line. */
  cut?: number;
}

export class LogBuffer {
  lines: LogLine[] = [];
  start = 0;
  end = 0;
  /** Number of the first line in memory, from 0; null when only bytes are known. */
  first: number | null = 0;
  /** The last line has no line end yet. */
  private open = false;

  reset(chunk: Chunk): void {
    this.lines = [];
    this.open = false;
    this.start = chunk.offset;
    this.end = chunk.offset;
    this.first = chunk.first_line ?? (chunk.offset === 0 ? 0 : null);
    // A piece that was asked for by bytes may begin within a line: what there is of that is left out.
    const aligned = chunk.first_line != null || chunk.offset === 0;
    const skip = aligned ? 0 : chunk.text.indexOf("\n") + 1;
    if (skip > 0) {
      const dropped = encoder.encode(chunk.text.slice(0, skip)).length;
      this.start += dropped;
      this.end += dropped;
    }
    this.take({ ...chunk, offset: this.end, text: chunk.text.slice(skip) }, stampsOf(chunk).slice(skip > 0 ? 1 : 0));
  }

  /** Add what follows. Returns false when the chunk does not join on (the caller starts anew). */
  append(chunk: Chunk): boolean {
    return this.take(chunk, stampsOf(chunk));
  }

  private take(chunk: Chunk, stamps: Stamp[]): boolean {
    const cut = chunk.cut.reduce((sum, hole) => sum + hole.length, 0);
    if (chunk.offset !== this.end && chunk.offset !== this.end + cut) return false;
    this.end = chunk.next_offset;
    if (chunk.text === "") return true;
    const parts = chunk.text.split("\n");
    const closed = parts[parts.length - 1] === "";
    if (closed) parts.pop();
    const fresh = parts.map((text, i): LogLine => ({ text: shorten(text), ...(stamps[i] ?? seen(chunk)) }));
    const head = fresh[0];
    if (cut > 0 && head) head.cut = cut;
    else if (this.open && head) {
      const last = this.lines.pop();
      head.text = shorten((last?.text ?? "") + head.text);
      head.cut = last?.cut;
    }
    this.lines = this.lines.concat(fresh);
    this.open = !closed;
    return true;
  }

  /** Add what lies before. Returns how many lines were added, or -1 when the chunk does not reach up to the buffer. */
  prepend(chunk: Chunk): number {
    // As in `reset`.
    const aligned = chunk.first_line != null || chunk.offset === 0;
    const skip = aligned ? 0 : chunk.text.indexOf("\n") + 1;
    const stamps = stampsOf(chunk).slice(skip > 0 ? 1 : 0);
    const lines = chunk.text
      .slice(skip)
      .split("\n")
      .map((text, i): LogLine => ({ text: shorten(text), ...stamps[i] }));
    if (lines[lines.length - 1]?.text === "") lines.pop();
    // By lines where they are numbered: `start` is not exact there (trimTop).
    const joins =
      chunk.first_line != null && this.first !== null
        ? chunk.first_line + lines.length === this.first
        : chunk.next_offset === this.start;
    if (!joins || (!aligned && skip === 0)) return -1;
    this.lines = lines.concat(this.lines);
    this.start = chunk.offset + (skip > 0 ? encoder.encode(chunk.text.slice(0, skip)).length : 0);
    if (this.first !== null) this.first -= lines.length;
    else if (chunk.offset === 0) this.first = 0;
    return lines.length;
  }

  /** Forget lines from the top so that `most` stay. Returns how many went. Only where lines are numbered. */
  trimTop(most = MOST_LINES): number {
    const extra = this.lines.length - most;
    if (extra <= 0 || this.first === null) return 0;
    this.first += extra;
    this.start = Math.max(1, this.start); // no longer the beginning; the exact byte is not needed where lines are numbered
    this.lines = this.lines.slice(extra);
    return extra;
  }

  /** Forget lines from the bottom so that MOST_LINES stay; what follows is asked for by line number (`rejoin`). */
  trimBottom(): number {
    const extra = this.lines.length - MOST_LINES;
    if (extra <= 0 || this.first === null) return 0;
    this.end = -1;
    this.open = false;
    this.lines = this.lines.slice(0, MOST_LINES);
    return extra;
  }

  /** The number of the line that follows, when the end was trimmed away; null while `end` is exact. */
  get nextLine(): number | null {
    return this.end < 0 && this.first !== null ? this.first + this.lines.length : null;
  }

  /** Go on after a trimmed end with a chunk that begins at `nextLine`. */
  rejoin(chunk: Chunk): boolean {
    this.end = chunk.offset;
    return this.append({ ...chunk, cut: [] });
  }
}

/** When each line of a chunk was written, where the server says so. */
function stampsOf(chunk: Chunk): Stamp[] {
  return (chunk.times ?? []).flatMap(({ lines, after, by }) => Array.from({ length: lines }, () => ({ after, by })));
}

const seen = ({ at }: Chunk): Stamp => (at == null ? {} : { by: at });

function shorten(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)} …` : text;
}
