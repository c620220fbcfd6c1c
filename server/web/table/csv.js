// A result as a CSV file.

/** Beginnings of cells that a spreadsheet would run. */
const RUN = /^[=+\-@\t\r]/;

/** The file of a result. */
export function csvOf({ columns, rows }) {
  const text = [columns, ...rows].map((line) => `${line.map(cell).join(",")}\n`).join("");
  // Without a byte order mark Excel does not read it as UTF-8.
  return new Blob(["\ufeff", text], { type: "text/csv" });
}

function cell(value) {
  const plain = Array.isArray(value) ? value.join("; ") : (value ?? "");
  const text = typeof plain === "string" && RUN.test(plain) ? `'${plain}` : String(plain);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
