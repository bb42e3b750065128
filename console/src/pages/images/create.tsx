/** Begins a build: packages that are typed or come from a file, which Python, or a container; and what the image is for. */
import { FileTextOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Form, Input, Modal, Segmented, Select, Tag } from "antd";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import { createImage, listBuilds } from "../../api/images";
import type { ImageBuild, ImageDetail, JobShare } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useMeta } from "../../shared/meta";
import { DEFAULT_WORKSPACE, homeOf, maySubmit, SHARES } from "../../shared/people";
import { useSession } from "../../shared/session";
import { ErrorPanel } from "../../shared/ui";
import { CARDS } from "./cards";
import { Container } from "./container";
import { type Definition, fieldsOf, isProject, isWhole, NOTHING, withFiles } from "./take";

const LONGEST_NAME = 63;
const LONGEST_DESCRIPTION = 2000;

interface Props {
  /** The image that gets a version; undefined: one of a name that is asked for. */
  to?: ImageDetail;
  close: () => void;
  done: (made: ImageBuild) => void;
}

export function CreateImage({ to, close, done }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const user = useSession()?.user;
  const [name, setName] = useState(to?.name ?? "");
  const [workspace, setWorkspace] = useState(to?.workspace ?? (user && homeOf(user)) ?? DEFAULT_WORKSPACE);
  const [given, setGiven] = useState<Definition>(() => definitionOf(to));
  const [python, setPython] = useState("");
  const [frameworks, setFrameworks] = useState<string[]>(to?.frameworks ?? []);
  const [cards, setCards] = useState<string[]>(to?.cards ?? []);
  const [description, setDescription] = useState(to?.description ?? "");
  const [share, setShare] = useState<JobShare>(to?.share ?? "none");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const builds = useQuery({ queryKey: ["image-builds"], queryFn: ({ signal }) => listBuilds(signal) }).data;
  const there = builds?.pythons;
  const contained = given.container !== null;
  const code = to?.versions.find((one) => one.version === to.shown)?.code;
  const build = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const words = { name: name.trim(), workspace, description, frameworks, cards, share, ...(code && { code }) };
      const made = await createImage({ ...words, python: contained ? "" : python, ...fieldsOf(given) });
      void client.invalidateQueries({ queryKey: ["image-builds"] });
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
      title={to ? t("images.create.next", { name: to.name }) : t("images.create.title")}
      onCancel={close}
      onOk={() => void build()}
      okText={t(contained ? "images.create.fetch" : "images.create.ok")}
      cancelText={t("action.cancel")}
      confirmLoading={busy}
      width={600}
      okButtonProps={{
        disabled: name.trim() === "" || !isWhole(given) || (contained && !!builds?.no_containers),
        ...{ "data-testid": "image-build" },
      }}
    >
      <p className="tm-faint">
        {t(contained ? "images.create.containerHint" : to ? "images.create.nextHint" : "images.create.hint")}
      </p>
      {code && <Alert type="info" showIcon title={t("images.create.keepsCode")} data-testid="image-keeps-code" />}
      {!contained && there?.length === 0 && <Alert type="warning" showIcon title={t("images.create.noUv")} />}
      <Form layout="vertical" component="div" disabled={busy} className="tm-dataset-form">
        {!to && <Named name={name} setName={setName} workspace={workspace} setWorkspace={setWorkspace} />}
        <Form.Item label={t("images.create.of")}>
          <Segmented<"packages" | "container">
            value={contained ? "container" : "packages"}
            onChange={(kind) => setGiven({ ...given, container: kind === "container" ? "" : null })}
            options={[
              { value: "packages", label: t("images.create.ofPackages") },
              { value: "container", label: t("images.create.ofContainer") },
            ]}
            data-testid="image-kind"
          />
        </Form.Item>
        {contained ? (
          <Container given={given} set={setGiven} workspace={workspace} builds={builds} />
        ) : (
          <Packages given={given} set={setGiven} />
        )}
        <For
          contained={contained}
          pythons={there ?? []}
          python={python}
          setPython={setPython}
          frameworks={frameworks}
          setFrameworks={setFrameworks}
          cards={cards}
          setCards={setCards}
        />
        <Form.Item label={t("images.description")} htmlFor="image-description">
          <Input.TextArea
            id="image-description"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            maxLength={LONGEST_DESCRIPTION}
            autoSize={{ minRows: 1, maxRows: 6 }}
            data-testid="image-description"
          />
        </Form.Item>
        {!to && (
          <Form.Item label={t("images.shared")} htmlFor="image-share">
            <Select<JobShare>
              id="image-share"
              value={share}
              onChange={setShare}
              options={SHARES.map((value) => ({ value, label: t(`images.share.${value}`) }))}
              data-testid="image-share"
            />
          </Form.Item>
        )}
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}

/** What the last version was made of. */
function definitionOf(to: ImageDetail | undefined): Definition {
  const text = (name: string): string | null => to?.files.find((file) => file.name === name)?.text ?? null;
  if (!to) return NOTHING;
  return {
    requirements: text("requirements.txt") ?? "",
    pyproject: text("pyproject.toml"),
    lock: text("uv.lock"),
    container: text("container"),
    secret: "",
  };
}

