import type { ReactNode } from "react";
export function ClusterPage(): ReactNode { return null; }
