/** What lies over the page at the moment: the palette or the list of keys. Asked for by the bar, the help and the keyboard. */
export type Shown = "palette" | "keys";

const ASKED = "trainmaster.show";

export const show = (what: Shown): void => {
  dispatchEvent(new CustomEvent(ASKED, { detail: what }));
};

/** Tell `listener` until what is returned is called. */
export function whenShown(listener: (what: Shown) => void): () => void {
  const heard = (event: Event): void => listener((event as CustomEvent<Shown>).detail);
  addEventListener(ASKED, heard);
  return () => removeEventListener(ASKED, heard);
}
