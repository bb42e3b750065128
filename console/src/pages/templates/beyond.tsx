/** A template beyond its workspace, which has no page: to whom it is offered, or where it was taken in. */
import { useQuery } from "@tanstack/react-query";
import { Modal } from "antd";
import type { ReactNode } from "react";
import { readTemplate } from "../../api/templates";
import type { Template } from "../../api/types";
import { Beyond } from "../../shared/passing/beyond";
import { Pending } from "../../shared/ui";

export function BeyondTemplate({ of, close }: { of: Template; close: () => void }): ReactNode {
  const query = useQuery({ queryKey: ["template", of.id], queryFn: ({ signal }) => readTemplate(of.id, signal) });
  return (
    <Modal open title={of.name} onCancel={close} footer={null} width={640}>
      {query.data ? <Beyond kind="template" of={query.data} /> : <Pending query={query} rows={4} />}
    </Modal>
  );
}
