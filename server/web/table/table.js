// Tables of a relation or an attribute: filtered, grouped, computed, sorted, and saved as CSV.

import { get, of } from "../api.js";
import { announce, button, failure, fill, grid, h, rowHead, scrolling } from "../dom.js";
import { emptyView } from "../empty.js";
import { spaced } from "../names.js";
import { pager } from "../pages.js";
import { go, here, route } from "../route.js";
import { saved } from "../saving.js";
import { number, t } from "../strings.js";
import { asked, lookupIn, sortIn, tableHref, takesValues } from "./address.js";
import { groupColumns, rowColumns, sorted } from "./columns.js";
import { csvOf } from "./csv.js";
import { counted, Query } from "./query.js";

const PAGE = 100;

let view = null;

/** Show the view. */
export async function show(root, base) {
  const { items } = base ? await get(of(base, "/fields")) : { items: [] };
  if (!root.isConnected) return;
  if (!items.length) {
    fill(root, emptyView(t("table.title")));
    return;
  }
  // A relation and an attribute of one name are one table.
  const fields = [...new Map(items.toReversed().map((one) => [one.name, one])).values()].toReversed();
  view = { base, fields, key: "", table: null, lookup: null, offset: 0, sort: {}, results: h("section", { class: "listing" }) };
  view.query = new Query(fields, (lookup) => go(tableHref(base, lookup)));
  fill(
    root,
    h("div", { class: "column wide" }, h("h1", {}, t("table.title")), view.query.element, view.results),
  );
  await follow();
}

/** Leave the view. */
export function leave() {
  view = null;
}

/** Show the table in the address, in its order. */
export async function follow() {
  const me = view;
  if (!me) return;
  const { parameters } = route();
  const lookup = lookupIn(parameters);
  const key = JSON.stringify(lookup);
  const sort = sortIn(parameters);
  if (key === me.key) {
    if (me.table && JSON.stringify(sort) !== JSON.stringify(me.sort)) draw({ sort, offset: 0 });
    return;
  }
  Object.assign(me, { key, lookup, table: null });
  me.query.set(lookup);
  if (!lookup.relation) {
    fill(me.results, overview());
    return;
  }
  try {
    const table = await get(of(me.base, "/table"), asked(lookup));
    if (me !== view || me.key !== key) return;
    draw({ table, sort: sortIn(route().parameters), offset: 0 });
    announce(summary(me).join(" · "));
  } catch (error) {
    if (me === view && me.key === key) fill(me.results, failure(error));
  }
}

/** What can be chosen. */
const overview = () => [
  h("p", { class: "soft" }, t("table.about")),
  h("ul", { class: "links-row" },
    view.fields.map(({ name, rows }) =>
      h("li", {}, h("a", { href: tableHref(view.base, { relation: name }) }, counted(name, rows))),
    ),
  ),
];

/** What was computed, in a few words. */
function summary({ table: { do: calculation, value, unit, total, groups }, lookup }) {
  const result = [number(value ?? 0), unit].filter(Boolean).join(" ");
  return [
    value !== null && t("table.result", { what: t(`table.do.${calculation}`), value: result }),
    lookup.by && t("table.groups", { n: groups.length }),
    t("table.rows", { n: total }),
  ].filter(Boolean);
}

/** What is not shown: the server's notes, and what its limit cut. */
function notes({ table: { notes: left, rows, groups, total }, lookup }) {
  const limit = asked(lookup).limit;
  const cut = lookup.by
    ? groups.length === Number(limit) && t("table.cut.groups", { n: groups.length })
    : !takesValues(lookup) && rows.length < total && t("table.cut", { n: rows.length, total });
  return [...left, cut].filter(Boolean);
}

function draw(changes) {
  const me = Object.assign(view, changes);
  const { base, table, lookup, sort, offset } = me;
  const focused = me.results.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const columns = lookup.by ? groupColumns(base, lookup) : rowColumns(table, lookup);
  const by = columns.find((one) => one.name === sort.column);
  const all = lookup.by ? table.groups : table.rows;
  const rows = by ? sorted(all, by, sort.down) : all;
  const quote = { name: "quote", value: (row) => row.quote };
  const save = () => saved(csvOf(lookup.by ? columns : [...columns, quote], rows), `${base}-${table.relation}.csv`);
  fill(
    me.results,
    h("div", { class: "view-head" },
      h("h2", {}, spaced(table.relation)),
      h("span", { class: "figure" }, summary(me).join(" · ")),
      rows.length > 0 && button(t("table.csv"), save),
    ),
    notes(me).map((note) => h("p", { class: "soft" }, note)),
    rows.length ? tableOf(columns, rows.slice(offset, offset + PAGE)) : h("p", { class: "notice" }, t("table.none")),
    pager({ offset, size: PAGE, total: rows.length, turn: (to) => draw({ offset: to }) }),
  );
  if (focused) me.results.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function tableOf(columns, rows) {
  const { table, sort } = view;
  const [first, ...others] = columns;
  const body = ({ cell, value }, row) => (cell ?? value)(row);
  const cells = (row) => [
    rowHead(body(first, row)),
    ...others.map((column) => h("td", { class: column.class }, body(column, row))),
  ];
  const head = columns.map((column) => heading(column, sort));
  return scrolling(spaced(table.relation), grid(head, rows.map(cells), { class: "fact-table" }));
}

/** A column's head: a click sorts by it, a second one the other way, a third one as the server does. */
function heading({ name, title }, { column, down }) {
  const mine = name === column;
  const next = !mine ? name : down ? null : `-${name}`;
  return h("th", { scope: "col", "aria-sort": mine ? (down ? "descending" : "ascending") : null },
    button([title, mine && h("span", { "aria-hidden": "true" }, down ? " ↓" : " ↑")], () => go(here({ sort: next })), {
      class: "link",
      "data-key": name,
    }),
  );
}
