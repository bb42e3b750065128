/** What replicas are shown: folders of the nodes, data sets, saved models, volumes, object storage (R16, R47, R52, R138,
 * R143, R145, R146).
 */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button, Checkbox, Flex, Input, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readOffered } from "../../api/assets";
import { listDatasets, readDataset } from "../../api/datasets";
import { listModels, readModel } from "../../api/models";
import { listConnections } from "../../api/storage";
import type { JsonObject } from "../../api/types";
import { listVolumes } from "../../api/volumes";
import { useBilingual, useLanguage } from "../../i18n";
import { useEngineOf } from "../../shared/engines";
import { calledIn } from "../../shared/passing/place";
import { ofChannels } from "./algorithm-doc";
import { freshName, getAt, isObject } from "./document";
import { ColumnHeads, FieldFrame } from "./fields";
import { type Offer, type OfferOption, offers, renderOffer } from "./offers";
import { useRowKeys } from "./rows";
import { useForm, useWorkspace } from "./state";

export const KINDS = ["path", "dataset", "model", "volume", "s3"] as const;
export type Kind = (typeof KINDS)[number];
/** Where what can be mounted is made and looked at (R44). */
const PAGES = ["datasets", "models", "volumes"] as const;
const STILL_MS = 30_000;

export const kindOf = (input: JsonObject): Kind =>
  KINDS.find((kind) => kind !== "path" && input[kind] !== undefined) ?? "path";

/** What `flowers@3` says: the name, and the version, "" for the latest. Pure. */
export function splitReference(text: string): { name: string; version: string } {
  const at = text.lastIndexOf("@");
  return at < 0 ? { name: text, version: "" } : { name: text.slice(0, at), version: text.slice(at + 1) };
}

/** What `team-data/images/v2` says: the connection, and what lies there. Pure. */
export function splitPlace(text: string): { name: string; path: string } {
  const at = text.indexOf("/");
  return at < 0 ? { name: text, path: "" } : { name: text.slice(0, at), path: text.slice(at + 1) };
}

/** Makes an input that is a folder of the nodes, with a name that none of the others has. */
export function useFolder(): (others: readonly JsonObject[]) => JsonObject {
  return (others) => {
    const taken = others.map((one) => String(one["name"]));
    return { name: freshName("data", taken), path: "", mount: "/dataset" };
  };
}

/** `channels`: those of the algorithm, whose inputs have fields of their own. */
export function Mounts({ channels }: { channels: readonly string[] }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const given = getAt(form.doc, "inputs");
  const inputs = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(inputs.length);
  const ofChannel = (one: JsonObject): boolean => form.doc["algorithm"] !== undefined && one["channel"] !== undefined;
  const put = (next: JsonObject[]): void => form.set("inputs", next.length > 0 ? next : undefined);
  const replace = (i: number, next: JsonObject): void => put(inputs.map((input, k) => (k === i ? next : input)));
  const folder = useFolder();
  return (
    <FieldFrame
      path="inputs"
      deep
      except={(path) => ofChannels(path, form.doc, channels)}
      label={t("submit.field.mounts")}
      help={t("help.mounts")}
    >
      <div className="tm-kv tm-kv-mounts">
        {inputs.some((one) => !ofChannel(one)) && (
          <ColumnHeads
            columns={[
              ["inputs.0.kind", t("submit.mount.kind"), t("help.mountKind")],
              ["inputs.0.path", t("submit.field.source"), t("help.source")],
              ["inputs.0.mount", t("submit.field.target"), t("help.target")],
              ["inputs.0.read_only", t("submit.field.readOnly"), t("help.readOnly")],
              ["inputs.0.cache", t("submit.field.cache"), t("help.cache")],
            ]}
          />
        )}
        {inputs.map((input, i) =>
          ofChannel(input) ? null : (
            <div key={rows.keys[i]} className="tm-kv-row">
              <Select<Kind>
                value={kindOf(input)}
                options={KINDS.map((value) => ({ value, label: t(`submit.mount.${value}`) }))}
                popupMatchSelectWidth={false}
                aria-label={t("submit.mount.kind")}
                data-testid={`mount-kind-${i}`}
                onChange={(kind) => replace(i, kind === "path" ? folder(inputs) : { [kind]: "" })}
              />
              <Source at={i} input={input} put={(next) => replace(i, next)} />
              <Input
                value={String(input["mount"] ?? "")}
                placeholder={placeOf(input, inputs)}
                aria-label={t("submit.field.target")}
                className="tm-mono tm-mount-target"
                data-testid={`mount-target-${i}`}
                onChange={(e) => {
                  const { mount: _, ...rest } = input;
                  const whole = kindOf(input) === "path" || e.target.value !== "";
                  replace(i, whole ? { ...rest, mount: e.target.value } : rest);
                }}
              />
              <Checkbox
                checked={input["read_only"] !== false}
                disabled={kindOf(input) !== "path" && kindOf(input) !== "volume"}
                onChange={(e) => replace(i, { ...input, read_only: e.target.checked })}
                aria-label={t("submit.field.readOnly")}
              />
              <CacheBox at={i} input={input} put={(next) => replace(i, next)} />
              <Button
                type="text"
                icon={<DeleteOutlined />}
                aria-label={t("action.remove")}
                onClick={() => {
                  rows.remove(i);
                  put(inputs.filter((_, k) => k !== i));
                }}
              />
            </div>
          ),
        )}
        <Flex gap={12} align="center" wrap>
          <Button
            size="small"
            type="dashed"
            icon={<PlusOutlined />}
            onClick={() => put([...inputs, folder(inputs)])}
            data-testid="mount-add"
          >
            {t("submit.kv.add")}
          </Button>
          <WhereKept />
        </Flex>
      </div>
    </FieldFrame>
  );
}

