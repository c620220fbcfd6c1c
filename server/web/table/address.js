// What the address of the tables' view asks for: a table with its filters, grouping and order, or a query.

import { href } from "../route.js";

const SIGN = /^(\S+) (is|not|has|from|to|none|some) ?(.*)$/su;

/** What the address asks for. */
export const askedIn = (parameters) => ({
  ...Object.fromEntries(["table", "by", "do", "sort", "sql"].map((name) => [name, parameters.get(name) ?? ""])),
  where: parameters.getAll("where").map((one) => SIGN.exec(one)).filter(Boolean).map(([, column, sign, value]) => ({ column, sign, value })),
});

/** The address of a table, or of a query. */
export const tableHref = (kb, { where = [], ...asked }) =>
  href("table", { kb, ...asked, where: where.map(({ column, sign, value }) => `${column} ${sign} ${value}`.trimEnd()) });
