/** When a sub-task is finished, and what its failures do to the job (R36-R38). */
import { Checkbox, Flex, InputNumber } from "antd";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { getAt } from "./document";
import { FieldFrame, NumberField, useBounds } from "./fields";
import { Fold } from "./fold";
import { useForm } from "./state";

/** The rules of a sub-task in one line. Pure. */
export function completionWords(role: JsonObject, t: TFunction): string {
  const succeeded = role["min_succeeded"];
  const failed = role["min_failed"];
  const some = typeof succeeded === "number" ? succeeded : null;
  const after = typeof failed === "number" ? failed : 1;
  return [
    some === null ? t("submit.role.endsWhenAll") : t("submit.role.endsWhenSome", { n: some, count: some }),
    failed === null ? t("submit.role.failsNever") : t("submit.role.failsAfter", { n: after, count: after }),
    ...(role["main"] === true ? [t("submit.role.isMain")] : []),
  ].join(" · ");
}

export function Completion({ at, role }: { at: string; role: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const path = `${at}.min_failed`;
  const failed = getAt(form.doc, path);
  const { min, usual } = useBounds(path);
  return (
    <Fold
      title={t("submit.role.completion")}
      summary={completionWords(role, t)}
      paths={[`${at}.min_succeeded`, path, `${at}.main`, `${at}.ends_job`]}
      test="completion"
    >
      <div className="tm-grid tm-grid-3">
        <NumberField
          path={`${at}.min_succeeded`}
          label={t("submit.field.min_succeeded")}
          help={t("help.min_succeeded")}
          placeholder={t("submit.role.allEnd")}
        />
        <FieldFrame path={path} label={t("submit.field.min_failed")} help={t("help.min_failed")}>
          <Flex gap={10} align="center">
            <InputNumber
              min={min}
              disabled={failed === null}
              placeholder={usual?.toString()}
              value={typeof failed === "number" ? failed : null}
              onChange={(value) => form.set(path, value ?? undefined)}
              className="tm-grow"
              data-testid={`field-${path}`}
              aria-label={t("submit.field.min_failed")}
            />
            <Checkbox
              checked={failed === null}
              className="tm-nowrap"
              onChange={(e) => form.set(path, e.target.checked ? null : undefined)}
            >
              {t("submit.role.never")}
            </Checkbox>
          </Flex>
        </FieldFrame>
        <FieldFrame path={`${at}.main`} label={t("submit.field.main")} help={t("help.main")}>
          <Checkbox
            checked={role["main"] === true}
            onChange={(e) => form.set(`${at}.main`, e.target.checked || undefined)}
            data-testid={`field-${at}.main`}
          >
            {t("submit.role.mainHint")}
          </Checkbox>
        </FieldFrame>
      </div>
    </Fold>
  );
}
