/** A labelled field in the looks of Ant Design, without its weight: the sign-in page is all that is loaded first. */
import { type ReactNode, useId, useState } from "react";
import { useTranslation } from "react-i18next";

interface Props {
  label: string;
  value: string;
  change: (value: string) => void;
  /** What is wrong with the value, if that is to be said. */
  problem?: string | undefined;
  /** Its rule, which is said as long as nothing is wrong. */
  hint?: string;
  secret?: boolean;
  complete: "username" | "current-password" | "new-password";
  testId: string;
  focused?: boolean;
}

export function Field(props: Props): ReactNode {
  const { t } = useTranslation();
  const id = useId();
  const [shown, setShown] = useState(false);
  const said = props.problem ?? props.hint;
  const word = t(shown ? "signin.hide" : "signin.show");
  return (
    <div className="tm-field">
      <label htmlFor={id}>{props.label}</label>
      <span className="tm-field-box">
        <input
          id={id}
          type={props.secret && !shown ? "password" : "text"}
          value={props.value}
          onChange={(e) => props.change(e.target.value)}
          autoComplete={props.complete}
          autoCapitalize="none"
          spellCheck={false}
          // biome-ignore lint/a11y/noAutofocus: the one thing that this page is for.
          autoFocus={props.focused}
          aria-invalid={props.problem !== undefined}
          aria-describedby={said === undefined ? undefined : `${id}-said`}
          data-testid={props.testId}
        />
        {props.secret && (
          <button type="button" className="tm-eye" aria-pressed={shown} title={word} onClick={() => setShown(!shown)}>
            <Eye closed={!shown} />
            <span className="tm-said">{word}</span>
          </button>
        )}
      </span>
      <p
        className={props.problem === undefined ? "tm-field-problem tm-field-hint" : "tm-field-problem"}
        id={`${id}-said`}
        role={props.problem === undefined ? undefined : "alert"}
      >
        {said}
      </p>
    </div>
  );
}

function Eye({ closed }: { closed: boolean }): ReactNode {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.3"
      aria-hidden="true"
    >
      <path d="M1 8s2.6-4.5 7-4.5S15 8 15 8s-2.6 4.5-7 4.5S1 8 1 8Z" />
      <circle cx="8" cy="8" r="2" />
      {closed && <path d="M2.5 13.5l11-11" />}
    </svg>
  );
}
