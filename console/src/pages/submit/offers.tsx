/** What a form offers to choose from of what is kept under names: favorites stand first, with their star. */
import { StarFilled } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

export interface Offer {
  id: string;
  name: string;
  favorite: boolean;
  description?: string;
}

export interface OfferOption {
  value: string;
  label: string;
  title: string;
  favorite: boolean;
}

/** The options of a field that takes a name. Pure. */
export const offers = (known: readonly Offer[] | undefined): OfferOption[] =>
  (known ?? []).map((one) => ({
    value: one.name,
    label: one.name,
    title: one.description || one.name,
    favorite: one.favorite,
  }));

export const renderOffer = ({ data }: { data: OfferOption }): ReactNode => (
  <>
    {data.label} {data.favorite && <Marked />}
  </>
);

export function Marked(): ReactNode {
  const { t } = useTranslation();
  return <StarFilled className="tm-star" aria-label={t("jobs.favorite.is")} data-testid="star" />;
}