function WhereKept(): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const list = new Intl.ListFormat(language === "en" ? "en-GB" : language, { type: "conjunction" });
  return (
    <span className="tm-faint" data-testid="where-kept">
      {t("submit.mount.keptOn")}
      {list.formatToParts(PAGES).map(({ type, value }) => {
        const page = PAGES.find((one) => one === value);
        if (type === "literal" || page === undefined) return value;
        return (
          <Link key={page} to={`/${page}`} className="tm-name" data-testid={`to-${page}`}>
            {t(`nav.${page}`)}
          </Link>
        );
      })}
    </span>
  );
}

/** Whether it is copied to the nodes' fast storage first, where that can be (R187). */
export function CacheBox({ at, input, put, children }: SourceProps & { children?: ReactNode }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const form = useForm();
  const why = useEngineOf()(String(form.doc["pool"] ?? "default"))?.can.no_cache;
  const { cache, ...rest } = input;
  return (
    <Checkbox
      checked={cache === true}
      disabled={cache !== true && (!cacheable(input) || Boolean(why))}
      title={cacheable(input) && why ? pick(why) : undefined}
      onChange={(e) => put(e.target.checked ? { ...rest, cache: true } : rest)}
      aria-label={t("submit.field.cache")}
      data-testid={`mount-cache-${at}`}
    >
      {children}
    </Checkbox>
  );
}

/** Whether an input is of something that never changes. Pure. */
export const cacheable = (input: JsonObject): boolean => !["path", "volume"].includes(kindOf(input));

/** Where the platform puts what names no place itself (spec/inputs.py). Pure. */
export function placeOf(input: JsonObject, inputs: readonly JsonObject[]): string {
  const kind = kindOf(input);
  const { name } = splitReference(String(input[kind] ?? ""));
  if (kind === "volume") return `/workspace/volume/${name || "…"}`;
  if (kind === "model") return `/pretrain/${name || "…"}`;
  const several = inputs.filter((one) => kindOf(one) === "dataset" || kindOf(one) === "s3").length > 1;
  if (kind === "path" || !several) return "/dataset";
  const last =
    kind === "s3"
      ? String(input["s3"] ?? "")
          .replace(/\/+$/, "")
          .split("/")
          .pop()
      : name;
  return `/dataset/${last || "…"}`;
}

interface SourceProps {
  at: number;
  input: JsonObject;
  of?: "mount" | "output";
  put: (next: JsonObject) => void;
}

/** What an input is: a path of the nodes, or which data set, model or volume. */
export function Source({ at, input, put }: SourceProps): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  if (kindOf(input) === "volume") return <VolumeSource at={at} input={input} put={put} />;
  if (kindOf(input) === "s3") return <Stored at={at} input={input} put={put} />;
  if (kindOf(input) !== "path") return <Reference at={at} input={input} put={put} />;
  return (
    <Input
      value={String(input["path"] ?? "")}
      placeholder="/data/imagenet"
      aria-label={t("submit.field.source")}
      className="tm-mono tm-mount-source"
      data-testid={`mount-path-${at}`}
      onBlur={() => form.touch(`inputs.${at}`)}
      onChange={(e) => put({ ...input, path: e.target.value })}
    />
  );
}

