/** How wide the place of a picture is. */
import { type RefCallback, useCallback, useState } from "react";

const LEAST = 240;

export function useWidth(): [RefCallback<HTMLDivElement>, number] {
  const [width, setWidth] = useState(720);
  const attach = useCallback((element: HTMLDivElement | null) => {
    if (!element) return undefined;
    const take = (): void => setWidth(Math.max(LEAST, Math.floor(element.clientWidth)));
    take();
    const watch = new ResizeObserver(take);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [attach, width];
}
