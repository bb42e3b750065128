import type { ReactNode } from "react";
export function JobsPage(): ReactNode { return null; }
