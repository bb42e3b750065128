/** The environment that the replicas run in: the node's own, an image of the platform, or a container by its name. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AutoComplete, Select } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readOffered } from "../../api/assets";
import { listImages, readImage } from "../../api/images";
import type { Image } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useEngineOf } from "../../shared/engines";
import { bytes, number } from "../../shared/format";
import { useFrameworkTitle } from "../../shared/meta";
import { namedIn } from "../../shared/passing/place";
import { useMedia } from "../../theme";
import type { Card } from "../images/cards";
import { frameworkOf, getAt } from "./document";
import { FieldFrame } from "./fields";
import { imageRef, isOwn, OWN, unsuited } from "./images";
import { Marked } from "./offers";
import { useForm, useWorkspace } from "./state";

const STILL_MS = 30_000;

/** Shown where the engine of the pool runs images of any kind, or the document names one: then it says whether that has an effect (D16). */
export function ImageField(): ReactNode {
  const form = useForm();
  const engine = useEngineOf()(String(form.doc["pool"] ?? "default"));
  const usable = engine !== undefined && (engine.can.images || engine.can.no_environments === null);
  if (!usable && form.doc["image"] === undefined) return null;
  return <Choice />;
}

function useImages(): Image[] | undefined {
  const workspace = useWorkspace();
  const found = useQuery({
    queryKey: ["images", "to have", workspace],
    queryFn: ({ signal }) => readOffered(listImages, workspace, signal),
    staleTime: STILL_MS,
  }).data;
  return useMemo(() => found && namedIn(found, workspace), [found, workspace]);
}

function Choice(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const known = useImages();
  const refused = useRefusal();
  const about = useAbout();
  const narrow = useMedia("(max-width: 599px)");
  const text = String(getAt(form.doc, "image") ?? "");
  const ref = imageRef(text);
  const chosen = known?.find((one) => one.name === ref?.name);
  const set = (next: string | undefined): void =>
    form.set("image", next === undefined || next === "" || next === "default" ? undefined : next);
  const label = t("submit.field.image");
  // R44: where images are made and looked at.
  const hint = (
    <>
      <Hint text={text} chosen={chosen} />{" "}
      <Link to="/images" className="tm-name" data-testid="to-images">
        {t("submit.image.all")}
      </Link>
    </>
  );
  return (
    <FieldFrame path="image" label={label} help={t("help.image")} hint={hint}>
      <span className={chosen ? "tm-mount-reference" : undefined}>
        <AutoComplete
          value={text}
          placeholder="default"
          allowClear
          popupMatchSelectWidth={narrow}
          aria-label={label}
          data-testid="field-image"
          onBlur={() => form.touch("image")}
          onChange={(next?: string) => set(next)}
          filterOption={(typed, option) =>
            option !== undefined &&
            "value" in option &&
            (isOwn(typed) || chosen !== undefined || String(option.value).includes(typed))
          }
          // Not its label: that would be measured in the field, too, once it is chosen.
          optionRender={({ value, data }) => (
            <Line
              name={String(value)}
              about={"about" in data ? String(data.about) : ""}
              favorite={"favorite" in data && data.favorite === true}
            />
          )}
          options={[
            {
              label: t("submit.image.node"),
              options: OWN.slice(0, 2).map((value) => ({
                value,
                about: t(`submit.image.${value === "host" ? "host" : "own"}`),
              })),
            },
            {
              label: t("submit.image.images"),
              options: (known ?? []).map((one) => {
                const why = refused(one);
                return {
                  value: `${one.name}@${one.version}`,
                  disabled: why !== undefined,
                  about: why ?? about(one),
                  favorite: one.favorite,
                };
              }),
            },
          ].filter((group) => group.options.length > 0)}
        />
        {chosen && ref && <Versions image={chosen} version={ref.version} choose={set} />}
      </span>
    </FieldFrame>
  );
}

const Line = ({ name, about, favorite }: { name: string; about: string; favorite: boolean }): ReactNode => (
  <span className="tm-image-line">
    <b>{name}</b> {favorite && <Marked />} <span className="tm-faint">{about}</span>
  </span>
);

function Versions({
  image,
  version,
  choose,
}: {
  image: Image;
  version: number | undefined;
  choose: (text: string) => void;
}): ReactNode {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: ["image", image.id, undefined],
    queryFn: ({ signal }) => readImage(image.id, undefined, signal),
    staleTime: STILL_MS,
  });
  const there = found.data?.versions.map((one) => one.version) ?? [image.version];
  return (
    <Select<string>
      value={version === undefined ? "" : String(version)}
      popupMatchSelectWidth={false}
      aria-label={t("submit.mount.version")}
      data-testid="image-version"
      options={[
        { value: "", label: t("submit.mount.latest") },
        ...there.map((one) => ({ value: String(one), label: t("images.version", { n: one }) })),
      ]}
      onChange={(next) => choose(next === "" ? image.name : `${image.name}@${next}`)}
    />
  );
}

/** Why the pool or the launcher that is chosen cannot have an image. */
function useRefusal(): (image: Image) => string | undefined {
  const { t } = useTranslation();
  const pick = useBilingual();
  const title = useFrameworkTitle();
  const { doc } = useForm();
  const engine = useEngineOf()(String(doc["pool"] ?? "default"));
  return (image) => {
    if (engine?.can.no_environments) return pick(engine.can.no_environments);
    if (image.container && engine?.can.no_containers) return pick(engine.can.no_containers);
    const why = unsuited(image, doc);
    if (why === "framework")
      return t("submit.image.forOthers", {
        frameworks: image.frameworks.map(title).join(t("mark.comma")),
        framework: title(frameworkOf(doc)),
      });
    return why === "cards" ? t("submit.image.noCards") : undefined;
  };
}

/** What an image is, in a line. */
function useAbout(): (image: Image) => string {
  const { t } = useTranslation();
  const title = useFrameworkTitle();
  return (image) =>
    [
      ...(image.container
        ? [t("images.container")]
        : [
            `Python ${image.python}`,
            t("images.packageCount", { count: image.packages, replace: { count: number(image.packages) } }),
          ]),
      ...(image.code ? [t("submit.image.code")] : []),
      bytes(image.size_bytes),
      ...(image.frameworks.length > 0
        ? [t("submit.image.for", { frameworks: image.frameworks.map(title).join(t("mark.comma")) })]
        : []),
      ...image.cards.map((one) => t(`images.card.${one as Card}`)),
      ...(image.built ? [] : [t("submit.image.again")]),
    ].join(" · ");
}

function Hint({ text, chosen }: { text: string; chosen: Image | undefined }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const about = useAbout();
  const refused = useRefusal();
  const engine = useEngineOf()(String(form.doc["pool"] ?? "default"));
  if (chosen) {
    const why = refused(chosen);
    return <span className={why ? "tm-warn" : undefined}>{why ?? about(chosen)}</span>;
  }
  if (isOwn(text)) return t("submit.image.own");
  if (engine !== undefined && !engine.can.images) return t("submit.place.noImages");
  return t("submit.image.container");
}
