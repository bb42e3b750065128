/** What an engine says it can do, as people read it. */
import { describe, expect, it } from "vitest";
import { en } from "../src/i18n/en";
import { abilitiesOf, keepsWhatItWasTold } from "../src/shared/engines";

const NOTHING = {
  owns_queue: false,
  estimates: false,
  adjusts: false,
  attaches: false,
  measures: false,
  images: false,
  no_environments: null,
  no_containers: null,
  no_cache: null,
};

describe("what an engine can do", () => {
  it("is the platform's queue, where it has none of its own", () => {
    expect(abilitiesOf({ can: NOTHING })).toEqual({ does: ["queue"], lacks: ["attaches", "measures"] });
  });

  it("includes what becomes of jobs in a queue of its own", () => {
    const can = { ...NOTHING, owns_queue: true, estimates: true, attaches: true };
    expect(abilitiesOf({ can })).toEqual({
      does: ["owns_queue", "estimates", "attaches"],
      lacks: ["adjusts", "measures"],
    });
  });

  it("has words for all that it can, and all that it lacks", () => {
    const all = { ...NOTHING, owns_queue: true, estimates: true, adjusts: true, attaches: true, measures: true };
    const { does } = abilitiesOf({ can: all });
    const { lacks } = abilitiesOf({ can: { ...NOTHING, owns_queue: true } });
    expect([...does, "queue"].sort()).toEqual(Object.keys(en.engines.does).sort());
    expect([...lacks].sort()).toEqual(Object.keys(en.engines.lacks).sort());
  });

  it("tells whether a change reaches its queue", () => {
    expect(keepsWhatItWasTold({ can: NOTHING })).toBe(false);
    expect(keepsWhatItWasTold({ can: { ...NOTHING, owns_queue: true } })).toBe(true);
    expect(keepsWhatItWasTold({ can: { ...NOTHING, owns_queue: true, adjusts: true } })).toBe(false);
  });
});
