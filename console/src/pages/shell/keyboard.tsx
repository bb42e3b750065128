/**
 * What the keyboard does on every page: `/` searches the page, Ctrl-K everywhere, `?` tells the keys, `g` and a letter goes to a page.
 *
 * A letter does nothing while somebody types or a dialog is open, and can be switched off: people who speak to their computer would
 * press letters without meaning to (WCAG 2.1.4).
 */
import { useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from "react";
import type { Session } from "../../api/types";
import { pagesFor } from "./pages";
import { type Shown, whenShown } from "./shown";

const Palette = lazy(() => import("./palette"));
const Keys = lazy(() => import("./keys"));

const OFF = "trainmaster.letters-off";
const AFTER_G_MS = 1500;

/** Whether a key pressed here is text for a field. */
const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select") !== null);

/** Whether it is drawn: what is hidden has no offsetParent. */
const seen = (element: Element): boolean => element instanceof HTMLElement && element.offsetParent !== null;
const dialogOpen = (): boolean => [...document.querySelectorAll("[role=dialog]")].some(seen);

/** The page's own search: what is called so. False where it has none. */
function searchHere(): boolean {
  const fields = document.querySelectorAll<HTMLElement>("main input[type=search], main [data-testid$=search]");
  const first = [...fields].find((field) => seen(field) && field.matches("input"));
  first?.focus();
  return first !== undefined;
}

export function Keyboard({ session }: { session: Session }): ReactNode {
  const navigate = useNavigate();
  const [shown, setShown] = useState<Shown | null>(null);
  const [off, setOff] = useState(() => localStorage.getItem(OFF) !== null);
  const gone = useRef(0);
  const letter = (key: string): boolean => {
    const afterG = performance.now() - gone.current < AFTER_G_MS;
    gone.current = key === "g" ? performance.now() : 0;
    const page = afterG ? pagesFor(session.user.role).find((one) => one.key === key) : undefined;
    if (page) void navigate({ to: page.to, search: {} });
    else if (key === "n") void navigate({ to: "/submit", search: {} });
    else if (key === "?") setShown("keys");
    else if (key === "/") {
      if (!searchHere()) setShown("palette");
    } else return false;
    return true;
  };
  const pressed = useEffectEvent((event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      setShown("palette");
      return;
    }
    if (off || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target) || dialogOpen()) return;
    if (letter(event.key)) event.preventDefault();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => pressed(event);
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => whenShown(setShown), []);
  const turn = (on: boolean): void => {
    setOff(!on);
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
  };
  return (
    <Suspense fallback={null}>
      {shown === "palette" && <Palette session={session} close={() => setShown(null)} />}
      {shown === "keys" && <Keys session={session} on={!off} turn={turn} close={() => setShown(null)} />}
    </Suspense>
  );
}
