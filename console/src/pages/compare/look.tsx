/** The mark of a job: a dot in the colour of its lines. */
import type { ReactNode } from "react";
import { lookOf } from "./table";

export function Dot({ at }: { at: number }): ReactNode {
  return <span className="tm-compare-dot" style={{ background: lookOf(at).color }} aria-hidden />;
}
