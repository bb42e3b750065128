/** A token's scopes, in the words in which it was made. */
import { describe, expect, it } from "vitest";
import { KINDS, kindOf } from "../src/pages/settings/tokens";

describe("the kind of a token", () => {
  it("is what was chosen when it was made, in whatever order its scopes come back", () => {
    for (const kind of ["read", "run"] as const) expect(kindOf([...KINDS[kind]].reverse())).toBe(kind);
  });
  it("is none where scopes are missing or were added", () => {
    expect(kindOf(["jobs:read"])).toBeUndefined();
    expect(kindOf([...KINDS.read, "audit:read"])).toBeUndefined();
  });
});
