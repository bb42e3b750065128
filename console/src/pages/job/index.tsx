import type { ReactNode } from "react";
export function JobPage(): ReactNode { return null; }
