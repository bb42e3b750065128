import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../src/api/types";
import { i18n } from "../src/i18n";
import { atChannel, channelPath, ofChannels } from "../src/pages/submit/algorithm-doc";
import { boundsAt } from "../src/pages/submit/bounds";
import { completionWords } from "../src/pages/submit/completion";
import {
  distributed,
  emptyDocument,
  frameworkOf,
  isDistributed,
  languageOf,
  nextName,
  rolesOf,
  STAYS_UP,
} from "../src/pages/submit/document";
import { draftKey, dropDraft, readDraft } from "../src/pages/submit/draft";
import { EXAMPLES } from "../src/pages/submit/examples";
import { knownUpload, remember, shortDigest } from "../src/pages/submit/known";
import { labelOf } from "../src/pages/submit/labels";
import { suits } from "../src/pages/submit/placing";
import { hasField } from "../src/pages/submit/use-form";

beforeAll(() => i18n.changeLanguage("en"));
afterEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

/** As GET /schema/job writes them: references, alternatives, texts beside numbers. */
const SCHEMA: JsonObject = {
  properties: {
    name: { type: "string", pattern: "^[A-Za-z0-9_-]{1,30}$" },
    description: { type: "string", maxLength: 4000 },
    roles: { type: "array", maxItems: 64, items: { $ref: "#/$defs/RoleSpec" } },
    duration: {
      anyOf: [{ anyOf: [{ type: "number", minimum: 1, maximum: 9 }, { type: "string" }] }, { type: "null" }],
    },
    grace: { anyOf: [{ type: "number", minimum: 0, maximum: 60 }, { type: "string" }], default: 10 },
    pool: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$" },
    env: {
      maxProperties: 512,
      patternProperties: { "^[A-Za-z_][A-Za-z0-9_]{0,254}$": { type: ["string", "number"], maxLength: 32768 } },
    },
    labels: {
      maxProperties: 64,
      patternProperties: { "^[^\\x00]*$": { maxLength: 256 } },
      propertyNames: { maxLength: 256 },
    },
  },
  $defs: {
    RoleSpec: { properties: { resources: { $ref: "#/$defs/Resources", default: {} }, env: { maxProperties: 512 } } },
    Resources: { properties: { cpu: { type: "number", minimum: 0.01, maximum: 4096 } } },
  },
};

describe("bounds come from the job's schema (R66, R247)", () => {
  it("through references, lists and alternatives", () => {
    expect(boundsAt(SCHEMA, "roles.0.resources.cpu")).toEqual({ min: 0.01, max: 4096 });
    expect(boundsAt(SCHEMA, "duration")).toEqual({ min: 1, max: 9 });
    expect(boundsAt(SCHEMA, "roles")).toEqual({ most: 64 });
    expect(boundsAt(SCHEMA, "roles.3.env")).toEqual({ most: 512 });
  });
  it("of texts, also where a pattern counts", () => {
    expect(boundsAt(SCHEMA, "name")).toEqual({ shortest: 1, longest: 30 });
    expect(boundsAt(SCHEMA, "description")).toEqual({ longest: 4000 });
  });
  it("of texts whose first character has a pattern of its own", () => {
    expect(boundsAt(SCHEMA, "pool")).toEqual({ shortest: 1, longest: 63 });
  });
  it("of the names and values of pairs", () => {
    expect(boundsAt(SCHEMA, "env")).toEqual({ most: 512, longestKey: 255, longestValue: 32768 });
    expect(boundsAt(SCHEMA, "labels")).toEqual({ most: 64, longestKey: 256, longestValue: 256 });
  });
  it("and what holds where nothing is given", () => {
    expect(boundsAt(SCHEMA, "grace")).toEqual({ min: 0, max: 60, usual: 10 });
  });
  it("are none for what it does not know", () => {
    expect(boundsAt(SCHEMA, "extras.x")).toEqual({});
    expect(boundsAt(undefined, "name")).toEqual({});
  });
});

