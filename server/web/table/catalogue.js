// The list of tables, and the columns of one.

import { grid, h, rowHead, scrolling } from "../dom.js";
import { number, t } from "../strings.js";
import { tableHref } from "./address.js";

/** All tables: those of records and of the graph with their columns, relations and attributes in a row. */
export function catalogue(base, tables) {
  const isTerm = ({ kind }) => kind === "relation";
  const link = ({ name }) => h("a", { href: tableHref(base, { table: name }) }, name);
  const row = (one) => [
    rowHead(link(one), one.kind === "records" && one.title !== one.name && h("span", { class: "soft id" }, one.title)),
    h("td", { class: "figure" }, number(one.rows)),
    h("td", { class: "figure" }, number(one.documents)),
    h("td", { class: "soft" }, one.columns.map(({ name }) => name).join(t("page.comma"))),
  ];
  const head = ["name", "rows.column", "documents", "columns"].map((name) => t(`table.${name}`));
  const terms = tables.filter(isTerm);
  return [
    h("p", { class: "soft" }, t("table.about")),
    scrolling(t("table.title"), grid(head, tables.filter((one) => !isTerm(one)).map(row), { class: "sql-table table-list" })),
    terms.length > 0 && h("h2", {}, t("table.terms")),
    terms.length > 0 &&
      h("ul", { class: "links-row" }, terms.map((one) => h("li", {}, link(one), h("span", { class: "soft figure" }, ` ${number(one.rows)}`)))),
  ];
}

/** The columns of a table. */
export const columnList = ({ columns }) => h("ul", {}, columns.map((one) => h("li", {}, h("strong", {}, one.name), ` ${columnText(one)}`)));

/** What is in a column: its kind and unit, how many cells are empty or of another kind, and its values. */
export function columnText({ kind, unit, units, distinct, empty, untyped, smallest, largest, frequent }) {
  return [
    t(`table.kind.${kind}`),
    unit || units.join(t("page.comma")),
    t("table.distinct", { n: distinct }),
    empty > 0 && t("table.empty", { n: empty }),
    untyped > 0 && t("table.untyped", { n: untyped }),
    smallest || largest ? `${smallest} – ${largest}` : frequent.map(([value]) => value).join(t("page.comma")),
  ].filter(Boolean).join(" · ");
}
