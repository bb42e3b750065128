import type { ReactNode } from "react";
export function SettingsPage(): ReactNode { return null; }
