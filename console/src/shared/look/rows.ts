/** The rows of a CSV or TSV text (RFC 4180: quotes may hold separators and line ends). Pure. */

/** `whole`: whether the text ends where the file does; else its last row is not all there, and left out. */
export function rowsOf(
  text: string,
  separator = text.split("\n", 1)[0]?.includes("\t") ? "\t" : ",",
  whole = true,
): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const end = (): void => {
    row.push(cell);
    if (row.length > 1 || cell !== "") rows.push(row);
    [row, cell] = [[], ""];
  };
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') {
      cell += '"';
      i += 1;
    } else if (c === '"' && (quoted || cell === "")) quoted = !quoted;
    else if (!quoted && c === separator) {
      row.push(cell);
      cell = "";
    } else if (!quoted && c === "\n") end();
    else if (quoted || c !== "\r") cell += c;
  }
  if (whole) end();
  return rows;
}
