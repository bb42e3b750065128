/** Files are looked at (R149, R245): how, how much of them is read, and that nothing of them runs. */
import { Blob as NodeBlob } from "node:buffer"; // that of jsdom cannot be read
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Part } from "../src/api/client";
import type { FileItem } from "../src/api/types";
import "../src/i18n";
import { FileBrowser } from "../src/shared/files";
import { cellsOf } from "../src/shared/look/cells";
import { FIRST, isBinary, lookOf, placeOf, typeOf } from "../src/shared/look/kinds";
import { joined } from "../src/shared/look/parts";
import { rowsOf } from "../src/shared/look/rows";

const item = (name: string, size = 10, kind = "file") => ({ name, size, kind });
const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe("how a file is looked at", () => {
  it("by its name; what no name says, by its first bytes", () => {
    const names = ["a.PNG", "b.csv", "c.json", "d.py", "README", "x.html", "n.ipynb", "s.wav", "v.mp4", "p.svg"];
    expect(names.map((name) => lookOf(item(name)))).toEqual([
      "picture",
      "table",
      "json",
      "text",
      "text",
      "text",
      "notebook",
      "audio",
      "video",
      "picture",
    ]);
    expect(isBinary(utf8("loss 0.5\nÄ 中文"))).toBe(false);
    expect(isBinary(new Uint8Array([80, 75, 0, 3]))).toBe(true);
    expect(isBinary(new Uint8Array(300).fill(0xfe))).toBe(true);
    expect(isBinary(utf8("中".repeat(9)).subarray(0, 25))).toBe(false); // a part may end within a character
  });
  it("what is too large to show whole is shown as a text, or not", () => {
    expect([item("a.json", 2 << 20), item("t.log", 1e10), item("a.csv", 1e10)].map(lookOf)).toEqual([
      "text",
      "text",
      "table",
    ]);
    expect([item("a.png", 1e9), item("v.mp4", 1e9), item("a", 1, "folder"), item("a", 1, "link")].map(lookOf)).toEqual(
      Array(4).fill(null),
    );
  });
  it("what could run has no type of its own", () => {
    expect(["x.html", "x.js", "x.xml", "x.constructor", "x"].map(typeOf)).toEqual(Array(5).fill(""));
  });
  it("a link keeps a folder or a file", () => {
    expect(placeOf(undefined)).toEqual({ folder: "", file: null });
    expect(placeOf("a/b/")).toEqual({ folder: "a/b", file: null });
    expect(placeOf("a/b.txt")).toEqual({ folder: "a", file: "a/b.txt" });
    expect(placeOf("b.txt")).toEqual({ folder: "", file: "b.txt" });
  });
});

describe("what is read of it", () => {
  it("tables are read with their quotes", () => {
    expect(rowsOf('a,b\r\n"x,1","y ""2"""\n3,\n')).toEqual([
      ["a", "b"],
      ["x,1", 'y "2"'],
      ["3", ""],
    ]);
    expect(rowsOf("a\tb\n1\t2")).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
    expect(rowsOf("a,b\n1,2\n3,", ",", false)).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
  });
  it("a character that two parts share is whole", () => {
    const bytes = utf8("a中b");
    expect(joined([bytes.subarray(0, 2), bytes.subarray(2)]).text).toBe("a中b");
    expect(joined([bytes.subarray(0, 2)])).toEqual({ text: "a", binary: false, bytes: 2 });
  });
});

const NOTEBOOK = {
  nbformat: 4,
  cells: [
    { cell_type: "markdown", source: ["# Title\n", "<script>window.ran = 1</script>"] },
    {
      cell_type: "code",
      execution_count: 3,
      source: "plot()",
      outputs: [
        { output_type: "stream", name: "stdout", text: ["one\n", "two"] },
        { output_type: "display_data", data: { "image/png": "iVBO\nRw0=", "text/plain": "<Figure>" } },
        { output_type: "execute_result", data: { "text/html": "<table onload='x()'>", "text/plain": "a  b" } },
        { output_type: "display_data", data: { "text/html": "<iframe src='javascript:x()'>" } },
        { output_type: "display_data", data: { "image/png": "'><script>" } },
        { output_type: "error", ename: "E", evalue: "bad", traceback: ["\u001b[31mE\u001b[0m", "bad"] },
      ],
    },
  ],
};

