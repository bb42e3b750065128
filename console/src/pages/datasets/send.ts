/** Sends files as a version of a data set: hashed first, then only what the server lacks, small ones many in a request. */

import { ApiError, Unreachable } from "../../api/client";
import {
  beginUpload,
  cancelUpload,
  commitUpload,
  type NewUpload,
  readUpload,
  sendBatch,
  sendPiece,
} from "../../api/datasets";
import type { DatasetUpload, MadeVersion } from "../../api/types";
import { Sha256 } from "../../shared/sha256";

export interface Chosen {
  /** Path inside the data set, with slashes. */
  path: string;
  file: File;
}

export type Step = "hashing" | "sending" | "finishing";

/** Is told how far it is: bytes that are done, of all. */
export type Told = (step: Step, done: number, total: number) => void;

const PIECE = 16 << 20;
const READ = 4 << 20;
const HEAD = 36;
const TRIES = 5;

/** Whoever sends asked to end it. */
export class Cancelled extends Error {}

export async function digestOf(file: File, read: (bytes: number) => void): Promise<string> {
  const digest = new Sha256();
  for (let at = 0; at < file.size; at += READ) {
    const block = new Uint8Array(await file.slice(at, at + READ).arrayBuffer());
    digest.update(block);
    read(block.length);
  }
  return digest.hex();
}

/** What stands before a small content: its sha256, and its length in four bytes. Pure. */
export function headOf(sha256: string, size: number): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD);
  for (let i = 0; i < 32; i += 1) head[i] = Number.parseInt(sha256.slice(2 * i, 2 * i + 2), 16);
  new DataView(head.buffer).setUint32(32, size);
  return head;
}

/** Small contents in requests of so many bytes; a request holds one at least. Pure. */
export function batchesOf<T extends { size: number }>(files: readonly T[], most: number): T[][] {
  const batches: T[][] = [];
  let left = 0;
  for (const file of files) {
    if (file.size + HEAD > left) {
      batches.push([]);
      left = most;
    }
    batches[batches.length - 1]?.push(file);
    left -= file.size + HEAD;
  }
  return batches;
}

export class Sending {
  private upload: DatasetUpload | null = null;
  private over = false;

  constructor(private readonly told: Told) {}

  /** End it; what came is removed. */
  cancel(): void {
    this.over = true;
    if (this.upload) void cancelUpload(this.upload.id).catch(() => undefined);
  }

  async run(wanted: Omit<NewUpload, "files">, chosen: readonly Chosen[]): Promise<MadeVersion> {
    const total = chosen.reduce((sum, { file }) => sum + file.size, 0);
    let done = 0;
    const contents = new Map<string, File>();
    const files = [];
    for (const { path, file } of chosen) {
      const sha256 = await digestOf(file, (bytes) => {
        done += bytes;
        this.told("hashing", done, total);
        this.goOn();
      });
      contents.set(sha256, file);
      files.push({ path, size: file.size, sha256 });
    }
    this.upload = await beginUpload({ ...wanted, files });
    this.goOn();
    await this.send(this.upload, contents);
    this.told("finishing", 1, 1);
    return await this.again(() => commitUpload(this.upload?.id ?? ""));
  }

  private async send(upload: DatasetUpload, contents: ReadonlyMap<string, File>): Promise<void> {
    const missing = upload.missing.map((sha256) => ({ sha256, file: contents.get(sha256) ?? new File([], "") }));
    const wanted = missing.map(({ sha256, file }) => ({ sha256, file, size: file.size }));
    const total = wanted.reduce((sum, one) => sum + one.size, 0);
    let done = 0;
    const progress = (size: number) => (fraction: number) => this.told("sending", done + fraction * size, total);
    for (const batch of batchesOf(
      wanted.filter((one) => one.size <= upload.small_bytes),
      upload.batch_bytes,
    )) {
      const size = batch.reduce((sum, one) => sum + one.size, 0);
      const body = new Blob(batch.flatMap((one) => [headOf(one.sha256, one.size), one.file]));
      await this.again(() => sendBatch(upload.id, body, progress(size)));
      done += size;
    }
    for (const { sha256, file, size } of wanted.filter((one) => one.size > upload.small_bytes)) {
      let offset = 0;
      while (offset < size) {
        const from = offset;
        const piece = file.slice(from, from + PIECE);
        try {
          const { size_bytes } = await sendPiece(upload.id, sha256, from, piece, (fraction) =>
            this.told("sending", done + from + fraction * piece.size, total),
          );
          offset = size_bytes ?? from + piece.size;
        } catch (error) {
          if (!(error instanceof Unreachable || (error instanceof ApiError && error.status === 409))) throw error;
          const now = await this.again(() => readUpload(upload.id));
          offset = now.missing.includes(sha256) ? (now.begun[sha256] ?? 0) : size;
        }
        this.goOn();
      }
      done += size;
    }
  }

  /** Ask again where the line broke: every step may be repeated. */
  private async again<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      this.goOn();
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof Unreachable) || tries >= TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
      }
    }
  }

  private goOn(): void {
    if (this.over) throw new Cancelled();
  }
}
