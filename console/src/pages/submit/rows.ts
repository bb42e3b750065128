/** Keys of rows that have no name of their own in the document, such as roles and ports. */
import { useState } from "react";

let next = 0;

const fresh = (count: number): number[] => Array.from({ length: count }, () => next++);

/**
 * One key for each of `count` rows. A row keeps its key, and with it what its fields remember, while others come and go;
 * `insert` and `remove` are to be called together with the change itself. Rows at the end need no call.
 */
export function useRowKeys(count: number): {
  keys: readonly number[];
  insert: (at: number) => void;
  remove: (at: number) => void;
} {
  const [kept, keep] = useState(() => fresh(count));
  const keys = kept.length < count ? [...kept, ...fresh(count - kept.length)] : kept.slice(0, count);
  if (kept.length !== count) keep(keys);
  return {
    keys,
    insert: (at) => keep([...keys.slice(0, at), ...fresh(1), ...keys.slice(at)]),
    remove: (at) => keep(keys.filter((_, i) => i !== at)),
  };
}
