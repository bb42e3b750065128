/** The search from anywhere (R198): what is kept under a name is found beside jobs and people, and leads to its page. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Found, Session } from "../src/api/types";
import "../src/i18n";
import Palette from "../src/pages/shell/palette";

const went = vi.hoisted(() => ({ to: [] as unknown[] }));
vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<object>()),
  useNavigate: () => (where: unknown) => went.to.push(where),
}));
vi.mock("../src/pages/shell/leave", () => ({ useSignOut: () => () => undefined }));
vi.mock("../src/api/jobs", () => ({ listJobs: () => Promise.resolve({ items: [] }) }));
vi.mock("../src/api/find", () => ({
  searchAll: (): Promise<Found> => {
    const kinds = [
      "people",
      "workspaces",
      "pools",
      "sweeps",
      "datasets",
      "volumes",
      "templates",
      "algorithms",
      "images",
      "models",
    ];
    const found = kinds.map((kind) => [
      kind,
      [{ ref: `${kind}-1`, name: `tulip of ${kind}`, about: "ann", near: false }],
    ]);
    return Promise.resolve({ jobs: [], ...Object.fromEntries(found) } as Found);
  },
}));

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
Element.prototype.scrollIntoView = vi.fn();
afterEach(cleanup);

describe("the search from anywhere", () => {
  it("leads to what was found, of each kind", async () => {
    const session = { user: { name: "ann", role: "user" } } as Session;
    const close = vi.fn();
    render(
      <QueryClientProvider client={new QueryClient()}>
        <Palette session={session} close={close} />
      </QueryClientProvider>,
    );
    await userEvent.type(screen.getByTestId("palette"), "tulip");
    const places = {
      sweeps: { to: "/sweeps/$id", params: { id: "sweeps-1" }, search: {} },
      datasets: { to: "/datasets/$id", params: { id: "datasets-1" }, search: {} },
      volumes: { to: "/volumes/$id", params: { id: "volumes-1" }, search: {} },
      algorithms: { to: "/algorithms/$id", params: { id: "algorithms-1" }, search: {} },
      images: { to: "/images/$id", params: { id: "images-1" }, search: {} },
      models: { to: "/models/$id", params: { id: "models-1" }, search: {} },
      templates: { to: "/submit", search: { template: "templates-1" } },
    };
    for (const [kind, place] of Object.entries(places)) {
      await userEvent.click(await screen.findByText(`tulip of ${kind}`));
      expect(went.to.at(-1)).toEqual(place);
    }
    expect(screen.getByText("Data set")).toBeDefined();
    expect(close).toHaveBeenCalledTimes(Object.keys(places).length);
  });
});
