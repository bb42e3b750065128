/** A text editor for JSON and YAML: numbers, folding, search, the colours of the theme. Read-only without `onChange`. */
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { type ReactNode, useEffect, useEffectEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useFillHeight } from "./fill";

interface Props {
  value: string;
  language: "json" | "yaml";
  /** A CSS height; without one it fills the window. */
  height?: string;
  onChange?: (text: string) => void;
  testId?: string;
}

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--blue)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--green)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--amber)" },
  { tag: tags.comment, color: "var(--faint)" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--code-bg)", color: "var(--text)", fontSize: "12.5px" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--code-bg)", color: "var(--log-line)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--blue) 24%, transparent) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)" },
  "&.cm-focused, &:focus-within": { outline: "2px solid var(--blue)", outlineOffset: "-2px" },
});

export function Editor({ value, language, height, onChange, testId }: Props): ReactNode {
  const { t } = useTranslation();
  const label = useEffectEvent((): string => t("unit.document"));
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const fill = useRef<HTMLDivElement>(null);
  useFillHeight(fill, 42);
  const listener = useRef(onChange);
  listener.current = onChange;
  const editable = onChange !== undefined;
  // The document is put in by the effect further below when it changes from outside.
  const first = useEffectEvent((): string => value);

  useEffect(() => {
    if (!host.current) return undefined;
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: first(),
        extensions: [
          basicSetup,
          look,
          syntaxHighlighting(colors),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label() }),
          language === "json" ? [json(), editable ? linter(jsonParseLinter()) : []] : yaml(),
          EditorState.readOnly.of(!editable),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) listener.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    made.scrollDOM.tabIndex = 0; // what scrolls is reached by the keyboard, also where nothing can be typed
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
  }, [language, editable]);

  useEffect(() => {
    const made = view.current;
    if (made && made.state.doc.toString() !== value)
      made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value } });
  }, [value]);

  return (
    <div ref={height === undefined ? fill : undefined} style={{ height }} data-testid={testId}>
      <div ref={host} className="tm-editor" />
    </div>
  );
}
