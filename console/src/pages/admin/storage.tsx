/** Storage quotas of a workspace and of each person in it: shown, and edited in GiB and files. */
import { Form, InputNumber } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Most, WorkspaceBody } from "../../api/cluster";
import type { Workspace } from "../../api/types";
import { bytes, mib, number } from "../../shared/format";
import { Shares, storageShares } from "../../shared/shares";

/** Null: no limit. */
interface Amounts {
  gib?: number | null;
  files?: number | null;
}

/** Of all of a workspace, and of each person. */
export interface StorageForm {
  all?: Amounts;
  each?: Amounts;
}

const gib = (most: number | null | undefined): number | null => (most == null ? null : most / 1024);

/** What the form begins with. Pure. */
export function storageForm(one: Workspace | null): StorageForm {
  if (!one) return {};
  const { use, per_person } = one.storage;
  return {
    all: { gib: gib(use.limit_mib), files: use.limit_files },
    each: { gib: gib(per_person["mib"]), files: per_person["files"] ?? null },
  };
}

function most({ gib: size, files }: Amounts = {}): Most {
  return {
    ...(size == null ? {} : { mib: Math.round(size * 1024) }),
    ...(files == null ? {} : { files }),
  };
}

/** What the form says; what some may keep instead stays as it is. Pure. */
export const storageOf = (
  form: StorageForm | undefined,
  one: Workspace | null,
): Pick<WorkspaceBody, "storage" | "storage_per_person" | "storage_people"> => ({
  storage: most(form?.all),
  storage_per_person: most(form?.each),
  storage_people: one?.storage.people ?? {},
});

export function StorageEditor(): ReactNode {
  const { t } = useTranslation();
  const fields = [
    [["storage", "all", "gib"], t("admin.storage.size")],
    [["storage", "all", "files"], t("admin.storage.files")],
    [["storage", "each", "gib"], t("admin.storage.sizeEach")],
    [["storage", "each", "files"], t("admin.storage.filesEach")],
  ] as const;
  return (
    <Form.Item label={t("admin.storage.title")} extra={t("admin.storage.hint")} className="tm-storage-edit">
      <div className="tm-grid tm-grid-2">
        {fields.map(([name, label]) => (
          <Form.Item key={label} name={[...name]} label={label}>
            <InputNumber
              min={0}
              max={name[2] === "gib" ? 2 ** 30 : 1e12}
              {...(name[2] === "files" ? { precision: 0 } : {})}
              style={{ width: "100%" }}
              placeholder={t("admin.limits.none")}
              data-testid={name.join("-")}
            />
          </Form.Item>
        ))}
      </div>
    </Form.Item>
  );
}

/** What is kept for a workspace, and what each person may keep. */
export function StorageCell({ one: { storage } }: { one: Workspace }): ReactNode {
  const { t } = useTranslation();
  const { use, per_person, people } = storage;
  const shares = storageShares(use);
  const persons = [["", per_person] as const, ...Object.entries(people)].filter(([, by]) => Object.keys(by).length > 0);
  const said = (by: Most): string =>
    Object.entries(by)
      .map(([name, amount]) => {
        if (amount === null) return t("admin.limits.none");
        return name === "mib" ? mib(amount) : t("admin.storage.ofFiles", { number: number(amount) });
      })
      .join(t("mark.comma"));
  return (
    <div className="tm-quota" data-testid="storage">
      {shares.length > 0 ? (
        <Shares share={shares} />
      ) : (
        <span className="tm-line tm-wrap-line">
          {t("admin.storage.kept", { size: bytes(use.used_bytes), number: number(use.used_files) })}
        </span>
      )}
      {persons.map(([name, by]) => (
        <div key={name} className="tm-line tm-wrap-line">
          {name || t("admin.workspaces.eachPerson")} · {t("admin.storage.title")}
          {t("mark.colon")}
          {said(by)}
        </div>
      ))}
    </div>
  );
}
