/**
 * Server-sent events over fetch: EventSource cannot send the session's key.
 *
 * Reads the stream format as far as this server writes it. Reconnecting is the feed's business.
 */
import { ApiError, open, type Query } from "./client";

export interface Heard {
  event: string;
  data: string;
  id: string;
}

export interface Ears {
  opened: () => void;
  heard: (event: Heard) => void;
  /** The stream has ended, was refused with this status, or never began; nothing follows. */
  ended: (status?: number) => void;
}

/** Listen until `ended` is told or the function that comes back is called; then nothing is told any more. */
export function listen(path: string, query: Query, ears: Ears): () => void {
  const stop = new AbortController();
  void (async () => {
    let status: number | undefined;
    try {
      const response = await open(path, query, stop.signal);
      ears.opened();
      const parser = new Parser(ears.heard);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
        if (stop.signal.aborted) return;
        parser.take(piece.value);
      }
    } catch (error) {
      // Refused, broken or stopped: whoever listens tries again, or has gone.
      if (error instanceof ApiError) status = error.status;
    }
    if (!stop.signal.aborted) ears.ended(status);
  })();
  return () => stop.abort();
}

/** Puts pieces of text together to events, wherever they were cut. */
export class Parser {
  private rest = "";
  private event = "message";
  private data: string[] = [];
  private id = "";
  private readonly heard: (event: Heard) => void;

  constructor(heard: (event: Heard) => void) {
    this.heard = heard;
  }

  take(piece: string): void {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === "") {
      if (this.data.length > 0) this.heard({ event: this.event, data: this.data.join("\n"), id: this.id });
      this.event = "message";
      this.data = [];
      return;
    }
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "event") this.event = value ?? "";
    else if (name === "data") this.data.push(value ?? "");
    else if (name === "id") this.id = value ?? "";
  }
}
