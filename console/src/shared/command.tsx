/** A command as it is run, for people to read: it breaks between words alone, never after the hyphens of an option, where `--` would say something else. */
import { Fragment, type ReactNode } from "react";

export function Command({ text }: { text: string }): ReactNode {
  let at = 0;
  return text.split(/(\S*-\S*)/).map((part, i) => {
    const key = at;
    at += part.length + 1;
    return i % 2 === 0 ? (
      <Fragment key={key}>{part}</Fragment>
    ) : (
      <span key={key} className="tm-word">
        {part}
      </span>
    );
  });
}
