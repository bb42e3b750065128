// @vitest-environment node
// Blobs are Node's own, whichever Node it is: what jsdom has of them depends on it.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../src/api/types";
import {
  emptyDocument,
  freshName,
  getAt,
  inOrder,
  readDocument,
  sessionOf,
  setAt,
  shortForm,
  trainingOf,
  withRoles,
} from "../src/pages/submit/document";
import { readPairs, scalar } from "../src/pages/submit/keyvalue";
import { tryPattern } from "../src/pages/submit/patterns";
import { chosenEntries, packFolder, wanted } from "../src/pages/submit/tar";

describe("the form edits the document in place (R62)", () => {
  it("sets, reads and removes without touching what it does not know", () => {
    const before: JsonObject = {
      name: "a",
      extras: { kept: [1, { deep: true }] },
      roles: [{ name: "w", resources: { gpu: 1 } }],
    };
    const after = setAt(before, "roles.0.resources.memory", "2GiB");
    expect(getAt(after, "roles.0.resources")).toEqual({ gpu: 1, memory: "2GiB" });
    expect(after["extras"]).toBe(before["extras"]);
    expect(getAt(before, "roles.0.resources.memory")).toBeUndefined();
  });
  it("leaves no empty objects behind", () => {
    const set = setAt(emptyDocument(), "model.name", "digits");
    expect(setAt(set, "model.name", undefined)).not.toHaveProperty("model");
  });
  it("keeps an explicit null: min_failed null means that failures never fail the job (R85)", () => {
    expect(getAt(setAt(emptyDocument(), "roles.0.min_failed", null), "roles.0.min_failed")).toBeNull();
  });
  it("removes a list item by its index", () => {
    const doc = setAt(emptyDocument(), "metrics", [{ pattern: "a" }, { pattern: "b" }]);
    expect(getAt(setAt(doc, "metrics.0", undefined), "metrics")).toEqual([{ pattern: "b" }]);
  });
});

describe("a clone shows what was said, not every default (R203)", () => {
  const effective: JsonObject = {
    version: 1,
    name: "digits",
    slug: null,
    description: "",
    framework: { kind: "pytorch" },
    image: "default",
    pull_secret: null,
    code: { path: null, upload: "sha256:1" },
    inputs: [],
    env: {},
    pool: "default",
    priority: "normal",
    duration: 1800,
    retries: 0,
    grace: 10,
    debug_hold: 0,
    metrics: [],
    model: { save: true, name: null },
    labels: {},
    extras: { note: "kept" },
    roles: [
      {
        name: "w",
        replicas: 2,
        command: "python t.py",
        parameters: { lr: 0.1 },
        resources: { cpu: 1, memory: 1024, gpu: 2, gpu_type: null, shm: 64 },
        ports: [],
        env: {},
        min_succeeded: null,
        min_failed: null,
        main: true,
        ends_job: false,
      },
    ],
  };
  it("drops defaults and keeps the rest", () => {
    expect(shortForm(effective)).toEqual({
      name: "digits",
      framework: "pytorch",
      code: { upload: "sha256:1" },
      duration: 1800,
      extras: { note: "kept" },
      roles: [
        {
          name: "w",
          replicas: 2,
          command: "python t.py",
          parameters: { lr: 0.1 },
          resources: { cpu: 1, memory: 1024, gpu: 2 },
          min_failed: null,
          main: true,
        },
      ],
    });
  });
  it("keeps framework options and a model that is not saved", () => {
    const short = shortForm({
      ...effective,
      framework: { kind: "pytorch", processes_per_node: 2 },
      model: { save: false, name: null },
    });
    expect(short["framework"]).toEqual({ kind: "pytorch", processes_per_node: 2 });
    expect(short["model"]).toEqual({ save: false });
  });
});

