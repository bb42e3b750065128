import type { ReactNode } from "react";
export function ModelPage(): ReactNode { return null; }
