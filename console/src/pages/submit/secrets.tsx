/** Secrets of the workspace that the job is given, chosen by name. What the document says of variables and files stays. */
import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listSecrets } from "../../api/secrets";
import type { Json } from "../../api/types";
import { getAt, isObject } from "./document";
import { FieldFrame } from "./fields";
import { useForm, useWorkspace } from "./state";

/** One entry as people read it: its name, and where its value goes if that is not the variable of that name. Pure. */
export function spelt(one: Json): string {
  if (!isObject(one)) return String(one);
  const to = [one["env"] && `$${String(one["env"])}`, one["file"]].filter(Boolean).map(String);
  return [String(one["name"]), ...(to.length > 0 ? [to.join(", ")] : [])].join(" → ");
}

export function SecretsField(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const workspace = useWorkspace();
  const query = useQuery({
    queryKey: ["secrets", workspace],
    queryFn: () => listSecrets(workspace),
    retry: false,
    throwOnError: false,
  });
  const value = getAt(form.doc, "secrets");
  const given = Array.isArray(value) ? value : [];
  const known = new Map(given.map((one) => [spelt(one), one]));
  return (
    <FieldFrame path="secrets" deep label={t("submit.field.secrets")} help={t("help.secrets")}>
      <Select
        mode="multiple"
        value={[...known.keys()]}
        aria-label={t("submit.field.secrets")}
        placeholder={t(query.data?.items.length === 0 ? "secrets.none" : "submit.place.secrets")}
        data-testid="field-secrets"
        onBlur={() => form.touch("secrets")}
        options={(query.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
        onChange={(chosen: string[]) => {
          const next = chosen.map((one) => known.get(one) ?? one);
          form.set("secrets", next.length > 0 ? next : undefined);
        }}
      />
    </FieldFrame>
  );
}
