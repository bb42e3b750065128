/** Which image a job names, and what speaks against one (R25, R26, R54, R68, R69). What the server refuses or warns of is known here before. Pure. */
import type { Image, JsonObject } from "../../api/types";
import { frameworkOf, isObject, rolesOf } from "./document";

/** Words for the environment that the nodes have. */
export const OWN = ["default", "host", "local"] as const;
export const isOwn = (text: string): boolean => text === "" || OWN.some((one) => one === text);

/** What a text may name: an image of the platform, perhaps a version of it; undefined: neither (spec/lower.py). */
export function imageRef(text: string): { name: string; version: number | undefined } | undefined {
  const found = /^([A-Za-z0-9][A-Za-z0-9._-]{0,62})(?:@([1-9][0-9]{0,8}))?$/.exec(text);
  if (isOwn(text) || !found?.[1]) return undefined;
  return { name: found[1], version: found[2] === undefined ? undefined : Number(found[2]) };
}

/** Whether a job asks for cards, as the server sees it: an amount, or a flavor that may have some. */
const asksForCards = (doc: JsonObject): boolean =>
  rolesOf(doc).some((role) => {
    const { resources, flavors } = role;
    return (isObject(resources) && Number(resources["gpu"] ?? 0) > 0) || (Array.isArray(flavors) && flavors.length > 0);
  });

/** Why an image does not suit a job: it is for other launchers, or for no cards. Undefined: nothing is known against it. */
export function unsuited(
  image: Pick<Image, "frameworks" | "cards">,
  doc: JsonObject,
): "framework" | "cards" | undefined {
  const kind = frameworkOf(doc);
  if (image.frameworks.length > 0 && kind !== "single" && !image.frameworks.includes(kind)) return "framework";
  if (image.cards.length === 1 && image.cards[0] === "cpu" && asksForCards(doc)) return "cards";
  return undefined;
}
