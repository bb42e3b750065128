/** Roles in workspaces in words, and the choice of one. */
import { Select, type SelectProps } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { mayGive, WORKSPACE_ROLES, type WorkspaceRole } from "./people";
import { TwoLines } from "./ui";

const known = (role: string): role is WorkspaceRole => WORKSPACE_ROLES.some((one) => one === role);

/** What a role is called, and in a line what it permits; one that this console does not know is called as the server does. */
export function useRoleWords(): (role: string) => { name: string; may: string } {
  const { t } = useTranslation();
  return (role) =>
    known(role) ? { name: t(`people.role.${role}`), may: t(`people.may.${role}`) } : { name: role, may: "" };
}

/** `own`: the role of who chooses, above which they give none. */
export function RoleSelect({
  own = "owner",
  ...rest
}: Omit<SelectProps<string>, "options" | "optionRender"> & { own?: string }): ReactNode {
  const words = useRoleWords();
  return (
    <Select<string>
      {...rest}
      options={WORKSPACE_ROLES.map((role) => ({ value: role, label: words(role).name, disabled: !mayGive(own, role) }))}
      optionRender={({ value, label }) => <TwoLines first={label} second={words(String(value)).may} />}
      popupMatchSelectWidth={false}
    />
  );
}
