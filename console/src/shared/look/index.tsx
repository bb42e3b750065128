/** A look at a file without saving it. Nothing of it is run; what cannot be shown is told by its size. */
import { CloseOutlined, DownloadOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { FileItem } from "../../api/types";
import { bytes } from "../format";
import { Ago } from "../time";
import { Pending } from "../ui";
import { type Look, lookOf } from "./kinds";
import { Media } from "./media";
import { Notebook } from "./notebook";
import { type Read, useBeginning } from "./parts";
import { More, Rows, Text } from "./text";
import { parsed, Tree } from "./tree";

interface Props {
  item: FileItem;
  id: readonly unknown[];
  read: Read | undefined;
  save: () => void;
  close: () => void;
  /** Whether somebody has just chosen it: then the keyboard goes on here. */
  chosen: boolean;
}

export function Preview({ item, id, read, save, close, chosen }: Props): ReactNode {
  const { t } = useTranslation();
  const head = useRef<HTMLHeadingElement>(null);
  const look = read ? lookOf(item) : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each file that is chosen.
  useEffect(() => {
    if (chosen) head.current?.focus();
  }, [item.path]);
  return (
    <section
      className="tm-look"
      aria-label={item.path}
      onKeyDown={(event) => event.key === "Escape" && close()}
      data-testid="preview"
      data-look={look ?? "none"}
    >
      <header>
        <h3 ref={head} tabIndex={-1}>
          {item.name}
        </h3>
        <span className="tm-faint tm-num">
          {bytes(item.size)} · <Ago at={item.modified_at} />
        </span>
        {item.kind === "file" && (
          <Button size="small" icon={<DownloadOutlined />} onClick={save} data-testid="preview-download">
            {t("action.download")}
          </Button>
        )}
        <Button
          type="text"
          size="small"
          icon={<CloseOutlined />}
          onClick={close}
          aria-label={t("look.close")}
          data-testid="preview-close"
        />
      </header>
      {look === null || read === undefined ? (
        <Nothing item={item} />
      ) : look === "text" || look === "table" ? (
        <Beginning key={item.path} item={item} id={id} read={read} look={look} />
      ) : (
        <Whole key={item.path} item={item} id={id} read={read} look={look} />
      )}
    </section>
  );
}

function Nothing({ item }: { item: FileItem }): ReactNode {
  const { t } = useTranslation();
  const why = item.kind === "link" ? "look.link" : item.kind === "file" ? "look.none" : "look.special";
  return (
    <p className="tm-look-note tm-faint" data-testid="look-none">
      {t(why)}
    </p>
  );
}

/** What is looked at scrolls by itself, so the keyboard has to reach it. */
function Window({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
    <div className="tm-look-window" tabIndex={0} role="region" aria-label={name}>
      {children}
    </div>
  );
}

type Shown = { item: FileItem; id: readonly unknown[]; read: Read };

function Beginning({ item, id, read, look }: Shown & { look: "text" | "table" }): ReactNode {
  const { t } = useTranslation();
  const part = useBeginning(item, id, read);
  if (part.text === undefined) return <Pending query={part.query} rows={4} />;
  if (part.binary) return <Nothing item={item} />;
  if (item.size === 0) return <p className="tm-look-note tm-faint">{t("look.empty")}</p>;
  return (
    <>
      <Window name={t("look.contents", { name: item.name })}>
        {look === "table" ? <Rows text={part.text} name={item.name} whole={part.whole} /> : <Text text={part.text} />}
      </Window>
      <More of={part} size={item.size} />
    </>
  );
}

function Whole({ item, id, read, look }: Shown & { look: Exclude<Look, "text" | "table"> }): ReactNode {
  const { t } = useTranslation();
  const isText = look === "json" || look === "notebook";
  const query = useQuery({
    queryKey: ["preview", ...id, item.path, item.modified_at, item.size],
    queryFn: async ({ signal }) => {
      const blob = await read(item.path, signal);
      return isText ? await blob.text() : blob;
    },
    gcTime: 0,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.data === undefined) return <Pending query={query} rows={4} />;
  return (
    <Window name={t("look.contents", { name: item.name })}>
      {typeof query.data !== "string" ? (
        <Media blob={query.data} look={look} name={item.name} />
      ) : look === "notebook" ? (
        <Notebook text={query.data} name={item.name} />
      ) : (
        <Json text={query.data} />
      )}
    </Window>
  );
}

/** What is called JSON and is none is shown as it is. */
function Json({ text }: { text: string }): ReactNode {
  const value = parsed(text);
  return value === undefined ? <Text text={text} /> : <Tree value={value} />;
}
