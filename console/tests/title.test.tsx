/** What the tab says, for whoever has twenty of them. */
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { jobTitle, useTitle } from "../src/shared/title";

const running = { name: "speech-ddp", state: "running", ended_at: null, progress: { fraction: 0.629 } } as const;
type Titled = Parameters<typeof jobTitle>[0];

function Page({ name }: { name?: string }): null {
  useTitle(name);
  return null;
}

describe("the title of the tab", () => {
  it("tells how far a job is, what it is called and its state", () => {
    expect(jobTitle(running as unknown as Titled, "Running")).toBe("62 % speech-ddp · Running");
  });
  it("leaves out a progress that nobody knows, and that of what has ended", () => {
    expect(jobTitle({ ...running, progress: null } as unknown as Titled, "Running")).toBe("speech-ddp · Running");
    expect(jobTitle({ ...running, ended_at: 7 } as unknown as Titled, "Failed")).toBe("speech-ddp · Failed");
  });
  it("follows the page, and is the product's name between two", () => {
    const page = render(<Page name="Queue" />);
    expect(document.title).toBe("Queue – Trainmaster");
    page.rerender(<Page name="Models" />);
    expect(document.title).toBe("Models – Trainmaster");
    page.unmount();
    expect(document.title).toBe("Trainmaster");
  });
});
