/** Where the keyboard was before a dialog opened: it goes back there when the dialog is gone (WCAG 2.4.3). */
import { useEffect } from "react";

/** What comes and goes above the page. Its controls are no place to go back to. */
const ABOVE = "[role=dialog], .ant-dropdown, .ant-select-dropdown, .ant-tooltip, .ant-popover";

/**
 * Dialogs that leave the page as soon as they are closed leave the keyboard nowhere: the next Tab would begin at the top. Nothing is done
 * where something else has taken it, as another page does.
 */
export function useFocusBack(): void {
  useEffect(() => {
    let last: HTMLElement | null = null;
    const came = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement && !target.closest(ABOVE)) last = target;
    };
    const gone = new MutationObserver((changes) => {
      const closed = changes.some(({ removedNodes }) =>
        [...removedNodes].some((node) => node instanceof Element && node.querySelector("[role=dialog]")),
      );
      if (closed && document.activeElement === document.body && last?.isConnected) last.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", came);
    gone.observe(document.body, { childList: true });
    return () => {
      document.removeEventListener("focusin", came);
      gone.disconnect();
    };
  }, []);
}
