/** Limits per person of one workspace, for those who lead it: a button, and the dialog that it opens. */
import { useQuery } from "@tanstack/react-query";
import { Button, Form, Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listPools, listWorkspaces, saveLimits } from "../../api/cluster";
import type { Workspace } from "../../api/types";
import { Pending } from "../../shared/ui";
import { Dialog } from "./dialog";
import { limitsOfPeople, PersonalEditor, type PersonRow, personRows } from "./personal";

export function LimitsButton({ workspace }: { workspace: string }): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        onClick={() => setOpen(true)}
        aria-label={t("admin.workspaces.limitsOf", { workspace })}
        data-testid={`limits-${workspace}`}
      >
        {t("admin.workspaces.limitsButton")}
      </Button>
      {open && <LimitsDialog workspace={workspace} close={() => setOpen(false)} />}
    </>
  );
}

function LimitsDialog({ workspace, close }: { workspace: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces });
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools() });
  const one = query.data?.items.find(({ name }) => name === workspace);
  if (!one || !pools.data)
    return (
      <Modal open title={t("admin.workspaces.limitsOf", { workspace })} width={720} footer={null} onCancel={close}>
        <Pending query={query.data ? pools : query} rows={2} />
      </Modal>
    );
  return (
    <Dialog<{ personal: PersonRow[] }, Workspace>
      title={t("admin.workspaces.limitsOf", { workspace })}
      initial={{ personal: personRows(one) }}
      save={({ personal }) => saveLimits(workspace, limitsOfPeople(personal))}
      close={close}
      width={720}
    >
      <Form.Item extra={t("admin.workspaces.personalHint")}>
        <PersonalEditor pools={pools.data.items} />
      </Form.Item>
    </Dialog>
  );
}