describe("a notebook", () => {
  it("is its cells and what they put out; of HTML only the source", () => {
    const [words, code] = cellsOf(JSON.stringify(NOTEBOOK)) ?? [];
    expect(words?.source).toContain("<script>");
    expect(code?.count).toBe(3);
    expect(code?.outputs).toEqual([
      { kind: "text", text: "one\ntwo" },
      { kind: "picture", text: "data:image/png;base64,iVBORw0=" },
      { kind: "text", text: "a  b" },
      { kind: "source", text: "<iframe src='javascript:x()'>" },
      { kind: "source", text: "'><script>" },
      { kind: "error", text: "\u001b[31mE\u001b[0m\nbad" },
    ]);
  });
  it("is none where it has no cells", () => {
    expect(["", "{", "[]", "{}", '{"cells": 3}'].map(cellsOf)).toEqual(Array(5).fill(null));
    expect(cellsOf('{"cells": [1, {"cell_type": 7, "outputs": [null, {"data": 1}]}]}')).toEqual([
      { kind: "raw", count: null, source: "", outputs: [] },
    ]);
  });
});

class Still {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", Still);
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));

const asked: string[] = [];
afterEach(() => {
  cleanup();
  asked.length = 0;
});

const CONTENTS: Record<string, Uint8Array<ArrayBuffer>> = {
  "notes.txt": utf8("alpha\nbeta\n"),
  "long.log": utf8("0123456789abcde\n".repeat(8192)),
  "weights.bin": new Uint8Array(1000),
  "t.csv": utf8("name,score\nada,1\n"),
  "c.json": utf8('{"lr": 0.1, "deep": {"secret": "inside"}}'),
  "n.ipynb": utf8(JSON.stringify(NOTEBOOK)),
};

function show(at?: string): void {
  const items: FileItem[] = Object.entries(CONTENTS).map(([name, content]) => ({
    name,
    path: name,
    kind: "file",
    size: content.length,
    modified_at: 1,
  }));
  const read = (path: string, _signal?: AbortSignal, part?: Part): Promise<Blob> => {
    asked.push(part ? `${path} ${part.start}-${part.end}` : path);
    const bytes = (CONTENTS[path] ?? utf8("")).slice(part?.start, part?.end);
    return Promise.resolve(new NodeBlob([bytes]) as unknown as Blob);
  };
  const go = at === undefined ? {} : { at, go: vi.fn() };
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <FileBrowser
        id={["x"]}
        list={() => Promise.resolve({ path: "", items })}
        href={(path) => `/f/${path}`}
        root="all"
        read={read}
        {...go}
      />
    </QueryClientProvider>,
  );
}

const press = async (name: string): Promise<void> => {
  const files = await screen.findAllByTestId("file");
  await userEvent.click(files.find((one) => one.textContent?.includes(name)) as HTMLElement);
};

describe("the browser of files", () => {
  it("shows a text with its lines, and is left by Escape to where one was", async () => {
    show();
    await press("notes.txt");
    await waitFor(() => expect(screen.getByTestId("look-text").textContent).toBe("alpha\nbeta\n"));
    expect(document.querySelector(".tm-look-numbers")?.textContent).toBe("1\n2");
    expect(document.activeElement?.tagName).toBe("H3");
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByTestId("preview")).toBeNull();
    expect(document.activeElement?.textContent).toContain("notes.txt");
  });
  it("reads a part, and more of it when asked", async () => {
    show("long.log");
    await screen.findByTestId("look-part");
    expect(asked).toEqual([`long.log 0-${FIRST}`]);
    await userEvent.click(screen.getByTestId("look-more"));
    await waitFor(() => expect(screen.queryByTestId("look-part")).toBeNull());
    expect(asked).toEqual([`long.log 0-${FIRST}`, `long.log ${FIRST}-${CONTENTS["long.log"]?.length}`]);
    expect(screen.getByTestId("look-text").textContent?.length).toBe(CONTENTS["long.log"]?.length);
  });
  it("opens what a link says, and tells what it cannot show or find", async () => {
    show("weights.bin");
    expect(await screen.findByTestId("look-none")).toBeDefined();
    cleanup();
    show("gone.txt");
    expect((await screen.findByTestId("look-missing")).textContent).toContain("gone.txt");
  });
  it("shows a table and folded JSON", async () => {
    show();
    await press("t.csv");
    expect(await screen.findByText("ada")).toBeDefined();
    await press("c.json");
    await screen.findByTestId("look-json");
    expect(screen.queryByText('"inside"')).toBeNull();
    await userEvent.click(screen.getByText(/deep/));
    await waitFor(() => expect(screen.getByText('"inside"')).toBeDefined());
  });
  it("runs nothing of a notebook", async () => {
    show("n.ipynb");
    const drawn = await screen.findByTestId("look-notebook");
    expect(drawn.querySelectorAll("script, iframe, object, embed, table, a")).toHaveLength(0);
    expect(drawn.querySelector("img")?.src).toBe("data:image/png;base64,iVBORw0=");
    expect(drawn.textContent).toContain("<iframe src='javascript:x()'>");
  });
});
