/** Storage quotas of a workspace: shown, and edited in GiB and files. */
import { Form, InputNumber } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Most } from "../../api/cluster";
import type { Workspace } from "../../api/types";
import { bytes, number } from "../../shared/format";
import { Shares, storageShares } from "../../shared/shares";

/** Null: no limit. */
export interface StorageForm {
  gib?: number | null;
  files?: number | null;
}

/** What the form begins with. Pure. */
export function storageForm(one: Workspace | null): StorageForm {
  if (!one) return {};
  const { limit_mib, limit_files } = one.storage.use;
  return { gib: limit_mib == null ? null : limit_mib / 1024, files: limit_files };
}

/** What the form says. Pure. */
export const storageOf = ({ gib, files }: StorageForm = {}): Most => ({
  ...(gib == null ? {} : { mib: Math.round(gib * 1024) }),
  ...(files == null ? {} : { files }),
});

export function StorageEditor(): ReactNode {
  const { t } = useTranslation();
  const fields = [
    [["storage", "gib"], t("admin.storage.size")],
    [["storage", "files"], t("admin.storage.files")],
  ] as const;
  return (
    <Form.Item label={t("admin.storage.title")} extra={t("admin.storage.hint")} className="tm-storage-edit">
      <div className="tm-grid tm-grid-2">
        {fields.map(([name, label]) => (
          <Form.Item key={label} name={[...name]} label={label}>
            <InputNumber
              min={0}
              max={name[1] === "gib" ? 2 ** 30 : 1e12}
              {...(name[1] === "files" ? { precision: 0 } : {})}
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

/** What is kept for a workspace. */
export function StorageCell({ one: { storage } }: { one: Workspace }): ReactNode {
  const { t } = useTranslation();
  const shares = storageShares(storage.use);
  const { used_bytes, used_files } = storage.use;
  return (
    <div className="tm-quota" data-testid="storage">
      {shares.length > 0 ? (
        <Shares share={shares} />
      ) : (
        <span className="tm-line tm-wrap-line">
          {t("admin.storage.kept", { size: bytes(used_bytes), number: number(used_files) })}
        </span>
      )}
    </div>
  );
}
