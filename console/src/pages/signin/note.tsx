/** What went wrong, said at once to a screen reader, too. */
import type { ReactNode } from "react";

export function Note({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="tm-signin-note" role="alert" data-testid="signin-error">
      <strong>{title}</strong>
      {children && <div>{children}</div>}
    </div>
  );
}
