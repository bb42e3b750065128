/** The keyboard goes back to where it was when a dialog is gone, and only then. */
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useFocusBack } from "../src/pages/shell/focus";

const seen = () => act(async () => new Promise((done) => setTimeout(done)));

function made(tag: string, parent: HTMLElement = document.body): HTMLElement {
  return parent.appendChild(document.createElement(tag));
}
function dialog(): { close: () => void; button: HTMLElement } {
  const portal = made("div");
  const box = made("div", portal);
  box.setAttribute("role", "dialog");
  const close = (): void => {
    box.remove(); // React takes the content away before the portal goes
    portal.remove();
  };
  return { close, button: made("button", box) };
}

describe("the keyboard after a dialog", () => {
  let opener: HTMLElement;
  beforeEach(() => {
    opener = made("button");
    renderHook(() => useFocusBack());
    opener.focus();
  });
  afterEach(() => {
    cleanup();
    document.body.replaceChildren();
  });

  it("is where it was", async () => {
    const { close, button } = dialog();
    button.focus();
    close();
    await seen();
    expect(document.activeElement).toBe(opener);
  });
  it("stays where something else has taken it", async () => {
    const { close, button } = dialog();
    const other = made("button");
    button.focus();
    close();
    other.focus();
    await seen();
    expect(document.activeElement).toBe(other);
  });
  it("is nowhere when what had it is gone, too", async () => {
    const { close, button } = dialog();
    button.focus();
    opener.remove();
    close();
    await seen();
    expect(document.activeElement).toBe(document.body);
  });
});
