// The columns of a table: what their cells show, and in which order their rows are sorted.

import { h } from "../dom.js";
import { spaced } from "../names.js";
import { sourceHref } from "../sources.js";
import { language, number, t } from "../strings.js";
import { rowsOf, tableHref } from "./address.js";

const text = (name, title, value) => ({ name, title, value });

/** The columns of rows, each with its name in a CSV file, as `banyan facts --csv` writes it. */
export function rowColumns({ relation, rows }, { show }) {
  return [
    text("head", t("table.head"), (row) => row.head),
    { ...text("tail", spaced(relation), (row) => row.tail), csv: relation, order: orderOfTails(rows) },
    show.map((name) => ({
      ...text(`field:${name}`, spaced(name), (row) => (row.fields[name] ?? []).join("; ")),
      csv: name,
    })),
    rows.some((row) => row.time) && text("time", t("table.time"), (row) => row.time),
    {
      ...text("document", t("table.document"), (row) => row.document),
      cell: (row) => h("a", { href: sourceHref(row), title: row.quote }, row.document),
    },
  ]
    .flat()
    .filter(Boolean);
}

/** The columns of groups; a key leads to the rows of its group. */
export function groupColumns(kb, lookup) {
  const calculation = ["", "list", "count"].includes(lookup.do) ? "table.value" : `table.do.${lookup.do}`;
  const figure = (name, title) => ({
    ...text(name, title, (group) => group[name]),
    cell: (group) => number(group[name]),
    class: "figure",
  });
  return [
    {
      ...text("key", t("table.key"), (group) => group.key),
      cell: ({ key }) => {
        const rows = rowsOf(lookup, key);
        return rows ? h("a", { href: tableHref(kb, rows) }, key) : key;
      },
    },
    {
      ...figure("value", t(calculation)),
      // The first and last of dates are dates, the others numbers.
      ...(["first", "last"].includes(lookup.do) && { cell: (group) => group.said }),
    },
    figure("rows", t("table.count")),
  ];
}

/** Dates where most values are dates, numbers where some are, else the values themselves. */
function orderOfTails(rows) {
  if (rows.filter((row) => row.date).length * 2 > rows.length) return (row) => row.date;
  return rows.some((row) => row.number !== null) ? (row) => row.number : (row) => row.tail;
}

/** The rows sorted by a column; what has no value there comes last. */
export function sorted(rows, { value, order = value }, down) {
  const { compare } = new Intl.Collator(language(), { numeric: true });
  const empty = (key) => key === null || key === "";
  return rows.toSorted((one, other) => {
    const [a, b] = [order(one), order(other)];
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    return (typeof a === "number" ? a - b : compare(a, b)) * (down ? -1 : 1);
  });
}
