import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { Command } from "../src/shared/command";

describe("a command to read", () => {
  it("keeps each option in one piece, and every character in its place", () => {
    const text = "python train.py --epochs=4 \\\n  --pause=0.02 -x 'a b'";
    const { container } = render(<Command text={text} />);
    expect(container.textContent).toBe(text);
    expect([...container.querySelectorAll(".tm-word")].map((word) => word.textContent)).toEqual([
      "--epochs=4",
      "--pause=0.02",
      "-x",
    ]);
  });
});
