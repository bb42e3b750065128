/** Pictures, sounds and films. The browser is given bytes under a type that we chose, at an address of this page alone. */
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { svgAddress } from "./cells";
import { type Look, typeOf } from "./kinds";

export function Media({ blob, look, name }: { blob: Blob; look: Look; name: string }): ReactNode {
  const { t } = useTranslation();
  const [fails, setFails] = useState(false);
  const address = useAddress(blob, typeOf(name));
  if (address === "") return null;
  if (fails) return <p className="tm-look-note">{t("look.broken")}</p>;
  const shared = { src: address, onError: () => setFails(true) };
  if (look === "picture") return <img {...shared} alt={name} />;
  if (look === "audio") return <audio {...shared} controls aria-label={name} />;
  return <video {...shared} controls aria-label={name} />;
}

/** An SVG is given by its text: at a `blob:` address it would be a page of our origin to who opens it in a tab of its own. */
function useAddress(blob: Blob, type: string): string {
  const [address, setAddress] = useState("");
  useEffect(() => {
    if (type === "image/svg+xml") {
      let gone = false;
      void blob.text().then((text) => gone || setAddress(svgAddress(text)));
      return () => {
        gone = true;
      };
    }
    const made = URL.createObjectURL(new Blob([blob], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob, type]);
  return address;
}
