// Cells of a result as people read them.

import { language, t } from "../strings.js";

/** A number; four digits have no separator, as they are often a year. */
export const plainNumber = (value) =>
  new Intl.NumberFormat(language(), { useGrouping: "min2", ...digits(value) }).format(value);

/** Up to six decimals are shown as they are; longer ones are rounded. */
function digits(value) {
  if (Number(value.toFixed(6)) === value) return { maximumFractionDigits: 6 };
  return Math.abs(value) >= 1 ? { maximumFractionDigits: 4 } : { maximumSignificantDigits: 4 };
}

/** A cell's text. */
export function cellText(value) {
  if (value === null) return "";
  if (typeof value === "number") return plainNumber(value);
  if (typeof value === "boolean") return t(value ? "table.yes" : "table.no");
  return Array.isArray(value) ? value.map(cellText).join("; ") : String(value);
}
