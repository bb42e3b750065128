/** What a container image is asked for by: its reference, and a secret of the workspace for its registry. */
import { useQuery } from "@tanstack/react-query";
import { Alert, Form, Input, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listSecrets } from "../../api/secrets";
import type { ImageBuilds } from "../../api/types";
import { useBilingual } from "../../i18n";
import type { Definition } from "./take";

const LONGEST = 500;

export function Container(props: {
  given: Definition;
  set: (given: Definition) => void;
  workspace: string;
  builds: ImageBuilds | undefined;
}): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const { given, set, workspace } = props;
  const secrets = useQuery({
    queryKey: ["secrets", workspace],
    queryFn: () => listSecrets(workspace),
    retry: false,
    throwOnError: false,
  }).data?.items;
  const why = props.builds?.no_containers;
  return (
    <>
      {why && <Alert type="warning" showIcon title={pick(why)} data-testid="no-containers" />}
      <Form.Item
        label={t("images.create.reference")}
        htmlFor="image-container"
        extra={t("images.create.referenceHint")}
      >
        <Input
          id="image-container"
          value={given.container ?? ""}
          onChange={(event) => set({ ...given, container: event.target.value })}
          maxLength={LONGEST}
          className="tm-mono"
          spellCheck={false}
          placeholder="registry.example.org/team/torch:2.4"
          data-testid="image-container"
        />
      </Form.Item>
      <Form.Item label={t("images.create.secret")} htmlFor="image-secret" extra={t("images.create.secretHint")}>
        <Select<string>
          id="image-secret"
          value={given.secret}
          onChange={(secret) => set({ ...given, secret })}
          options={[
            { value: "", label: t("images.create.noSecret") },
            ...(secrets ?? []).map(({ name }) => ({ value: name, label: name })),
          ]}
          data-testid="image-secret"
        />
      </Form.Item>
    </>
  );
}
