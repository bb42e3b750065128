/** Heights that fill the window below wherever the element begins, so that a log's foot is never out of sight. */
import { type RefObject, useLayoutEffect } from "react";

const LEAST_PX = 320;

export function useFillHeight(ref: RefObject<HTMLElement | null>, belowPx: number): void {
  useLayoutEffect(() => {
    const fit = (): void => {
      const element = ref.current;
      if (!element) return;
      const top = element.getBoundingClientRect().top + window.scrollY;
      element.style.height = `${Math.max(LEAST_PX, window.innerHeight - top - belowPx)}px`;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(document.body); // what comes or goes above the element moves it
    window.addEventListener("resize", fit);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", fit);
    };
  }, [ref, belowPx]);
}