describe("a session of a job (R204)", () => {
  const doc: JsonObject = {
    name: "a-name-of-exactly-thirty-chars",
    workspace: "vision",
    code: { upload: "sha256:1" },
    inputs: [{ name: "data", path: "/data" }],
    env: { LANG: "C" },
    framework: "pytorch",
    share: "read-write",
    retries: 3,
    labels: { a: "b" },
    roles: [
      { name: "w", replicas: 4, command: "python t.py", parameters: { lr: 0.1 }, flavors: ["small"], env: { A: "1" } },
      { name: "ps", replicas: 1, command: "python ps.py", resources: { cpu: 8, memory: 1024 } },
    ],
  };
  it("has its place, code, data and first sub-task, and stays up", () => {
    expect(sessionOf(doc)).toEqual({
      name: "a-name-of-exactly-thir-session",
      workspace: "vision",
      code: { upload: "sha256:1" },
      inputs: [{ name: "data", path: "/data" }],
      env: { LANG: "C" },
      roles: [{ name: "w", replicas: 1, command: "sleep infinity", flavors: ["small"], env: { A: "1" } }],
      duration: "2h",
      model: { save: false },
    });
  });
  it("becomes a job that trains again, without a command as yet (R58)", () => {
    expect(trainingOf({ ...sessionOf(doc), labels: { a: "b" } })).toEqual({
      name: "a-name-of-exactly-thir",
      workspace: "vision",
      code: { upload: "sha256:1" },
      inputs: [{ name: "data", path: "/data" }],
      env: { LANG: "C" },
      labels: { a: "b" },
      roles: [{ name: "w", replicas: 1, command: "", flavors: ["small"], env: { A: "1" } }],
    });
    expect(trainingOf({ name: "x", model: { name: "y" }, roles: [] })["model"]).toEqual({ name: "y" });
  });
});

describe("pasting and importing (R61, R63)", () => {
  it("tells the two dialects apart, in JSON and YAML", () => {
    expect(readDocument('{"jobName": "a", "taskRoles": []}')).toMatchObject({ pai: true });
    expect(readDocument("name: a\nroles: []\n")).toMatchObject({ pai: false, doc: { name: "a" } });
  });
  it("says what is wrong with the text", () => {
    expect(readDocument("{ name: ")).toHaveProperty("problem");
    expect(readDocument("[1, 2]")).toEqual({ problem: "" });
  });
  it("turns the shorthand of a single role into a list of one", () => {
    expect(withRoles({ name: "a", command: "true", replicas: 2 })).toEqual({
      name: "a",
      roles: [{ name: "main", command: "true", replicas: 2 }],
    });
  });
  it("writes a document in the order people write it", () => {
    expect(Object.keys(inOrder({ duration: "1h", zzz: 1, roles: [{ command: "c", name: "n" }], name: "a" }))).toEqual([
      "name",
      "roles",
      "duration",
      "zzz",
    ]);
  });
});

describe("key-value parameters (R33, R40)", () => {
  it("keeps numbers that spell themselves and everything else as typed", () => {
    expect([scalar("30"), scalar("0.1"), scalar("0.10"), scalar("1e3"), scalar(""), scalar("true")]).toEqual([
      30,
      0.1,
      "0.10",
      "1e3",
      "",
      "true",
    ]);
  });
  it("takes apart what is pasted: lines of a .env file, or the end of a command", () => {
    expect(readPairs("A=1\nexport B='two words'\n# no")).toEqual([
      ["A", "1"],
      ["B", "two words"],
    ]);
    expect(readPairs("--lr=0.1 --epochs=30")).toEqual([
      ["lr", "0.1"],
      ["epochs", "30"],
    ]);
  });
  it("gives a duplicated role a free name", () =>
    expect(freshName("worker-2", ["worker", "worker-2"])).toBe("worker-3"));
});

describe("metric patterns are tried with the server's spelling of groups", () => {
  it("finds, misses, and says when a pattern is none", () => {
    expect(tryPattern("loss=(?P<loss>[\\d.]+)", "epoch=3 loss=0.52")).toEqual({ loss: "0.52" });
    expect(tryPattern("loss=(?P<loss>[\\d.]+)", "nothing")).toBeUndefined();
    expect(tryPattern("(", "x")).toBeNull();
  });
});

describe("a folder becomes a tar.gz in the browser", () => {
  it("leaves out what never belongs to code", () => {
    expect(["train.py", "src/a.py", ".git/config", "a/__pycache__/b.pyc", "node_modules/x"].filter(wanted)).toEqual([
      "train.py",
      "src/a.py",
    ]);
  });
  it("drops the folder's own name", () => {
    const file = new File(["x"], "train.py");
    Object.defineProperty(file, "webkitRelativePath", { value: "digits/train.py" });
    expect(chosenEntries([file]).map((entry) => entry.path)).toEqual(["train.py"]);
  });
  it("packs the same folder to the same bytes, whatever the order of its files", async () => {
    const a = { path: "a.py", file: new File(["print(1)"], "a.py", { lastModified: 1 }) };
    const b = { path: "b/c.txt", file: new File(["two"], "c.txt", { lastModified: 2 }) };
    const one = new Uint8Array(await (await packFolder([a, b])).arrayBuffer());
    const two = new Uint8Array(await (await packFolder([b, a])).arrayBuffer());
    expect(one.length).toBeGreaterThan(20);
    expect([...one]).toEqual([...two]);
  });
});
