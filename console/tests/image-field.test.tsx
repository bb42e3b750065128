/** The field of the image in the form: shown where it has an effect, and never without saying when it has none (D16). */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Engine, JsonObject } from "../src/api/types";
import "../src/i18n";
import { ImageField } from "../src/pages/submit/image";
import { FormContext, type FormState } from "../src/pages/submit/state";

vi.mock("@tanstack/react-router", async (original) => ({ ...(await original<object>()), Link: () => null }));
vi.mock("../src/api/images", () => ({ listImages: vi.fn(), readImage: vi.fn() }));
vi.mock("../src/api/assets", () => ({ readOffered: () => Promise.resolve([]) }));
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
class Still {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", Still);
afterEach(cleanup);

const NONE = { en: "There is no sandbox.", zh: "没有沙箱。" };

function show(can: Partial<Engine["can"]>, doc: JsonObject = {}): void {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(["engines"], { items: [{ name: "local", pools: ["default"], can }] });
  const form: Partial<FormState> = { doc, set: vi.fn(), touch: vi.fn(), problemsAt: () => [], expert: false };
  render(
    <QueryClientProvider client={client}>
      <FormContext.Provider value={form as FormState}>
        <ImageField />
      </FormContext.Provider>
    </QueryClientProvider>,
  );
}

describe("the field of the image", () => {
  it("is not there where the engine has no images of any kind", () => {
    show({ images: false, no_environments: NONE });
    expect(screen.queryByTestId("field-image")).toBeNull();
  });
  it("is there where it has an effect", () => {
    show({ images: false, no_environments: null });
    expect(screen.queryByTestId("field-image")).not.toBeNull();
    cleanup();
    show({ images: true, no_environments: NONE });
    expect(screen.queryByTestId("field-image")).not.toBeNull();
  });
  it("says that an image that a job came with has no effect", () => {
    show({ images: false, no_environments: NONE }, { image: "docker.io/library/python:3.12" });
    expect(screen.queryByTestId("field-image")).not.toBeNull();
    expect(document.body.textContent).toContain("it has no effect");
    cleanup();
    show({ images: true, no_environments: null }, { image: "docker.io/library/python:3.12" });
    expect(document.body.textContent).not.toContain("it has no effect");
  });
});
