/** Where an address belongs: in the navigation, and in the guide. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { chapterOf, currentPage, pagesFor, whereOf } from "../src/pages/shell/pages";

const DOCS = resolve(import.meta.dirname, "../../docs");
const ADDRESSES = [
  "/",
  "/jobs",
  "/submit",
  "/jobs/t1",
  "/queue",
  "/cluster",
  "/models",
  "/models/m1",
  "/datasets/d1",
  "/images/i1",
  "/admin",
  "/settings",
];

describe("the pages of the navigation", () => {
  it("marks the page that an address belongs to", () => {
    expect(["/", "/jobs", "/jobs/t1", "/submit", "/models/m1", "/notifications"].map(currentPage)).toEqual([
      "/",
      "/jobs",
      "/jobs",
      "/jobs",
      "/models",
      undefined,
    ]);
  });
  it("marks the templates while one is edited, and the jobs while one is used", () => {
    const at = (search: object): string | undefined => currentPage(whereOf({ pathname: "/submit", search }));
    expect([{}, { template: "p1" }, { template: "p1", edit: true }, { edit: true }].map(at)).toEqual([
      "/jobs",
      "/jobs",
      "/templates",
      "/jobs",
    ]);
    expect(whereOf({ pathname: "/jobs/t1", search: { template: "p1", edit: true } })).toBe("/jobs/t1");
  });
  it("shows administration to administrators, and gives no key twice", () => {
    expect(pagesFor("user").map((page) => page.name)).not.toContain("admin");
    const keys = pagesFor("admin").map((page) => page.key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain("g");
  });
  it.each(["en", "zh"] as const)("leads to chapters that there are (%s)", (language) => {
    const files = ADDRESSES.map((path) =>
      chapterOf(path, language)
        .replace(/^\/docs/, DOCS)
        .replace(/html$/, "md"),
    );
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
  it("has a chapter of its own for every page but home, jobs and settings, of which the one on the console tells", () => {
    const told = pagesFor("admin").filter(({ to }) => /\/(console|cli)\.html$/.test(chapterOf(to, "en")));
    expect(told.map(({ name }) => name)).toEqual(["home", "jobs", "settings"]);
  });
});
