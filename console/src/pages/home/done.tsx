/** What one did last, from the records of what people did. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AuditEvent } from "../../api/types";
import { useBilingual } from "../../i18n";
import { shortId } from "../../shared/format";
import { Ago } from "../../shared/time";
import { Part } from "./jobs";

export function Done({ events }: { events: AuditEvent[] }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  return (
    <Part
      title={t("home.did")}
      test="home-did"
      none={events.length === 0 && t("home.nothingDone")}
      more={
        <Link to="/audit" search={{}}>
          {t("home.allDone")}
        </Link>
      }
    >
      {events.map(({ id, at, subject, text }) => (
        <li key={id} data-testid="home-done">
          <span className="tm-grow tm-break tm-home-said" title={pick(text)}>
            {pick(text)}
            {subject.kind === "job" && (
              <>
                {" · "}
                <Link to="/jobs/$id" params={{ id: subject.name }} search={{}}>
                  {subject.title || shortId(subject.name)}
                </Link>
              </>
            )}
          </span>
          <span className="tm-line tm-nowrap">
            <Ago at={at} />
          </span>
        </li>
      ))}
    </Part>
  );
}
