/**
 * The session's key: the second of the two secrets by which a session is known, kept in this origin's own storage.
 *
 * A browser sends cookies to every port of a host, so to jobs that listen there, too. An origin has its port: no other page
 * reads this, and the browser sends it nowhere by itself. All tabs share it, so it is read when it is needed.
 */
const NAME = "trainmaster.key";

export const sessionKey = (): string => localStorage.getItem(NAME) ?? "";

export const keepKey = (key: string): void => localStorage.setItem(NAME, key);

export const forgetKey = (): void => localStorage.removeItem(NAME);

/** By this mark the server tells a browser in which `username` has signed in from strangers, who wait after failed sign-ins. */
const markName = (username: string): string => `trainmaster.browser.${username}`;

export const browserMark = (username: string): string | undefined =>
  localStorage.getItem(markName(username)) ?? undefined;

export const keepBrowserMark = (username: string, mark: string): void => localStorage.setItem(markName(username), mark);

/** Tell `listener` when another tab signs in or out. */
export function whenKeyChanges(listener: () => void): void {
  addEventListener("storage", (event) => {
    if (event.key === NAME || event.key === null) listener();
  });
}
