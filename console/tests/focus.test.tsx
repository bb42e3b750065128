/** The keyboard goes back to where it was when a dialog is gone, and only then. */
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useFocusBack } from "../src/pages/shell/focus";

const seen = () => act(async () => new Promise((done) => setTimeout(done)));

function made(tag: string, parent: HTMLElement = document.body): HTMLElement {
  return parent.appendChild(document.createElement(tag));
}
function dialog(): { portal: HTMLElement; button: HTMLElement } {
  const portal = made("div");
  const box = made("div", portal);
  box.setAttribute("role", "dialog");
  return { portal, button: made("button", box) };
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
    const { portal, button } = dialog();
    button.focus();
    portal.remove();
    await seen();
    expect(document.activeElement).toBe(opener);
  });
  it("stays where something else has taken it", async () => {
    const { portal, button } = dialog();
    const other = made("button");
    button.focus();
    portal.remove();
    other.focus();
    await seen();
    expect(document.activeElement).toBe(other);
  });
  it("is nowhere when what had it is gone, too", async () => {
    const { portal, button } = dialog();
    button.focus();
    opener.remove();
    portal.remove();
    await seen();
    expect(document.activeElement).toBe(document.body);
  });
});
