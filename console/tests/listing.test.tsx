/** The frame of every page that lists what has names: what it asks, what it shows, and when. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ApiError } from "../src/api/client";
import { i18n } from "../src/i18n";
import { type Answer, type Asked, Listing } from "../src/shared/listing";

interface Named {
  id: string;
  name?: string;
  favorite?: boolean;
}

const COLUMNS = [{ title: "Name", dataIndex: "id" }];
const named = (...ids: string[]): Named[] => ids.map((id) => ({ id }));

interface Frame {
  client?: QueryClient;
  limit?: number;
  words?: "models" | "sweeps";
}

/** The frame around what `answer` gives; returns what was asked. */
function show(
  answer: (asked: Asked) => Answer<Named> | Promise<Answer<Named>>,
  { client = new QueryClient({ defaultOptions: { queries: { retry: false } } }), ...more }: Frame = {},
): Asked[] {
  const asked: Asked[] = [];
  const read = async (one: Asked): Promise<Answer<Named>> => {
    asked.push(one);
    return answer(one);
  };
  render(
    <QueryClientProvider client={client}>
      <Listing<Named> words="datasets" read={read} icon={<i />} columns={COLUMNS} width={300} {...more}>
        {(items) => <p data-testid="shown">{items.map((one) => one.id).join(" ")}</p>}
      </Listing>
    </QueryClientProvider>,
  );
  return asked;
}

const shown = (text: string) => waitFor(() => expect(screen.getByTestId("shown").textContent).toBe(text));
const search = (q: string): boolean =>
  fireEvent.change(screen.getByTestId("datasets-search"), { target: { value: q } });

/** A window that never changes, of which jsdom has nothing: the table asks for it. */
class Still {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

beforeAll(async () => {
  const styles = window.getComputedStyle;
  vi.stubGlobal("getComputedStyle", (element: Element) => styles(element));
  vi.stubGlobal("ResizeObserver", Still);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  await i18n.changeLanguage("en");
});
afterAll(() => vi.unstubAllGlobals());
configure({ asyncUtilTimeout: 30_000 }); // a table takes its time beside other tests
afterEach(cleanup);

describe("a page that lists what has names", { timeout: 60_000 }, () => {
  it("leads on where there is nothing, and offers no search of nothing", async () => {
    show(() => ({ items: [], next_cursor: null }));
    await waitFor(() => expect(screen.getByTestId("empty").textContent).toContain("Upload a folder"));
    expect(screen.queryByTestId("datasets-search")).toBeNull();
  });

  it("finds by words, and says where none matches without taking the search away", async () => {
    const asked = show(({ q }) => ({
      items: named("speech", "vision").filter((one) => one.id.includes(q)),
      next_cursor: null,
    }));
    await shown("speech vision");
    search("vis");
    await shown("vision");
    search("nothing");
    await waitFor(() => expect(screen.getByText("No data set matches")).toBeTruthy());
    expect(asked.map((one) => one.q)).toEqual(["", "vis", "nothing"]);
    search("");
    await shown("speech vision");
  });

  it("narrows to one's own, and is not empty for having none of those", async () => {
    const asked = show(({ mine }) => ({ items: mine ? [] : named("theirs"), next_cursor: null }));
    await shown("theirs");
    fireEvent.click(screen.getByTestId("datasets-mine"));
    await waitFor(() => expect(screen.getByText("No data set matches")).toBeTruthy());
    expect(asked.at(-1)).toEqual({ q: "", mine: true, limit: 100, cursor: null });
  });

  it("narrows to what others share, and to favorites", async () => {
    const asked = show(({ shared, favorite }) => ({
      items: named(shared ? "theirs" : favorite ? "liked" : "mine"),
      next_cursor: null,
    }));
    await shown("mine");
    fireEvent.click(screen.getByTestId("datasets-shared"));
    await shown("theirs");
    fireEvent.click(screen.getByTestId("datasets-favorite"));
    await shown("liked");
    expect(asked.slice(1)).toEqual([
      { q: "", shared: true, limit: 100, cursor: null },
      { q: "", favorite: true, limit: 100, cursor: null },
    ]);
  });

  it("has a star in each row, which says of what", async () => {
    const request = vi.fn(
      async () => new Response("{}", { status: 200, headers: { "content-type": "application/json" } }),
    );
    vi.stubGlobal("fetch", request);
    show(() => ({ items: [{ id: "d1", name: "flowers", favorite: true }], next_cursor: null }));
    const star = await screen.findByRole("button", { name: "Remove from favorites: flowers" });
    expect(star.getAttribute("aria-pressed")).toBe("true");
    fireEvent.click(star);
    await waitFor(() => expect(request).toHaveBeenCalled());
    const [address, { method }] = request.mock.calls[0] as unknown as [string, { method: string }];
    expect([address, method]).toEqual(["/api/v1/datasets/d1/favorite", "DELETE"]);
  });

  it("offers no favorites of what has none", async () => {
    show(() => ({ items: named("a"), next_cursor: null }), { words: "sweeps" });
    await shown("a");
    expect(screen.queryByTestId("sweeps-favorite")).toBeNull();
    expect(screen.queryByTestId("favorite")).toBeNull();
    expect(screen.getByTestId("sweeps-mine")).toBeTruthy();
  });

  it("reads on from where the last page ended, until there is no more", async () => {
    const asked = show(
      ({ cursor }) => (cursor ? { items: named("b"), next_cursor: null } : { items: named("a"), next_cursor: "on" }),
      { limit: 1 },
    );
    await shown("a");
    fireEvent.click(screen.getByTestId("datasets-more"));
    await shown("a b");
    expect(asked.map((one) => one.cursor)).toEqual([null, "on"]);
    expect(screen.queryByTestId("datasets-more")).toBeNull();
    expect(document.querySelectorAll("tbody tr[data-row-key]")).toHaveLength(2);
    expect(screen.queryByTitle("2")).toBeNull();
  });

  it("reads on also where the list is read anew meanwhile, which cancels what was asked", async () => {
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    const never = new Promise<Answer<Named>>(() => {});
    let further = 0;
    show(
      ({ cursor }) => {
        if (!cursor) return { items: named("a"), next_cursor: "on" };
        further += 1;
        return further === 1 ? never : { items: named("b"), next_cursor: null };
      },
      { client, limit: 1 },
    );
    await shown("a");
    fireEvent.click(screen.getByTestId("datasets-more"));
    await waitFor(() => expect(further).toBe(1));
    void client.invalidateQueries(); // as the feed does when something has changed
    await shown("a b");
  });

  it("says what is the matter: instead of rows where there are none, above them where there are", async () => {
    let refuses = true;
    show(({ q }) => {
      if (refuses || q) throw new ApiError(503, { code: "busy", title: "The server is busy" });
      return { items: named("a"), next_cursor: null };
    });
    await waitFor(() => expect(screen.getByTestId("error").textContent).toContain("The server is busy"));
    refuses = false;
    fireEvent.click(screen.getByRole("button", { name: /again/i }));
    await shown("a");
    search("x");
    await waitFor(() => expect(screen.getByTestId("outdated").textContent).toContain("The server is busy"));
    expect(screen.getByTestId("shown").textContent).toBe("a");
  });
});
