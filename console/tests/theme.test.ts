import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { theme } from "antd";
import { describe, expect, it } from "vitest";
import { antdTheme } from "../src/antd";

/** How bright a color is, 0 to 1 (WCAG's relative luminance). */
function luminance(color: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [r = 0, g = 0, b = 0] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

describe("the theme", () => {
  it("keeps grounds light in light and dark in dark, good news' too (D15)", () => {
    for (const dark of [false, true]) {
      const { colorSuccessBg, colorBgContainer } = theme.getDesignToken(antdTheme(dark, false));
      expect(Math.abs(luminance(colorSuccessBg) - luminance(colorBgContainer))).toBeLessThan(0.15);
    }
  });
});

describe("the styles", () => {
  it("define each class in one file, so that no page dresses another's parts", () => {
    const folder = join(__dirname, "../src/styles");
    const where = new Map<string, Set<string>>();
    for (const file of readdirSync(folder))
      for (const [, name = ""] of readFileSync(join(folder, file), "utf8").matchAll(/^(\.tm-[a-z-]+) \{/gm))
        where.set(name, (where.get(name) ?? new Set()).add(file));
    expect([...where].filter(([, files]) => files.size > 1)).toEqual([]);
  });
});
