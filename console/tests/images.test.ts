/** Images: what is made of chosen files, which builds are shown, and what speaks against an image for a job. */
import { describe, expect, it } from "vitest";
import { worthShowing } from "../src/pages/images/states";
import { fieldsOf, isWhole, NOTHING, withFiles } from "../src/pages/images/take";
import { imageRef, isOwn, unsuited } from "../src/pages/submit/images";

const file = (name: string, text: string): { name: string; text: string } => ({ name, text });

describe("what an image is made of", () => {
  it("is a list of packages, whatever its file is called", () => {
    const given = withFiles(NOTHING, [file("needs.in", "numpy\n")]);
    expect(isWhole(given)).toBe(true);
    expect(fieldsOf(given)).toEqual({ requirements: "numpy\n" });
    expect(isWhole({ ...NOTHING, requirements: " \n" })).toBe(false);
  });
  it("is a project with its lock, which alone is nothing", () => {
    const lock = withFiles(NOTHING, [file("uv.lock", "version = 1")]);
    expect(isWhole(lock)).toBe(false);
    const whole = withFiles(lock, [file("pyproject.toml", "[project]")]);
    expect(fieldsOf(whole)).toEqual({ pyproject: "[project]", uv_lock: "version = 1" });
    expect(fieldsOf(withFiles(whole, [file("requirements.txt", "a")]))).toEqual({ requirements: "a" });
  });
});

describe("builds", () => {
  const build = (name: string, state: "ready" | "failed" | "installing", ended_at: number | null) => ({
    name,
    workspace: "default",
    state,
    ended_at,
  });
  it("are shown while they go on, and for a day where they failed and nobody tried again", () => {
    const now = 1_000_000;
    const shown = worthShowing(
      [
        build("again", "installing", null),
        build("bad", "failed", now - 100),
        build("again", "failed", now - 200),
        build("good", "ready", now - 300),
        build("old", "failed", now - 90_000),
      ],
      now,
    );
    expect(shown.map((one) => `${one.name} ${one.state}`)).toEqual(["again installing", "bad failed"]);
  });
});

describe("the image of a job", () => {
  it("is read as the server reads it", () => {
    expect(imageRef("torch@3")).toEqual({ name: "torch", version: 3 });
    expect(imageRef("torch")).toEqual({ name: "torch", version: undefined });
    expect(["default", "", "docker.io/library/torch:2", "torch@0"].map(imageRef)).toEqual(Array(4).fill(undefined));
    expect(["", "default", "host", "torch"].map(isOwn)).toEqual([true, true, true, false]);
  });
  it("does not suit other launchers, nor cards when it is for none (R26, R54)", () => {
    const torch = { frameworks: ["pytorch"], cards: ["cpu"] };
    expect(unsuited(torch, { framework: "mpi" })).toBe("framework");
    expect(unsuited(torch, { framework: "pytorch" })).toBeUndefined();
    expect(unsuited(torch, {})).toBeUndefined();
    expect(unsuited(torch, { roles: [{ resources: { gpu: 1 } }] })).toBe("cards");
    expect(unsuited(torch, { roles: [{ flavors: ["a100"] }] })).toBe("cards");
    expect(unsuited({ frameworks: [], cards: [] }, { framework: "mpi", roles: [{ resources: { gpu: 8 } }] })).toBe(
      undefined,
    );
  });
});
