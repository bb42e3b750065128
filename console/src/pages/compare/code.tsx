/** What differs in the code of two of the jobs, file by file. */
import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readCodeDiff } from "../../api/compare";
import type { CodeDiff, FileDiff } from "../../api/types";
import { bytes } from "../../shared/format";
import { Empty, Pending } from "../../shared/ui";
import { type DiffLine, linesOf } from "./diff";
import type { PartProps } from "./part";
import { namesOf } from "./table";

/** Files beyond are shown when they are opened. */
const OPEN = 10;

export function CodeTab({ found, search, update }: PartProps): ReactNode {
  const { t } = useTranslation();
  const names = namesOf(found.jobs);
  const ids = found.jobs.map((job) => job.id);
  const base = ids.find((id) => id === search.base) ?? ids[0] ?? "";
  const other = ids.find((id) => id === search.other) ?? ids.find((id) => id !== base) ?? "";
  const query = useQuery({
    queryKey: ["compare-code", base, other],
    queryFn: ({ signal }) => readCodeDiff(base, other, signal),
    enabled: other !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (other === "")
    return (
      <div className="tm-panel">
        <Empty title={t("compare.code.two")} />
      </div>
    );
  const options = ids.map((value, at) => ({ value, label: names[at] ?? value }));
  return (
    <>
      <div className="tm-toolbar">
        {(["base", "other"] as const).map((side) => (
          <div className="tm-switch" key={side}>
            <span>{t(`compare.code.${side}`)}</span>
            <Select
              value={side === "base" ? base : other}
              onChange={(id: string) => update({ [side]: id })}
              aria-label={t(`compare.code.${side}`)}
              options={options}
              showSearch={{ optionFilterProp: "label" }}
              className="tm-compare-choice"
              data-testid={`compare-${side}`}
            />
          </div>
        ))}
      </div>
      {query.data ? (
        <Changes diff={query.data} nameOf={(id) => names[ids.indexOf(id)] ?? id} />
      ) : (
        <Pending query={query} />
      )}
    </>
  );
}

function Changes({ diff, nameOf }: { diff: CodeDiff; nameOf: (id: string) => string }): ReactNode {
  const { t } = useTranslation();
  if (diff.gone.length > 0 || (diff.base_code === null && diff.other_code === null))
    return (
      <div className="tm-panel" data-testid="compare-code">
        <Empty
          title={
            diff.gone.length > 0
              ? t("compare.code.gone", { names: diff.gone.map(nameOf).join(t("mark.comma")) })
              : t("compare.code.neither")
          }
        />
      </div>
    );
  return (
    <div className="tm-stack" data-testid="compare-code">
      {diff.files.map((file, i) => (
        <ChangedFile key={file.path} file={file} open={i < OPEN} />
      ))}
      <p className="tm-faint">
        {diff.files.length === 0 && diff.left_out === 0
          ? t("compare.code.same")
          : [
              t("compare.code.rest", { count: diff.same }),
              diff.left_out > 0 ? t("compare.code.more", { count: diff.left_out }) : "",
            ].join(" ")}
      </p>
    </div>
  );
}

function ChangedFile({ file, open }: { file: FileDiff; open: boolean }): ReactNode {
  const { t } = useTranslation();
  const lines = useMemo(() => linesOf(file.diff), [file.diff]);
  const [more, less] = [lines.filter((line) => line.kind === "added"), lines.filter((line) => line.kind === "removed")];
  const note = noteOf(file);
  return (
    <details className="tm-panel tm-compare-file" open={open} data-testid="compare-file">
      <summary>
        <code className="tm-mono">{file.path}</code>
        <span className={`tm-compare-${file.change}`}>{t(`compare.code.change.${file.change}`)}</span>
        {lines.length > 0 && (
          <span className="tm-num">
            <span className="tm-compare-added">+{more.length}</span>{" "}
            <span className="tm-compare-removed">−{less.length}</span>
          </span>
        )}
        <span className="tm-faint tm-num">
          {file.change === "changed" ? `${bytes(file.was)} → ${bytes(file.size)}` : bytes(file.was + file.size)}
        </span>
      </summary>
      {lines.length > 0 && (
        <div className="tm-compare-diff">
          {lines.map((line) => (
            <Row key={line.key} line={line} />
          ))}
        </div>
      )}
      {note !== undefined && <p className="tm-faint tm-compare-note">{t(`compare.code.${note}`)}</p>}
    </details>
  );
}

function noteOf(file: FileDiff): "binary" | "large" | "cut" | "mode" | undefined {
  if (file.binary) return "binary";
  if (file.cut) return file.diff === "" ? "large" : "cut";
  return file.diff === "" && file.change === "changed" ? "mode" : undefined;
}

function Row({ line }: { line: DiffLine }): ReactNode {
  return (
    <div className={`tm-compare-row tm-compare-row-${line.kind}`}>
      <span className="tm-compare-number" aria-hidden>
        {line.was ?? ""}
      </span>
      <span className="tm-compare-number" aria-hidden>
        {line.now ?? ""}
      </span>
      <code>{line.text}</code>
    </div>
  );
}
