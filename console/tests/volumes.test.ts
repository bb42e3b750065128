/** Where things lie in a volume, and where a job finds one (R52, R145, R245). */
import { describe, expect, it } from "vitest";
import { placeOf } from "../src/pages/submit/mounts";
import { above, below, chosen } from "../src/pages/volumes/paths";

const file = (name: string): File => new File(["x"], name);

describe("paths in a volume", () => {
  it("leads to the folder above, as the page's address has it", () => {
    expect(above("a")).toBeUndefined();
    expect(above("a/b")).toBe("a/");
    expect(above("a/b/c.txt")).toBe("a/b/");
  });

  it("puts what was chosen into the folder that is open", () => {
    expect(below("", "a")).toBe("a");
    expect(below("a/b", "c")).toBe("a/b/c");
    const found = chosen([file("x.txt"), named("y.txt", "data/deep/y.txt")], "in");
    expect(found.map((one) => one.path)).toEqual(["in/x.txt", "in/data/deep/y.txt"]);
  });
});

describe("a volume in a job", () => {
  it("is at the place of its name", () => {
    const input = { volume: "scratch" };
    expect(placeOf(input, [input])).toBe("/workspace/volume/scratch");
    expect(placeOf({ volume: "" }, [])).toBe("/workspace/volume/…");
  });
});

/** A file of a folder that was chosen. */
function named(name: string, webkitRelativePath: string): File {
  const made = file(name);
  Object.defineProperty(made, "webkitRelativePath", { value: webkitRelativePath });
  return made;
}
