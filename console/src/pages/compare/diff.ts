/** A unified diff as lines with their numbers in both files. Pure. */

export interface DiffLine {
  kind: "added" | "removed" | "same" | "place" | "remark";
  /** With what it begins: +, - or a blank. */
  text: string;
  was: number | null;
  now: number | null;
  key: string;
}

const PLACE = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function linesOf(diff: string): DiffLine[] {
  const found: DiffLine[] = [];
  let [was, now] = [0, 0];
  let begun = false;
  for (const text of diff.split("\n").slice(0, -1)) {
    const place = PLACE.exec(text);
    const key = String(found.length);
    if (place) {
      [was, now, begun] = [Number(place[1]), Number(place[2]), true];
      found.push({ kind: "place", text, was: null, now: null, key });
    } else if (!begun) {
      // The names of the two files stand above.
    } else if (text.startsWith("+")) {
      found.push({ kind: "added", text, was: null, now, key });
      now += 1;
    } else if (text.startsWith("-")) {
      found.push({ kind: "removed", text, was, now: null, key });
      was += 1;
    } else if (text.startsWith("\\")) {
      found.push({ kind: "remark", text, was: null, now: null, key });
    } else {
      found.push({ kind: "same", text, was, now, key });
      was += 1;
      now += 1;
    }
  }
  return found;
}
