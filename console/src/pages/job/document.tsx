/** The job's document, native or OpenPAI, JSON or YAML (R210). */
import { DownloadOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Segmented } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { readSpec } from "../../api/jobs";
import { saveText } from "../../shared/download";
import { Editor } from "../../shared/editor";
import { CopyButton, Pending } from "../../shared/ui";
import type { TabProps } from "./tab";

type Dialect = "native" | "pai";
type Form = "yaml" | "json";

export function DocumentTab({ job }: TabProps): ReactNode {
  const { t } = useTranslation();
  const [dialect, setDialect] = useState<Dialect>(job.dialect === "pai" ? "pai" : "native");
  const [form, setForm] = useState<Form>("json");
  const query = useQuery({
    queryKey: ["spec", job.id, dialect, form],
    queryFn: () => readSpec(job.id, dialect, form),
    staleTime: Infinity,
  });
  return (
    <section className="tm-panel">
      <div className="tm-log-bar">
        <Segmented<Dialect>
          value={dialect}
          onChange={setDialect}
          options={[
            { value: "native", label: t("job.json.native") },
            { value: "pai", label: t("job.json.pai") },
          ]}
        />
        <Segmented<Form>
          value={form}
          onChange={setForm}
          options={[
            { value: "json", label: "JSON" },
            { value: "yaml", label: "YAML" },
          ]}
        />
        <span className="tm-faint">{t("job.json.hint")}</span>
        <span className="tm-grow" />
        {query.data !== undefined && <CopyButton text={query.data} />}
        <Button
          icon={<DownloadOutlined />}
          onClick={() => query.data !== undefined && saveText(`${job.name}.${form}`, query.data)}
          disabled={query.data === undefined}
          data-testid="document-download"
          aria-label={t("action.download")}
        />
      </div>
      {query.data === undefined ? (
        <div className="tm-panel-body">
          <Pending query={query} />
        </div>
      ) : (
        <Editor value={form === "json" ? pretty(query.data) : query.data} language={form} testId="document" />
      )}
    </section>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
