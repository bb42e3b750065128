/** Makes a volume, or gives one another name. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Form, Input, Modal, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import type { JobShare, VolumeDetail } from "../../api/types";
import { createVolume, renameVolume } from "../../api/volumes";
import { DEFAULT_WORKSPACE, homeOf, maySubmit, SHARES } from "../../shared/people";
import { useSession } from "../../shared/session";
import { ErrorPanel } from "../../shared/ui";

const LONGEST_DESCRIPTION = 2000;

export function CreateVolume({ close, done }: { close: () => void; done: (made: VolumeDetail) => void }): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  const [workspace, setWorkspace] = useState((user && homeOf(user)) ?? DEFAULT_WORKSPACE);
  const [description, setDescription] = useState("");
  const [share, setShare] = useState<JobShare>("none");
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const mine = (spaces.data?.items ?? []).map((one) => one.name).filter((one) => user && maySubmit(user, one));
  const places = mine.includes(workspace) ? mine : [workspace, ...mine];
  return (
    <Named
      title={t("volumes.create.title")}
      ok={t("volumes.create.ok")}
      before=""
      act={(name) => createVolume({ name, workspace, description: description.trim(), share })}
      close={close}
      done={done}
    >
      {places.length > 1 && (
        <Form.Item label={t("volumes.workspace")} htmlFor="volume-workspace">
          <Select<string>
            id="volume-workspace"
            value={workspace}
            onChange={setWorkspace}
            options={places.map((value) => ({ value, label: value }))}
          />
        </Form.Item>
      )}
      <Form.Item label={t("volumes.description")} htmlFor="volume-description">
        <Input.TextArea
          id="volume-description"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          maxLength={LONGEST_DESCRIPTION}
          autoSize={{ minRows: 1, maxRows: 6 }}
          data-testid="volume-description"
        />
      </Form.Item>
      <Form.Item label={t("volumes.shared")} htmlFor="volume-share">
        <Select<JobShare>
          id="volume-share"
          value={share}
          onChange={setShare}
          options={SHARES.map((value) => ({ value, label: t(`volumes.share.${value}`) }))}
        />
      </Form.Item>
    </Named>
  );
}

export function RenameVolume({ of, close }: { of: VolumeDetail; close: () => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <Named
      title={t("volumes.rename.title", { name: of.name })}
      ok={t("action.save")}
      before={of.name}
      act={(name) => renameVolume(of.id, name)}
      close={close}
      done={() => undefined}
    >
      <p className="tm-faint">{t("volumes.rename.hint")}</p>
    </Named>
  );
}

interface Props {
  title: string;
  ok: string;
  before: string;
  act: (name: string) => Promise<VolumeDetail>;
  close: () => void;
  done: (made: VolumeDetail) => void;
  children: ReactNode;
}

function Named({ title, ok, before, act, close, done, children }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { message } = App.useApp();
  const [name, setName] = useState(before);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const made = await act(name.trim());
      message.success(t(before === "" ? "volumes.create.done" : "volumes.rename.done", { name: made.name }));
      for (const key of ["volumes", "volume"]) void client.invalidateQueries({ queryKey: [key] });
      done(made);
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={title}
      onCancel={close}
      onOk={() => void save()}
      okText={ok}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      okButtonProps={{
        disabled: name.trim() === "" || name.trim() === before,
        ...{ "data-testid": "volume-save" },
      }}
    >
      <Form layout="vertical" component="div" disabled={busy}>
        <Form.Item label={t("volumes.name")} htmlFor="volume-name">
          <Input
            id="volume-name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            onPressEnter={() => void save()}
            autoFocus
            data-testid="volume-name"
          />
        </Form.Item>
        {children}
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}
