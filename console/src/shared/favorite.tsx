/** The star of what somebody marked for themselves: pressed, it is a favorite, or none any more. */
import { StarFilled, StarOutlined } from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { type AssetWords, favorAsset } from "../api/assets";
import { useAct } from "./act";

interface StarProps {
  on: boolean;
  press: () => void;
  /** Of what, where several stand below each other. */
  of?: string;
}

export function Star({ on, press, of }: StarProps): ReactNode {
  const { t } = useTranslation();
  const label = t(on ? "jobs.favorite.remove" : "jobs.favorite.add");
  return (
    <Button
      {...(of === undefined ? {} : { type: "text", size: "small" })}
      icon={on ? <StarFilled className="tm-star" /> : <StarOutlined />}
      onClick={press}
      aria-pressed={on}
      aria-label={of === undefined ? label : `${label}${t("mark.colon")}${of}`}
      title={label}
      data-testid="favorite"
    />
  );
}

interface AssetStarProps {
  kind: AssetWords;
  of: { id: string; name: string; favorite: boolean };
  /** Whether it stands in a row of several. */
  inRow?: boolean;
}

/** The star of what is kept under a name. */
export function AssetStar({ kind, of, inRow }: AssetStarProps): ReactNode {
  const act = useAct([kind, kind.slice(0, -1), "to mount"]);
  const press = (): void =>
    void act(async () => {
      await favorAsset(kind, of.id, !of.favorite);
      return "";
    });
  return <Star on={of.favorite} press={press} {...(inRow ? { of: of.name } : {})} />;
}
