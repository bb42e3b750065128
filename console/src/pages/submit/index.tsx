import type { ReactNode } from "react";
export function SubmitPage(): ReactNode { return null; }
