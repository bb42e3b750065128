/** The way to a model, for who may see it. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../src/api/client";
import { ModelLink } from "../src/pages/job/verdict";

const asked = vi.hoisted(() => ({ times: 0 }));
vi.mock("../src/api/models", () => ({
  readModel: (id: string) => {
    asked.times += 1;
    return id === "mine0123456789"
      ? Promise.resolve({ name: "digits" })
      : Promise.reject(new ApiError(404, { code: "not_found", title: "There is no model" }));
  },
}));
vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<object>()),
  Link: ({ children }: { children: ReactNode }) => <a href="/models">{children}</a>,
}));

afterEach(cleanup);
const show = (model: string) =>
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <ModelLink model={model} />
    </QueryClientProvider>,
  );

describe("a model that a job saved", () => {
  it("is a link by its name for who may see it", async () => {
    show("mine0123456789@2");
    await waitFor(() => expect(screen.getByRole("link").textContent).toBe("digits@2"));
  });
  it("is no link for who may not", async () => {
    const before = asked.times;
    show("theirs0123456789@1");
    await waitFor(() => expect(asked.times).toBe(before + 1));
    await Promise.resolve();
    expect(screen.queryByRole("link")).toBeNull();
    expect(screen.getByText("theirs01@1").title).toBe("theirs0123456789@1");
  });
});
