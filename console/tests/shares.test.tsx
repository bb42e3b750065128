/** What an account holds of its quota, in both languages. */
import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { Share } from "../src/api/types";
import { i18n } from "../src/i18n";
import { Shares } from "../src/shared/shares";

afterEach(cleanup);

const share = { resource: "gpu", nominal: 1, cap: 2, used: 0, borrowed: 0, warning: null } as Share;

async function said(language: "en" | "zh"): Promise<string> {
  await i18n.changeLanguage(language);
  return render(<Shares share={[share]} />).container.textContent ?? "";
}

describe("a quota that may be exceeded", () => {
  it("names the most in the brackets of its language", async () => {
    expect(await said("en")).toBe("GPUs0 / 1 (up to 2)");
    cleanup();
    expect(await said("zh")).toBe("加速卡0 / 1（上限 2）");
  });
});
