import type { ReactNode } from "react";
export function ModelsPage(): ReactNode { return null; }
