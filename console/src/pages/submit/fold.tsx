/** A part of the form that is rarely needed: closed it says in one line what holds, and opens where a problem is or was asked for. */
import { RightOutlined } from "@ant-design/icons";
import { type ReactNode, useEffect, useId, useState } from "react";
import { useForm } from "./state";

interface Props {
  title: string;
  /** What holds, while it is closed. */
  summary: string;
  /** The places of the document whose fields are inside. */
  paths: readonly string[];
  test: string;
  /** Whoever came asked for it. */
  wanted?: boolean;
  children: ReactNode;
}

export function Fold({ title, summary, paths, test, wanted: asked = false, children }: Props): ReactNode {
  const id = useId();
  const { sought, problemsAt } = useForm();
  const [open, setOpen] = useState(false);
  const within = (path: string): boolean => paths.some((one) => path === one || path.startsWith(`${one}.`));
  const wanted = sought !== null && within(sought.path) ? sought : null;
  const wrong = paths.some((path) => problemsAt(path, true).length > 0);
  useEffect(() => {
    if (asked || wanted !== null || wrong) setOpen(true);
  }, [asked, wanted, wrong]);
  return (
    <div className="tm-fold">
      <button
        type="button"
        className="tm-fold-head"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        data-testid={test}
      >
        <RightOutlined rotate={open ? 90 : 0} />
        <span className="tm-fold-words">
          <span>{title}</span>
          {!open && <span className="tm-faint tm-fold-summary">{summary}</span>}
        </span>
      </button>
      <div id={id} hidden={!open} className="tm-fold-body">
        {open && children}
      </div>
    </div>
  );
}
