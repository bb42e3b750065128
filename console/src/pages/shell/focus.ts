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
    let inDialog = false;
    const came = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      if (target.closest("[role=dialog]")) inDialog = true;
      if (target.closest(ABOVE)) return;
      last = target;
      inDialog = false;
    };
    // What is removed of a dialog is an empty box: its content has gone before.
    const gone = new MutationObserver((changes) => {
      const left = changes.some(({ removedNodes }) => removedNodes.length > 0);
      if (!left || !inDialog || document.activeElement !== document.body) return;
      inDialog = false;
      if (last?.isConnected) last.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", came);
    gone.observe(document.body, { childList: true });
    return () => {
      document.removeEventListener("focusin", came);
      gone.disconnect();
    };
  }, []);
}
