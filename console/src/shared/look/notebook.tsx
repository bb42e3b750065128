/** A notebook as it was saved: its cells, and under each what it put out. Nothing of it is run. */
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ansi } from "../ansi";
import { type Cell, cellsOf, type Output } from "./cells";
import { Text } from "./text";

export function Notebook({ text, name }: { text: string; name: string }): ReactNode {
  const { t } = useTranslation();
  const cells = useMemo(() => cellsOf(text), [text]);
  if (cells === null) return <Text text={text} />;
  return (
    <div className="tm-look-notebook" data-testid="look-notebook">
      {cells.map((cell, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a saved notebook never change places.
        <article key={i} aria-label={t("look.cell", { n: i + 1 })}>
          <span className="tm-look-count tm-faint">{cell.kind === "code" ? `[${cell.count ?? " "}]` : ""}</span>
          <div>
            <Source cell={cell} />
            {cell.outputs.map((output, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: nor do their outputs.
              <Shown key={n} output={output} name={name} />
            ))}
          </div>
        </article>
      ))}
    </div>
  );
}

const Source = ({ cell }: { cell: Cell }): ReactNode =>
  cell.kind === "code" ? <pre className="tm-code">{cell.source}</pre> : <p className="tm-look-words">{cell.source}</p>;

function Shown({ output, name }: { output: Output; name: string }): ReactNode {
  const { t } = useTranslation();
  if (output.kind === "picture") return <img src={output.text} alt={t("look.output", { name })} />;
  if (output.kind === "source") return <pre className="tm-look-out tm-faint">{output.text}</pre>;
  return (
    <pre className={output.kind === "error" ? "tm-look-out tm-look-error" : "tm-look-out"}>
      {output.text.split("\n").map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text that never changes.
        <span key={i}>
          {ansi(line).map((span, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: see above.
            <span key={n} className={span.style}>
              {span.text}
            </span>
          ))}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
