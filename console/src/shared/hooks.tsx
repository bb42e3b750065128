/** A command that runs before or after that of a sub-task (R53), as a line beside it. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Command } from "./command";

export function HookLine({ name, command }: { name: "before" | "after"; command: string }): ReactNode {
  const { t } = useTranslation();
  if (command === "") return null;
  return (
    <div className="tm-line tm-wrap-line" data-testid={`hook-${name}`}>
      {t(`submit.field.${name}`)}
      {t("mark.colon")}
      <span className="tm-mono tm-break">
        <Command text={command} />
      </span>
    </div>
  );
}
