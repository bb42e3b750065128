/** Where a job finds what its reader has: where it lies, or where it was taken in, and under which name (R141). */
import { describe, expect, it } from "vitest";
import type { Session } from "../src/api/types";
import { calledIn, namedIn, placeOf } from "../src/shared/passing/place";

const inside = (...workspaces: [string, string][]): Session["user"] =>
  ({
    name: "eve",
    role: "user",
    workspaces: workspaces.map(([workspace, role]) => ({ workspace, role })),
  }) as Session["user"];

const NET = {
  name: "net",
  workspace: "vision",
  taken: [
    { workspace: "speech", name: "hers" },
    { workspace: "text", name: "theirs" },
  ],
};

describe("where something is found", () => {
  it("is its own place for who may submit there, else the first that took it in where they may", () => {
    expect(placeOf(NET, inside(["vision", "member"], ["speech", "member"]))).toEqual({
      workspace: "vision",
      name: "net",
    });
    expect(placeOf(NET, inside(["speech", "viewer"], ["text", "member"]))).toEqual({
      workspace: "text",
      name: "theirs",
    });
    expect(placeOf(NET, inside(["speech", "viewer"]))).toEqual({ workspace: "vision", name: "net" });
  });

  it("has one name in each workspace", () => {
    expect(["vision", "speech", "text"].map((one) => calledIn(NET, one))).toEqual(["net", "hers", "theirs"]);
  });

  it("stands in a form only where it has a name", () => {
    expect(namedIn([NET, { name: "other", workspace: "vision", taken: [] }], "speech")).toEqual([
      { ...NET, name: "hers" },
    ]);
    expect(namedIn([NET], "optics")).toEqual([]);
  });
});