/** Which volume. */
function VolumeSource({ at, input, put }: SourceProps): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const workspace = useWorkspace();
  const known = useQuery({
    queryKey: ["to mount", "volume", workspace],
    queryFn: ({ signal }) => readOffered(listVolumes, workspace, signal),
    staleTime: STILL_MS,
  });
  return (
    <Select<string, OfferOption>
      showSearch
      value={String(input["volume"] ?? "") || undefined}
      placeholder={t("submit.mount.which.volume")}
      loading={known.isPending}
      popupMatchSelectWidth={false}
      aria-label={t("submit.field.source")}
      className="tm-mount-source"
      data-testid={`mount-name-${at}`}
      options={offers(known.data)}
      optionRender={renderOffer}
      notFoundContent={t("submit.mount.none.volume", { workspace })}
      onBlur={() => form.touch(`inputs.${at}`)}
      onChange={(volume) => put({ ...input, volume })}
    />
  );
}

/** Which storage connection of the workspace, and what below it. */
export function Stored({ at, input, put, of = "mount" }: SourceProps): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const workspace = useWorkspace();
  const known = useQuery({
    queryKey: ["storage", workspace],
    queryFn: () => listConnections(workspace),
    staleTime: STILL_MS,
  });
  const { name, path } = splitPlace(String(input["s3"] ?? ""));
  const say = (next: string, below: string): void => put({ ...input, s3: below === "" ? next : `${next}/${below}` });
  return (
    <span className="tm-mount-reference tm-mount-source">
      <Select<string>
        showSearch
        value={name || undefined}
        placeholder={t("submit.mount.which.s3")}
        loading={known.isPending}
        popupMatchSelectWidth={false}
        aria-label={t("submit.mount.which.s3")}
        data-testid={`${of}-name-${at}`}
        options={(known.data?.items ?? []).map((one) => ({ value: one.name, label: one.name }))}
        notFoundContent={t("submit.mount.none.s3", { workspace })}
        onBlur={() => form.touch(`${of === "mount" ? "inputs" : "outputs"}.${at}`)}
        onChange={(next) => say(next, path)}
      />
      <Input
        value={path}
        placeholder={of === "mount" ? t("submit.mount.below") : "runs/{name}-{id}"}
        aria-label={t("submit.mount.below")}
        className="tm-mono"
        data-testid={`${of}-below-${at}`}
        onBlur={() => form.touch(`${of === "mount" ? "inputs" : "outputs"}.${at}`)}
        onChange={(e) => say(name, e.target.value)}
      />
    </span>
  );
}

/** Which data set or model, and of it which version. */
function Reference({ at, input, put }: SourceProps): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const workspace = useWorkspace();
  const kind = kindOf(input) === "model" ? "model" : "dataset";
  const { name, version } = splitReference(String(input[kind] ?? ""));
  const known = useQuery({
    queryKey: ["to mount", kind, workspace],
    queryFn: async ({ signal }): Promise<Offer[]> =>
      kind === "model"
        ? readOffered(listModels, workspace, signal)
        : (await readOffered(listDatasets, workspace, signal)).map((one) => ({
            ...one,
            name: calledIn(one, workspace), // what was taken in has a name of its own here
          })),
    staleTime: STILL_MS,
  });
  const id = known.data?.find((one) => one.name === name)?.id;
  const versions = useQuery({
    queryKey: ["versions to mount", kind, id],
    queryFn: async () =>
      kind === "model"
        ? (await readModel(id ?? "")).versions.map((one) => one.version)
        : (await readDataset(id ?? "")).history.map((one) => one.version),
    enabled: id !== undefined,
    staleTime: STILL_MS,
  });
  const say = (next: string, of: string): void => put({ ...input, [kind]: of === "" ? next : `${next}@${of}` });
  return (
    <span className="tm-mount-reference tm-mount-source">
      <Select<string, OfferOption>
        showSearch
        value={name || undefined}
        placeholder={t(`submit.mount.which.${kind}`)}
        loading={known.isPending}
        popupMatchSelectWidth={false}
        aria-label={t("submit.field.source")}
        data-testid={`mount-name-${at}`}
        options={offers(known.data)}
        optionRender={renderOffer}
        notFoundContent={t(`submit.mount.none.${kind}`, { workspace })}
        onBlur={() => form.touch(`inputs.${at}`)}
        onChange={(next) => say(next, "")}
      />
      <Select<string>
        value={version}
        disabled={name === ""}
        popupMatchSelectWidth={false}
        aria-label={t("submit.mount.version")}
        data-testid={`mount-version-${at}`}
        options={[
          { value: "", label: t("submit.mount.latest") },
          ...[...(versions.data ?? [])]
            .sort((a, b) => b - a)
            .map((one) => ({ value: String(one), label: t("models.version", { n: one }) })),
        ]}
        onChange={(next) => say(name, next)}
      />
    </span>
  );
}
