// Rows as CSV.

/** Beginnings of cells that a spreadsheet would run. */
const RUN = /^[=+\-@\t\r]/;

/** A file of rows; `columns` as a table has them. */
export function csvOf(columns, rows) {
  const lines = [columns.map((one) => one.csv ?? one.name), ...rows.map((row) => columns.map((one) => one.value(row)))];
  const text = lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
  // Without a byte order mark Excel does not read it as UTF-8.
  return new Blob(["\ufeff", text], { type: "text/csv" });
}

function cell(value) {
  const text = typeof value === "string" && RUN.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
