/** Data sets on their way out of a browser: digests, framing, batches; and where a job finds them. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { batchesOf, headOf } from "../src/pages/datasets/send";
import { chosenFiles } from "../src/pages/datasets/take";
import { placeOf, splitPlace, splitReference } from "../src/pages/submit/mounts";
import { Sha256 } from "../src/shared/sha256";

const bytes = (size: number, seed = 7): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (i * 2654435761 + seed * 97) >>> 13);
const real = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

describe("SHA-256", () => {
  it("is what everybody else computes, at every length around a block", () => {
    for (let size = 0; size < 200; size += 1) expect(new Sha256().update(bytes(size)).hex()).toBe(real(bytes(size)));
    const long = bytes(1_000_003);
    expect(new Sha256().update(long).hex()).toBe(real(long));
  });
  it("does not depend on how the bytes come", () => {
    const content = bytes(1000);
    for (const part of [1, 3, 63, 64, 65, 128, 999]) {
      const digest = new Sha256();
      for (let at = 0; at < content.length; at += part) digest.update(content.subarray(at, at + part));
      expect(digest.hex()).toBe(real(content));
    }
  });
});

describe("small contents", () => {
  it("have their sha256 and length in front", () => {
    const head = headOf(real(bytes(300)), 300);
    expect([...head.slice(0, 32)].map((one) => one.toString(16).padStart(2, "0")).join("")).toBe(real(bytes(300)));
    expect([...head.slice(32)]).toEqual([0, 0, 1, 44]);
  });
  it("go many in a request, and none is left out", () => {
    const sizes = [10, 500, 1000, 1, 1, 2000, 0].map((size) => ({ size }));
    const batches = batchesOf(sizes, 1024);
    expect(batches.flat()).toEqual(sizes);
    expect(batches.map((batch) => batch.map((one) => one.size))).toEqual([[10, 500], [1000], [1, 1], [2000], [0]]);
    expect(batchesOf([], 10)).toEqual([]);
  });
});

describe("what was chosen", () => {
  it("has its path without the folder's own name", () => {
    const file = (path: string): File =>
      Object.defineProperty(new File(["x"], path.split("/").pop() ?? ""), "webkitRelativePath", { value: path });
    const found = chosenFiles([file("flowers/train/a.png"), file("flowers/.hidden")]);
    expect(found.map((one) => one.path)).toEqual(["train/a.png", ".hidden"]);
    const alone = Object.defineProperty(new File(["x"], "one.txt"), "webkitRelativePath", { value: "" });
    expect(chosenFiles([alone]).map((one) => one.path)).toEqual(["one.txt"]);
  });
});

describe("an input of a job", () => {
  it("is put where the platform puts what names no place", () => {
    const flowers = { dataset: "flowers@2" };
    expect(placeOf(flowers, [flowers])).toBe("/dataset");
    expect(placeOf(flowers, [flowers, { dataset: "digits" }])).toBe("/dataset/flowers");
    expect(placeOf({ model: "net@1" }, [])).toBe("/pretrain/net");
    expect(placeOf({ path: "/data" }, [flowers])).toBe("/dataset");
    const stored = { s3: "team-data/images/v2/" };
    expect(placeOf(stored, [stored])).toBe("/dataset");
    expect(placeOf(stored, [stored, flowers])).toBe("/dataset/v2");
  });
  it("says which connection, and what there", () => {
    expect(splitPlace("team-data/images/v2")).toEqual({ name: "team-data", path: "images/v2" });
    expect(splitPlace("team-data")).toEqual({ name: "team-data", path: "" });
  });
  it("says which version", () => {
    expect(splitReference("flowers@12")).toEqual({ name: "flowers", version: "12" });
    expect(splitReference("flowers")).toEqual({ name: "flowers", version: "" });
  });
});
