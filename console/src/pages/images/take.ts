/** What an image is made of: packages that were typed, the files of a project, or a container; and what chosen files make of it. Pure. */

export interface Definition {
  /** The text of a requirements.txt. It counts where there is no project. */
  requirements: string;
  pyproject: string | null;
  lock: string | null;
  /** The reference of a container; null: it is none. `secret`: for its registry, "" for none. */
  container: string | null;
  secret: string;
}

export const NOTHING: Definition = { requirements: "", pyproject: null, lock: null, container: null, secret: "" };

export const isProject = ({ pyproject, lock }: Definition): boolean => pyproject !== null || lock !== null;

/** Whether there is something to build. */
export const isWhole = (given: Definition): boolean => {
  if (given.container !== null) return given.container.trim() !== "";
  return isProject(given) ? given.pyproject !== null : given.requirements.trim() !== "";
};

type Fields =
  | { requirements: string }
  | { pyproject: string; uv_lock?: string }
  | { container: string; secret: string };

/** The fields of a request. */
export function fieldsOf(given: Definition): Fields {
  if (given.container !== null) return { container: given.container.trim(), secret: given.secret };
  return given.pyproject === null
    ? { requirements: given.requirements }
    : { pyproject: given.pyproject, ...(given.lock !== null && { uv_lock: given.lock }) };
}

/** `given` with files that were chosen: a project's by their names, any other is a list of packages, which is typed on. */
export function withFiles(given: Definition, files: Iterable<{ name: string; text: string }>): Definition {
  let now = given;
  for (const { name, text } of files) {
    if (name.endsWith(".toml")) now = { ...now, pyproject: text };
    else if (name.endsWith(".lock")) now = { ...now, lock: text };
    else now = { ...now, pyproject: null, lock: null, requirements: text };
  }
  return now;
}
