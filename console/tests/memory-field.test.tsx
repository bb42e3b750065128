/** The field of a memory size: a number in the chosen unit, or one with a unit of its own. */
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { afterEach, expect, it, vi } from "vitest";
import type { JsonObject } from "../src/api/types";
import "../src/i18n";
import { MemoryField } from "../src/pages/submit/fields";
import { FormContext, type FormState } from "../src/pages/submit/state";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
class Still {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", Still);
afterEach(cleanup);

const said: unknown[] = [];
function Form(): ReactNode {
  const [doc, setDoc] = useState<JsonObject>({});
  const set: FormState["set"] = (path, value) => {
    said.push(value);
    setDoc({ [path]: value ?? null });
  };
  const form: Partial<FormState> = { doc, set, touch: vi.fn(), problemsAt: () => [], expert: false };
  return (
    <FormContext.Provider value={form as FormState}>
      <MemoryField path="memory" label="Memory" />
    </FormContext.Provider>
  );
}

it.each([
  ["3", "3GiB"],
  ["96MiB", "96MiB"],
  ["1.5 g", "1536MiB"],
  ["2GiB", "2GiB"],
  ["", undefined],
])("takes %j as it is meant", (typed, wanted) => {
  render(<Form />);
  const field = screen.getByTestId("field-memory");
  fireEvent.change(field, { target: { value: "7" } });
  fireEvent.change(field, { target: { value: typed } });
  fireEvent.blur(field);
  expect(said.at(-1)).toBe(wanted);
});
