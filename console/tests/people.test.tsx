/** People: who may do what in which workspace, and what is asked before somebody is locked out. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { App } from "antd";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../src/api/client";
import { i18n } from "../src/i18n";
import { LeaveDialog, USER_NAME } from "../src/pages/admin/account";
import { emptyDocument, inWorkspace } from "../src/pages/submit/document";
import { decides, homeOf, mayGive, maySubmit, roleIn, submitsSomewhere, WORKSPACE_ROLES } from "../src/shared/people";

const asked = vi.hoisted(() => [] as unknown[][]);
vi.mock("../src/api/people", () => ({
  lockUser: (...call: unknown[]) => {
    asked.push(call);
    const refused = new ApiError(409, { code: "jobs_not_ended", title: "ann has 2 jobs that have not ended" });
    return call[1] === undefined ? Promise.reject(refused) : Promise.resolve();
  },
  deleteUser: () => Promise.reject(new ApiError(404, { code: "not_found", title: "There is no user ann" })),
}));

beforeAll(() => i18n.changeLanguage("en"));
afterEach(() => {
  cleanup();
  asked.length = 0;
});

const person = (...workspaces: [string, string][]): Parameters<typeof homeOf>[0] => ({
  role: "user",
  workspaces: workspaces.map(([workspace, role]) => ({ workspace, role })),
});

describe("a role in a workspace", () => {
  it("gives none above itself, and takes none away", () => {
    const given = (own: string): string[] => WORKSPACE_ROLES.filter((role) => mayGive(own, role));
    expect(given("owner")).toEqual(["owner", "admin", "member", "viewer"]);
    expect(given("admin")).toEqual(["admin", "member", "viewer"]);
    expect([...given("member"), ...given("viewer"), ...given("unheard-of")]).toEqual([]);
    expect(mayGive(undefined, "viewer")).toBe(false);
  });
  it("decides who is a member as owner and as admin", () =>
    expect(WORKSPACE_ROLES.filter(decides)).toEqual(["owner", "admin"]));
  it("is owner everywhere for administrators of the platform", () =>
    expect(roleIn({ role: "admin", workspaces: [] }, "vision")).toBe("owner"));
});

describe("a new job", () => {
  it("goes where one may submit, the default workspace first", () => {
    expect(homeOf(person(["default", "member"], ["vision", "owner"]))).toBeUndefined();
    expect(homeOf(person(["default", "viewer"], ["speech", "viewer"], ["vision", "member"]))).toBe("vision");
    expect(homeOf(person(["speech", "viewer"]))).toBe("speech"); // whose owners can be asked
    expect(homeOf(person())).toBeUndefined();
    expect([
      submitsSomewhere(person(["a", "viewer"])),
      submitsSomewhere(person(["a", "viewer"], ["b", "member"])),
    ]).toEqual([false, true]);
    expect(homeOf({ role: "admin", workspaces: [] })).toBeUndefined();
    expect([maySubmit(person(["a", "viewer"]), "a"), maySubmit(person(["a", "member"]), "b")]).toEqual([false, false]);
  });
  it("names that workspace only where it names none", () => {
    expect(inWorkspace(emptyDocument(), undefined)).not.toHaveProperty("workspace");
    expect(inWorkspace(emptyDocument(), "vision")["workspace"]).toBe("vision");
    expect(inWorkspace({ workspace: "speech" }, "vision")["workspace"]).toBe("speech");
  });
});

it("takes the names that the server takes", () => {
  const good = ["a", "ann", "ann.lee_2-x", "a".repeat(32)];
  const bad = ["", "Ann", "1ann", "a".repeat(33), "änn", "a/b", "a b", "ann\n"];
  expect([...good, ...bad].filter((name) => USER_NAME.test(name))).toEqual(good);
});

const computed = window.getComputedStyle.bind(window);

const show = (how: "lock" | "delete"): ReturnType<typeof vi.fn> => {
  const close = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <App>
        <LeaveDialog name="ann" how={how} close={close} />
      </App>
    </QueryClientProvider>,
  );
  return close;
};

describe("what becomes of somebody's jobs", { timeout: 60_000 }, () => {
  beforeEach(() => {
    vi.spyOn(window, "getComputedStyle").mockImplementation((of) => computed(of)); // jsdom knows none of what is before or after
  });
  it.each([
    ["jobs-stop", "stop"],
    ["jobs-keep", "keep"],
  ])("is asked where some have not ended (%s)", async (button, theirs) => {
    const close = show("lock");
    fireEvent.click(screen.getByTestId("leave-ok"));
    expect((await screen.findByTestId("jobs-left")).textContent).toContain("ann has 2 jobs that have not ended");
    expect(screen.queryByTestId("leave-ok")).toBeNull();
    fireEvent.click(screen.getByTestId(button));
    await waitFor(() => expect(close).toHaveBeenCalled());
    expect(asked).toEqual([
      ["ann", undefined],
      ["ann", theirs],
    ]);
  });
  it("is not asked where it was refused for another reason", async () => {
    const close = show("delete");
    fireEvent.click(screen.getByTestId("leave-ok"));
    expect((await screen.findByTestId("error")).textContent).toContain("There is no user ann");
    expect([screen.queryByTestId("jobs-left"), close.mock.calls.length]).toEqual([null, 0]);
  });
});
