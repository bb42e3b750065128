/** JSON, folded: what is within an object or a list is drawn once it is opened. */
import { Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { number } from "../format";

const PAGE = 100;

/** What a text means as JSON; undefined: it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function Tree({ value }: { value: unknown }): ReactNode {
  return (
    <div className="tm-look-json" data-testid="look-json">
      <Value value={value} open />
    </div>
  );
}

const isMany = (value: unknown): value is object => typeof value === "object" && value !== null;

function Value({ name, value, open = false }: { name?: string; value: unknown; open?: boolean }): ReactNode {
  if (isMany(value)) return <Many name={name} value={value} open={open} />;
  return (
    <div className="tm-look-leaf">
      {name !== undefined && <span className="tm-look-key">{name}: </span>}
      <span className={`tm-look-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>
    </div>
  );
}

function Many({ name, value, open }: { name: string | undefined; value: object; open: boolean }): ReactNode {
  const { t } = useTranslation();
  const [shows, setShows] = useState(open);
  const [most, setMost] = useState(PAGE);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  return (
    <details open={shows} onToggle={(event) => setShows(event.currentTarget.open)}>
      <summary>
        {name !== undefined && <span className="tm-look-key">{name}: </span>}
        <span className="tm-faint">
          {isList ? "[…]" : "{…}"} {number(entries.length)}
        </span>
      </summary>
      {shows && (
        <div className="tm-look-within">
          {entries.slice(0, most).map(([key, one]) => (
            <Value key={key} name={key} value={one} />
          ))}
          {entries.length > most && (
            <Button size="small" onClick={() => setMost(most + 10 * PAGE)}>
              {t("look.entries", { number: number(entries.length - most) })}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}
