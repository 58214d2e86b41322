"use strict";
// Tables as text: what is pasted, and what is given back.

const NO_VALUE = new Set(
  ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "NULL", ".", "?"].concat(
    ["None", "none", "null", "Null", "na"],
  ),
);
const WORDS = new Map([["true", 1], ["false", 0]]);

/** Return the cells of a table, whose delimiter is the most frequent one of its first line. */
function parseTable(text) {
  const first = text.split(/\r?\n/, 1)[0];
  const count = (mark) => first.split(mark).length;
  const delimiter = ["\t", ";", ","].reduce((a, b) => (count(b) > count(a) ? b : a));
  const rows = [[]];
  let cell = "";
  let quoted = false;
  const closeCell = () => {
    rows[rows.length - 1].push(cell.trim());
    cell = "";
  };
  for (let i = 0; i < text.length; i += 1) {
    const letter = text[i];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') cell += text[(i += 1)];
      else quoted = false;
    } else if (letter === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (letter === delimiter) {
      closeCell();
    } else if (letter === "\n") {
      closeCell();
      rows.push([]);
    } else if (letter !== "\r") {
      cell += letter;
    }
  }
  closeCell();
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}

/** Return a cell as a number: NaN where it is missing, null where it is no number. */
function numberOf(text) {
  const cell = text.trim();
  if (NO_VALUE.has(cell)) return NaN;
  if (WORDS.has(cell.toLowerCase())) return WORDS.get(cell.toLowerCase());
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : null;
}

/** Return rows of cells as CSV. */
function toCsv(rows) {
  const quote = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map((cell) => quote(String(cell))).join(",") + "\n").join("");
}
