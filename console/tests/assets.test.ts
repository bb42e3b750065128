/** What a form offers of what people keep under names. */
import { describe, expect, it } from "vitest";
import { type AssetQuery, favoritesFirst, readOffered } from "../src/api/assets";

interface Kept {
  id: string;
  favorite: boolean;
}

const kept = (id: string, favorite = false): Kept => ({ id, favorite });
const ids = (found: Kept[]): string => found.map((one) => one.id).join(" ");

/** A server that has `all` and answers so many of them at most; what it was asked is in `asked`. */
function server(all: Kept[], most: number) {
  const asked: AssetQuery[] = [];
  const list = async (query: AssetQuery) => {
    asked.push(query);
    const found = query.favorite ? all.filter((one) => one.favorite) : all;
    return { items: found.slice(0, most), next_cursor: found.length > most ? "on" : null };
  };
  return { list, asked };
}

describe("what a form offers", () => {
  it("has favorites first, each part in its order", () => {
    expect(ids(favoritesFirst([kept("a"), kept("b", true), kept("c"), kept("d", true)]))).toBe("b d a c");
    expect(favoritesFirst([])).toEqual([]);
  });

  it("asks once where one answer has all", async () => {
    const { list, asked } = server([kept("new"), kept("old", true)], 2);
    expect(ids(await readOffered(list, "vision"))).toBe("old new");
    expect(asked).toEqual([{ workspace: "vision", limit: 500 }]);
  });

  it("has a favorite that was changed too long ago to be among the others, and none twice", async () => {
    const { list, asked } = server([kept("newest", true), kept("new"), kept("old", true)], 2);
    expect(ids(await readOffered(list, "vision"))).toBe("newest old new");
    expect(asked[1]).toEqual({ workspace: "vision", favorite: true, limit: 500 });
  });
});
