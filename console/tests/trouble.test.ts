/** What went wrong, as one line. */
import { describe, expect, it } from "vitest";
import { lineOf, sentence } from "../src/shared/trouble";

describe("what went wrong, as one line", () => {
  it("begins a rule with a capital, but not a name", () => {
    expect(sentence("must differ from the old password")).toBe("Must differ from the old password");
    expect(sentence("example.org has no address")).toBe("example.org has no address");
    expect(sentence("lang-data@1 is not shared")).toBe("lang-data@1 is not shared");
  });
  it("puts a stop between what went wrong and what to do, and never two", () => {
    expect(lineOf("无法保存 Webhook：1 个问题", "请检查名称。", "。")).toBe("无法保存 Webhook：1 个问题。请检查名称。");
    expect(lineOf("Not found.", "Check the name.", ". ")).toBe("Not found. Check the name.");
    expect(lineOf("Not found", "", ". ")).toBe("Not found");
  });
});