describe("places of the document are called as their fields are (D11)", () => {
  it.each([
    ["name", "Job name"],
    ["roles.0.command", "Sub-task 1 · Command"],
    ["roles.1.resources.gpu", "Sub-task 2 · GPUs"],
    ["roles.0.ports.2.label", "Sub-task 1 · Label"],
    ["roles.0.parameters.bad$name", "Sub-task 1 · Parameters"],
    ["inputs.0.mount", "Path in the job"],
    ["inputs.0.dataset", "Source"],
    ["model.name", "Model name"],
    ["rolez", ""],
  ])("%s", (path, label) => expect(labelOf(path, i18n.t)).toBe(label));

  it("knows what has a field", () => {
    expect(["name", "roles.0.resources.gpu_share", "labels.a"].map(hasField)).toEqual([true, true, true]);
    expect(["rolez", "extras.x", "roles.0.ends_job", "progress.of"].map(hasField)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("the document", () => {
  it("is trained together on at least two replicas, and back (R29)", () => {
    const together = distributed(emptyDocument(), "pytorch");
    expect([frameworkOf(together), rolesOf(together)[0]?.["replicas"]]).toEqual(["pytorch", 2]);
    const alone = distributed(together, null);
    expect([frameworkOf(alone), rolesOf(alone)[0]?.["replicas"]]).toEqual(["single", 1]);
    const four = distributed({ roles: [{ name: "w", replicas: 4 }] }, "pytorch");
    expect(rolesOf(four)[0]?.["replicas"]).toBe(4);
    const two: JsonObject = { roles: [{ name: "a" }, { name: "b", replicas: 3 }] };
    expect(distributed(two, "pytorch")).toEqual({ ...two, framework: "pytorch" });
  });
  it("is of one sub-task on one replica once it is not distributed, and keeps what else it says (R29)", () => {
    const command = { name: "a", command: "x", resources: { gpu: 1 } };
    const many: JsonObject = {
      framework: { kind: "pytorch", processes_per_node: 2 },
      roles: [
        { ...command, replicas: 3, min_replicas: 2, min_succeeded: 1, min_failed: null, main: true, ends_job: true },
        { name: "b" },
      ],
      duration: "1h",
    };
    const alone = distributed(many, null);
    expect(alone).toEqual({ roles: [{ ...command, replicas: 1 }], duration: "1h" });
    expect(isDistributed(alone)).toBe(false);
  });
  it.each([
    [{ roles: [{ name: "a" }] }, false],
    [{ roles: [{ name: "a", replicas: 1, min_failed: 1, main: false, min_succeeded: null }] }, false],
    [{ roles: [{ name: "a", replicas: 2 }] }, true],
    [{ roles: [{ name: "a", replicas: "2" }] }, true],
    [{ roles: [{ name: "a", min_failed: null }] }, true],
    [{ roles: [{ name: "a", min_succeeded: 1 }] }, true],
    [{ roles: [{ name: "a", main: true }] }, true],
    [{ roles: [{ name: "a" }, { name: "b" }] }, true],
    [{ roles: [{ name: "a" }], framework: { kind: "pytorch" } }, true],
  ] as [JsonObject, boolean][])("shows what an imported document has of it: %j", (doc, shown) => {
    expect(isDistributed(doc)).toBe(shown);
  });
  it("has the command of OpenPAI's form, for every sub-task that is added (R84)", () => {
    expect(rolesOf(emptyDocument())[0]?.["command"]).toBe("sleep infinity");
    expect(STAYS_UP).toBe("sleep infinity");
    expect(emptyDocument()["duration"]).toBe("8h");
    expect(emptyDocument(86_400)["duration"]).toBe("8h");
    expect(emptyDocument(3600)).not.toHaveProperty("duration"); // the platform's own limit is shorter
    expect(isDistributed(emptyDocument())).toBe(false);
  });
  it("is called one further when cloned", () => {
    expect(["digits", "digits-2", "a-9", "手写"].map((name) => nextName(name))).toEqual([
      "digits-2",
      "digits-3",
      "a-10",
      "手写-2",
    ]);
    expect(nextName("x".repeat(30), 30)).toBe(`${"x".repeat(28)}-2`);
  });
  it("is in the language in which it begins (D11)", () => {
    expect(['{"name": 1}', "  [1", "", "name: a\n", "# a\nname: a"].map(languageOf)).toEqual([
      "json",
      "json",
      "json",
      "yaml",
      "yaml",
    ]);
  });
});

describe("a sub-task's end in one line (R36-R38)", () => {
  it.each([
    [{}, "finished when all replicas end · fails the job after 1 failure"],
    [{ min_succeeded: 1, min_failed: 3 }, "finished when 1 replica succeeds · fails the job after 3 failures"],
    [{ min_failed: null, main: true }, "finished when all replicas end · never fails the job · ends the job"],
  ])("%j", (role, words) => expect(completionWords(role, i18n.t)).toBe(words));
});

describe("what is kept in the browser", () => {
  it("reads a draft only when it is a job (D9)", () => {
    const key = draftKey(undefined, undefined);
    expect(readDraft(key)).toBeNull();
    for (const wrong of ["{", "[]", '{"name": "a"}']) {
      sessionStorage.setItem(key, wrong);
      expect(readDraft(key)).toBeNull();
    }
    sessionStorage.setItem(key, JSON.stringify(emptyDocument()));
    expect(readDraft(key)).toEqual(emptyDocument());
    expect(readDraft(draftKey("t1", undefined))).toBeNull();
    dropDraft(key);
    expect(readDraft(key)).toBeNull();
  });
  it("knows the folder that was uploaded, the last hundred of them", () => {
    const sent = (n: number) => ({ upload: `sha256:${n}`, files: n, size_bytes: 10 });
    for (let n = 0; n < 101; n += 1) remember(`folder-${n}`, sent(n));
    expect(knownUpload("sha256:100")).toEqual({ name: "folder-100", files: 100, bytes: 10 });
    expect(knownUpload("sha256:0")).toBeUndefined();
    expect(shortDigest(`sha256:3070abcd${"0".repeat(56)}`)).toBe("sha256:3070abcd…");
  });
});

describe("flavors of one kind (R14, R169)", () => {
  const flavors = [
    { gpu: 0, gpu_type: null, kind: "cpu" as const },
    { gpu: 1, gpu_type: "A100", kind: "gpu" as const },
    { gpu: 1, gpu_type: null, kind: "gpu" as const },
    { gpu: 8, gpu_type: "Ascend910B", kind: "ascend" as const },
    { gpu: 1, gpu_type: "MLU370-X8", kind: "mlu" as const },
  ];
  it.each([
    [undefined, 5],
    ["", 1],
    ["A100", 1],
    ["T4", 0],
    ["@gpu", 2],
    ["@ascend", 1],
    ["@mlu", 1],
  ])("%j", (kind, count) => expect(flavors.filter(suits(kind))).toHaveLength(count));
});

describe("examples", () => {
  it("are at least five, each with all that it needs", () => {
    expect(EXAMPLES.length).toBeGreaterThanOrEqual(5);
    for (const { job, files } of EXAMPLES) {
      expect(job["code"]).toBeUndefined();
      const needsFile = JSON.stringify(job).includes("train.py");
      expect(Object.keys(files ?? {})).toEqual(needsFile ? ["train.py"] : []);
      expect(job["duration"]).toBeDefined();
    }
  });
});

describe("a channel without an input (R153)", () => {
  const missing = (name: string) => ({
    path: "inputs",
    rule: `The algorithm needs an input for its channel ${name}`,
    remedy: `Add an input with channel: ${name}.`,
    code: "channel_missing",
    args: { name },
  });
  it("is a problem of the channel's field, and so called", () => {
    const placed = atChannel(missing("data_url"), "Choose its input.");
    expect(placed.path).toBe(channelPath("data_url"));
    expect(placed.rule).toContain("data_url");
    expect(placed.remedy).toBe("Choose its input.");
    expect(labelOf(placed.path, i18n.t)).toBe("Input channel · data_url");
    expect(hasField(placed.path)).toBe(true);
  });
  it("leaves other problems of the inputs where they are", () => {
    const other = { path: "inputs", rule: "Too many", remedy: "Take one out.", code: "too_many" };
    expect(atChannel(other, "Choose its input.")).toBe(other);
  });
  it("is shown by the channel alone, as are the problems of its input", () => {
    const doc: JsonObject = { inputs: [{ dataset: "mnist", channel: "data_url" }, { volume: "scratch" }] };
    const shown = (path: string, channels = ["data_url", "weights"]) => ofChannels(path, doc, channels);
    expect(shown("inputs.0.channel")).toBe(true);
    expect(shown(channelPath("weights"))).toBe(true);
    expect(shown("inputs.1.volume")).toBe(false);
    expect(shown("inputs")).toBe(false);
    expect(shown("env.data_url")).toBe(false);
    expect(shown(channelPath("gone"))).toBe(false); // no field: the list says it
    expect(shown("inputs.0.channel", [])).toBe(false);
  });
});
