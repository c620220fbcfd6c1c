// What the address of the table view asks for; its parameters are those of the server's own tables.

import { href } from "../route.js";

const SINGLE = ["relation", "head", "tail", "by", "do", "at", "document", "limit"];
const SEVERAL = ["where", "show"];
const EXTREMES = ["smallest", "largest", "first", "last"];
const PERIOD = /^(?:(.*)\.)?(year|month|decade)$/;
/** The most rows or groups that the server sends. */
export const MOST = 1000;

/** The lookup in the address. */
export const lookupIn = (parameters) => ({
  ...Object.fromEntries(SINGLE.map((name) => [name, parameters.get(name) ?? ""])),
  ...Object.fromEntries(SEVERAL.map((name) => [name, parameters.getAll(name)])),
});

/** The column to sort by, and whether from the last to the first. */
export function sortIn(parameters) {
  const named = parameters.get("sort") ?? "";
  return { column: named.replace(/^-/, ""), down: named.startsWith("-") };
}

/** The address of a table. */
export const tableHref = (kb, lookup) => href("table", { kb, ...lookup });

/** Whether a lookup's limit is how many values are taken, not how many rows are shown. */
export const takesValues = ({ by, do: calculation }) => !by && EXTREMES.includes(calculation);

/** What to ask the server: as many rows as it sends, so that sorting and CSV have them all. */
export const asked = (lookup) => ({ ...lookup, limit: lookup.limit || (takesValues(lookup) ? "" : MOST) });

/** A grouping in its parts: what is grouped by, and a period of its date. */
export function groupingIn(by) {
  const [, field, period] = PERIOD.exec(by) ?? [];
  return period ? { field: field || "tail", period } : { field: by, period: "" };
}

/** The grouping of these parts; the dates of the rows' own values need no field. */
export const grouping = ({ field, period }) => (period ? (field === "tail" ? period : `${field}.${period}`) : field);

/** The lookup of the rows of one group, or null if a condition cannot name them. */
export function rowsOf(lookup, key) {
  const { field, period } = groupingIn(lookup.by);
  const rest = { ...lookup, by: "", limit: "" };
  if (/\||\.\./.test(key) || (period && field === "tail" && lookup.tail)) return null;
  const decade = key.slice(0, 3);
  const value = { "": key, decade: `${decade}0..${decade}9` }[period] ?? `${key}..${key}`;
  if (field === "head" || field === "tail") return { ...rest, [field]: `=${value}` };
  return { ...rest, where: [...lookup.where, `${field}=${value}`] };
}