function Named(props: {
  name: string;
  setName: (name: string) => void;
  workspace: string;
  setWorkspace: (name: string) => void;
}): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const mine = (spaces.data?.items ?? []).map((one) => one.name).filter((one) => user && maySubmit(user, one));
  const places = mine.includes(props.workspace) ? mine : [props.workspace, ...mine];
  return (
    <>
      <Form.Item label={t("images.name")} htmlFor="image-name">
        <Input
          id="image-name"
          value={props.name}
          onChange={(event) => props.setName(event.target.value)}
          maxLength={LONGEST_NAME}
          autoFocus
          data-testid="image-name"
        />
      </Form.Item>
      {places.length > 1 && (
        <Form.Item label={t("images.workspace")} htmlFor="image-workspace">
          <Select<string>
            id="image-workspace"
            value={props.workspace}
            onChange={props.setWorkspace}
            options={places.map((value) => ({ value, label: value }))}
          />
        </Form.Item>
      )}
    </>
  );
}

/** Packages, a line each; or the files of a project, by their names. */
function Packages({ given, set }: { given: Definition; set: (given: Definition) => void }): ReactNode {
  const { t } = useTranslation();
  const files = useRef<HTMLInputElement>(null);
  const input = async (event: { target: HTMLInputElement }): Promise<void> => {
    const chosen = [...(event.target.files ?? [])];
    event.target.value = ""; // else the same file, chosen again, would be no change
    set(
      withFiles(given, await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() })))),
    );
  };
  return (
    <>
      <input
        ref={files}
        type="file"
        style={{ display: "none" }} // a form shows what is only hidden
        multiple
        accept=".txt,.toml,.lock,.in"
        data-testid="image-files"
        onChange={(event) => void input(event)}
      />
      <Form.Item label={t("images.create.packages")} htmlFor="image-packages">
        {isProject(given) ? (
          <div data-testid="image-project">
            {t("images.create.project")} {given.pyproject !== null && <Tag className="tm-tag">pyproject.toml</Tag>}
            {given.lock !== null && <Tag className="tm-tag">uv.lock</Tag>}
            {given.pyproject === null && <div className="tm-warn">{t("images.create.lockAlone")}</div>}
          </div>
        ) : (
          <Input.TextArea
            id="image-packages"
            value={given.requirements}
            onChange={(event) => set({ ...given, requirements: event.target.value })}
            autoSize={{ minRows: 4, maxRows: 12 }}
            className="tm-mono"
            spellCheck={false}
            placeholder={"numpy==2.4\ntqdm"}
            data-testid="image-packages"
          />
        )}
        <div className="tm-image-from">
          <Button size="small" icon={<FileTextOutlined />} onClick={() => files.current?.click()}>
            {t("images.create.file")}
          </Button>
          {isProject(given) && (
            <Button size="small" onClick={() => set({ ...given, pyproject: null, lock: null })}>
              {t("images.create.typed")}
            </Button>
          )}
          <span className="tm-faint">
            {isProject(given) ? "" : `${t("images.create.packagesHint")} · `}
            {t("images.create.fileHint")}
          </span>
        </div>
      </Form.Item>
    </>
  );
}

/** Which Python, where it is not the container's own, and the jobs that it is for. */
function For(props: {
  contained: boolean;
  pythons: readonly string[];
  python: string;
  setPython: (version: string) => void;
  frameworks: string[];
  setFrameworks: (kinds: string[]) => void;
  cards: string[];
  setCards: (kinds: string[]) => void;
}): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const kinds = useMeta()?.frameworks ?? [];
  const [own] = props.pythons;
  return (
    <>
      <Form.Item label={t("images.python")} htmlFor="image-python" hidden={props.contained}>
        <Select<string>
          id="image-python"
          value={props.python}
          onChange={props.setPython}
          options={[
            { value: "", label: own ? t("images.create.ownIs", { version: own }) : t("images.create.own") },
            ...props.pythons.slice(1).map((value) => ({ value, label: value })),
          ]}
          data-testid="image-python"
        />
      </Form.Item>
      <Form.Item label={t("images.for")} htmlFor="image-for" extra={t("images.create.forHint")}>
        <Select<string[]>
          id="image-for"
          mode="multiple"
          value={props.frameworks}
          onChange={props.setFrameworks}
          placeholder={t("images.anything")}
          options={kinds.map((one) => ({ value: one.kind, label: pick(one.title) }))}
          data-testid="image-for"
        />
      </Form.Item>
      <Form.Item label={t("images.cards")} htmlFor="image-cards" extra={t("images.create.cardsHint")}>
        <Select<string[]>
          id="image-cards"
          mode="multiple"
          value={props.cards}
          onChange={props.setCards}
          placeholder={t("images.anything")}
          options={CARDS.map((value) => ({ value, label: t(`images.card.${value}`) }))}
          data-testid="image-cards"
        />
      </Form.Item>
    </>
  );
}
