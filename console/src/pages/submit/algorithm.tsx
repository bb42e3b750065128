/** The algorithm of a job: its source, name and version; the values of its hyperparameters; its channels (R23, R24, R150-R157). */
import { PlusOutlined, SearchOutlined } from "@ant-design/icons";
import { Segmented, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Algorithm, JsonObject } from "../../api/types";
import { ButtonLink } from "../../shared/link";
import { useSession } from "../../shared/session";
import { told } from "../algorithms/tables";
import { channelPath, withAlgorithm, withoutAlgorithm } from "./algorithm-doc";
import { getAt, isObject } from "./document";
import { FieldFrame } from "./fields";
import { CacheBox, cacheable, Source as InputSource, KINDS, type Kind, kindOf, useFolder } from "./mounts";
import { type OfferOption, offers, renderOffer } from "./offers";
import { useForm, useWorkspace } from "./state";
import { useAlgorithm } from "./use-algorithm";

const SOURCES = ["own", "mine", "preset", "shared"] as const;
type Source = (typeof SOURCES)[number];

export function AlgorithmField(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const workspace = useWorkspace();
  const me = useSession()?.user.name;
  const { name, version, known, pending, spec, versions } = useAlgorithm();
  const sourceOf = (one: Algorithm): Source => (one.owner === me ? "mine" : one.preset ? "preset" : "shared");
  const current = known.find((one) => one.name === name);
  const [wanted, setWanted] = useState<Source>("own");
  const source = current ? sourceOf(current) : name === "" ? wanted : wanted === "own" ? "shared" : wanted;
  const say = (next: string, of: string): void =>
    form.replace(withAlgorithm(form.doc, of === "" ? next : `${next}@${of}`, spec));
  const from = (next: Source): void => {
    setWanted(next);
    if (form.doc["algorithm"] !== undefined) form.replace(withoutAlgorithm(form.doc, spec));
  };
  const names = known.filter((one) => sourceOf(one) === source);
  return (
    <FieldFrame path="algorithm" label={t("algorithms.choose.label")} help={t("help.algorithm")}>
      <div className="tm-algorithm" data-testid="field-algorithm">
        <Segmented<Source>
          value={source}
          onChange={from}
          aria-label={t("algorithms.choose.source")}
          options={SOURCES.map((value) => ({
            value,
            label: <span data-testid={`algorithm-source-${value}`}>{t(`algorithms.choose.${value}`)}</span>,
          }))}
        />
        {source !== "own" && (
          <span className="tm-mount-reference">
            <Select<string, OfferOption>
              showSearch
              value={name || undefined}
              placeholder={t("algorithms.choose.which")}
              loading={pending}
              popupMatchSelectWidth={false}
              aria-label={t("algorithms.choose.label")}
              data-testid="algorithm-choose"
              options={offers(names)}
              optionRender={renderOffer}
              notFoundContent={t("algorithms.choose.noneHere", { workspace })}
              onChange={(next) => say(next, String(known.find((one) => one.name === next)?.latest ?? ""))}
            />
            <Select<string>
              value={version}
              disabled={name === ""}
              popupMatchSelectWidth={false}
              aria-label={t("submit.mount.version")}
              data-testid="algorithm-version"
              options={[
                { value: "", label: t("algorithms.choose.latest") },
                ...versions.map((n) => ({ value: String(n), label: t("algorithms.version", { n }) })),
              ]}
              onChange={(next) => say(name, next)}
            />
          </span>
        )}
        {source === "mine" && (
          <ButtonLink to="/algorithms" size="small" icon={<PlusOutlined />} data-testid="to-algorithms">
            {t("algorithms.choose.create")}
          </ButtonLink>
        )}
        {(source === "preset" || source === "shared") && (
          <ButtonLink to="/algorithms" size="small" icon={<SearchOutlined />} data-testid="to-algorithms">
            {t("algorithms.choose.find")}
          </ButtonLink>
        )}
      </div>
      {name !== "" && (
        <p className="tm-flat tm-faint" data-testid="algorithm-said">
          {!pending && current === undefined
            ? t("algorithms.choose.gone")
            : [current?.description, t("algorithms.choose.codeOf")].filter(Boolean).join(" · ")}
        </p>
      )}
    </FieldFrame>
  );
}

/** What the algorithm reads, each channel with its input, and where it writes (R152-R154, R157). */
export function AlgorithmChannels(): ReactNode {
  const { t } = useTranslation();
  const { spec } = useAlgorithm();
  if (spec === undefined) return null;
  return (
    <div data-testid="algorithm-channels">
      {spec.inputs.length === 0 && <p className="tm-line">{t("algorithms.channels.noInputs")}</p>}
      {spec.inputs.map((channel) => (
        <Channel key={channel.name} name={channel.name} kinds={channel.kinds} required={channel.required}>
          {[told(channel), channel.description].filter(Boolean).join(" · ")}
        </Channel>
      ))}
      {spec.outputs.length === 0 && <p className="tm-line">{t("algorithms.channels.noOutputs")}</p>}
      {spec.outputs.map((channel) => (
        <p key={channel.name} className="tm-line">
          <b className="tm-mono">{channel.name}</b>{" "}
          <span className="tm-faint">
            {[t(`algorithms.channels.to.${channel.to}`), channel.folder, channel.description]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </p>
      ))}
    </div>
  );
}

/** The input of a channel: what it may not be given is there, and cannot be chosen (R153). */
function Channel({
  name,
  kinds,
  required,
  children,
}: {
  name: string;
  kinds: readonly Kind[];
  required: boolean;
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const folder = useFolder();
  const given = getAt(form.doc, "inputs");
  const inputs = Array.isArray(given) ? given.filter(isObject) : [];
  const at = inputs.findIndex((one) => one["channel"] === name);
  const input = inputs[at];
  const put = (next: JsonObject | null): void => {
    const rest = inputs.filter((_, i) => i !== at);
    const made = next === null ? rest : at < 0 ? [...rest, next] : inputs.map((one, i) => (i === at ? next : one));
    form.set("inputs", made.length > 0 ? made : undefined);
  };
  const choose = (kind: Kind | ""): void =>
    put(kind === "" ? null : { ...(kind === "path" ? folder(inputs) : { [kind]: "" }), channel: name });
  return (
    <FieldFrame
      path={at < 0 ? channelPath(name) : `inputs.${at}`}
      deep
      label={name}
      required={required}
      hint={children}
    >
      <div className="tm-algorithm-channel" data-testid={`channel-${name}`}>
        <Select<Kind | "">
          value={input ? kindOf(input) : ""}
          popupMatchSelectWidth={false}
          aria-label={t("algorithms.channels.choose", { name })}
          data-testid={`channel-kind-${name}`}
          options={[
            { value: "", label: t("algorithms.channels.nothing"), disabled: false },
            ...KINDS.map((value) => ({
              value,
              label: t(`submit.mount.${value}`),
              disabled: !kinds.includes(value),
            })),
          ]}
          onChange={choose}
        />
        {input && <InputSource at={at} input={input} put={put} />}
        {input && cacheable(input) && (
          <div className="tm-algorithm-cache">
            <CacheBox at={at} input={input} put={put}>
              {t("submit.mount.cache")}
            </CacheBox>
          </div>
        )}
      </div>
    </FieldFrame>
  );
}
