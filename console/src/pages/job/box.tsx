/** The box above the tabs of a job: what its reader must know first. */
import type { ReactNode } from "react";

export function Box({
  tone,
  icon,
  title,
  test,
  children,
}: {
  tone: string;
  icon: ReactNode;
  title: string;
  test: string;
  children: ReactNode;
}): ReactNode {
  return (
    <section className={`tm-verdict tm-verdict-${tone}`} data-testid={test}>
      <span className="tm-verdict-icon">{icon}</span>
      <div className="tm-grow">
        <h2>{title}</h2>
        {children}
      </div>
    </section>
  );
}
