/** Algorithms: what choosing one does to the document of a job, and the text of one read and written. */
import { describe, expect, it } from "vitest";
import type { AlgorithmSpec, JsonObject } from "../src/api/types";
import { KINDS, mayGo, readText, short, someOf, textOf, typedValue } from "../src/pages/algorithms/document";
import { told, valuesOf } from "../src/pages/algorithms/tables";
import { runsIt, withAlgorithm, withoutAlgorithm } from "../src/pages/submit/algorithm-doc";
import { emptyDocument, STAYS_UP } from "../src/pages/submit/document";

const SPEC = {
  command: "python train.py",
  parameters: [],
  inputs: [{ name: "data_url" }],
  outputs: [{ name: "train_url" }],
} as unknown as AlgorithmSpec;

describe("choosing an algorithm", () => {
  it("takes code and command away, and gives the command back", () => {
    const job: JsonObject = { ...emptyDocument(), code: { upload: "sha256:1" } };
    const runs = withAlgorithm(job, "net@1", undefined);
    expect(runs["algorithm"]).toBe("net@1");
    expect(runs["code"]).toBeUndefined();
    expect(runs["roles"]).toEqual([expect.not.objectContaining({ command: expect.anything() })]);
    const back = withoutAlgorithm({ ...runs, inputs: [{ dataset: "a", channel: "data_url" }] }, SPEC);
    expect(back["algorithm"]).toBeUndefined();
    expect(back["inputs"]).toBeUndefined();
    expect(back["roles"]).toEqual([expect.objectContaining({ command: STAYS_UP })]);
  });

  it("drops what another version filled in, and keeps what was set", () => {
    const parameters = { lr: 0.5, data_url: "$TRAINMASTER_DATASET_DIR", train_url: "$TRAINMASTER_OUTPUT_DIR" };
    const role = { name: "main", command: "python train.py", parameters };
    const clone: JsonObject = { algorithm: "net@1", code: { upload: "sha256:1" }, framework: "pytorch", roles: [role] };
    expect(withAlgorithm(clone, "net@2", SPEC)).toEqual({
      algorithm: "net@2",
      roles: [{ name: "main", parameters: { lr: 0.5 } }],
    });
  });

  it("leaves a sub-task alone that has a command of its own", () => {
    expect(runsIt({ command: "python watch.py" }, SPEC)).toBe(false);
    expect(runsIt({ command: "python train.py" }, SPEC)).toBe(true);
    expect(runsIt({ command: null }, undefined)).toBe(true);
  });
});

describe("the document of an algorithm", () => {
  it("is read from text with its short forms, and written without what says nothing", () => {
    const read = readText("name: net\ncommand: python a.py\ninputs: [data_url]\ncode: src\n");
    expect(read).toEqual({
      name: "net",
      doc: expect.objectContaining({ command: "python a.py", inputs: [{ required: true, name: "data_url" }] }),
    });
    const effective = {
      command: "a",
      image: "default",
      inputs: [],
      outputs: [],
      parameters: [{ name: "x", min: null }],
    };
    expect(textOf(short(effective))).toBe("command: a\ninputs: []\noutputs: []\nparameters:\n  - name: x\n");
    expect(readText("- a")).toEqual({ problem: "" });
    expect("problem" in readText("a: [")).toBe(true);
  });

  it("reads values by their type", () => {
    expect(typedValue("1e-3", "float")).toBe(0.001);
    expect(typedValue("x", "int")).toBe("x");
    expect(typedValue("true", "bool")).toBe(true);
    expect(typedValue("", "str")).toBe(null);
    expect(typedValue("5", "str")).toBe("5");
  });

  it("says of a channel which kinds it takes, and nothing where it takes all (R153)", () => {
    expect(someOf({ name: "data_url" })).toEqual([]);
    expect(someOf({ kinds: [...KINDS].reverse() })).toEqual([]);
    expect(someOf({ kinds: ["s3", "dataset"] })).toEqual(["s3", "dataset"]);
    const channel = { name: "data_url", required: true };
    expect(short({ inputs: [{ ...channel, kinds: [...KINDS] }] })["inputs"]).toEqual([channel]);
    expect(short({ inputs: [{ ...channel, kinds: ["s3"] }] })["inputs"]).toEqual([{ ...channel, kinds: ["s3"] }]);
  });

  it("lets go of a hyperparameter that is not needed and may be changed (R155)", () => {
    expect(mayGo({ name: "lr" })).toBe(true);
    expect(mayGo({ name: "lr", deletable: false })).toBe(false);
    expect(mayGo({ name: "lr", required: true })).toBe(false);
    expect(mayGo({ name: "lr", editable: false, deletable: true })).toBe(false);
  });

  it("is shown with its bounds and how channels are told", () => {
    expect(valuesOf({ choices: ["a", "b"], min: null, max: null })).toBe("a, b");
    expect(valuesOf({ choices: [], min: 0, max: 1 })).toBe("0 – 1");
    expect(valuesOf({ choices: [], min: 1, max: null })).toBe("≥ 1");
    expect(told({ given: "variable", name: "DATA" })).toBe("$DATA");
  });
});
