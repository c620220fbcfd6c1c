// Tables: a list of them, each as a grid that is sorted, filtered and counted by clicking, and SQL over all.

import { get, of, post } from "../api.js";
import { announce, button, failure, fill, fold, grid, h, rowHead, scrolling } from "../dom.js";
import { emptyView } from "../empty.js";
import { pager } from "../pages.js";
import { go, route } from "../route.js";
import { saved } from "../saving.js";
import { placeOf, sourceHref } from "../sources.js";
import { t } from "../strings.js";
import { askedIn, tableHref } from "./address.js";
import { catalogue, columnList, columnText } from "./catalogue.js";
import { cellText } from "./cells.js";
import { chart } from "./chart.js";
import { selectOf } from "./compose.js";
import { csvOf } from "./csv.js";
import { editor } from "./editor.js";
import { filterForm, groupForm } from "./filters.js";

const [PAGE, MOST, MOST_SAVED] = [100, 1000, 10000];
const [CITED, CUT] = [10, 200];

let view = null;

/** Show the view. */
export async function show(root, base) {
  const { items } = base ? await get(of(base, "/tables")) : { items: [] };
  if (!root.isConnected) return;
  if (!items.some(({ rows }) => rows)) {
    fill(root, emptyView(t("table.title")));
    return;
  }
  view = { base, tables: items, key: "", place: h("div", { class: "column wide" }) };
  fill(root, view.place);
  await follow();
}

/** Leave the view. */
export function leave() {
  view = null;
}

/** Show the table or the query in the address. */
export async function follow() {
  const me = view;
  if (!me) return;
  const asked = askedIn(route().parameters);
  const key = JSON.stringify(asked);
  if (key === me.key) return;
  me.key = key;
  const table = me.tables.find(({ name }) => name === asked.table);
  const sql = asked.sql || (table ? selectOf(asked, table.columns) : "");
  const results = h("section", { class: "listing" });
  const form = forms(me, asked, table, sql);
  fill(me.place, heading(me, asked, table), sql ? [form, results] : [results, form]);
  if (!sql) {
    fill(results, catalogue(me.base, me.tables));
    return;
  }
  try {
    const result = await post(of(me.base, "/sql"), { sql, limit: MOST, citations: MOST });
    if (me === view && me.key === key) draw({ me, asked, table: asked.sql ? null : table, result, results }, 0);
  } catch (error) {
    fill(results, failure(error));
  }
}

const heading = ({ base }, { sql }, table) =>
  h("div", { class: "view-head" },
    h("h1", {}, sql ? "SQL" : (table?.title ?? t("table.title"))),
    (sql || table) && h("a", { href: tableHref(base, {}) }, t("table.all")),
  );

function forms({ base, tables }, asked, table, sql) {
  const apply = (next) => go(tableHref(base, next));
  const isTable = table && !asked.sql;
  return h("div", { class: "card" },
    isTable && [filterForm(asked, table, apply), groupForm(asked, table, apply), fold(t("table.columns"), () => columnList(table))],
    editor(sql, tables, table?.name ?? "", (written) => apply({ table: asked.table, sql: written })),
  );
}

/** Show a page of a result, with what it rests on. */
function draw(shown, offset) {
  const { me, asked, result, results } = shown;
  const summary = [t("table.rows", { n: result.total }), coverage(result)].filter(Boolean).join(" · ");
  fill(
    results,
    h("div", { class: "view-head" },
      h("span", { class: "figure" }, summary),
      result.rows.length > 0 && button(t("table.csv"), () => save(me, asked, result)),
    ),
    notes(result).map((note) => h("p", { class: "soft" }, note)),
    (asked.by || asked.sql) && chart(result),
    result.rows.length ? gridOf(shown, offset) : h("p", { class: "notice" }, t("table.none")),
    pager({ offset, size: PAGE, total: result.rows.length, turn: (to) => draw(shown, to) }),
    !isPlaced(result) && citations(result),
  );
  announce(summary);
}

/** On how many records a result rests. */
function coverage({ records, left_out: left }) {
  if (records === null) return "";
  const missing = left.length === 1 ? left[0].empty + left[0].untyped : 0;
  return missing ? t("table.over.of", { n: records - missing, total: records }) : t("table.over", { n: records });
}

const lacks = (one) => ["empty", "untyped"].filter((name) => one[name]).map((name) => t(`table.${name}`, { n: one[name] }));

const notes = ({ left_out: left, notes: said, rows, total }) => [
  ...left.map(({ column, ...one }) => t("table.left", { column, what: lacks(one).join(t("page.comma")) })),
  ...said,
  ...(rows.length < total ? [t("table.cut", { n: rows.length, total })] : []),
];

/** Save all rows as CSV, also those that the page does not show. */
async function save({ base }, { table }, result) {
  const isAll = result.rows.length === result.total;
  const whole = isAll ? result : await post(of(base, "/sql"), { sql: result.sql, limit: MOST_SAVED });
  saved(csvOf(whole), `${base}-${table || "sql"}.csv`);
}

function gridOf(shown, offset) {
  const { asked, table, result } = shown;
  const head = result.columns.map((name, place) => columnHead(shown, name, place));
  const placed = isPlaced(result);
  const source = (one) => one && h("a", { href: sourceHref(one), title: one.quote }, placeOf(one));
  const cells = (row, number) => [
    ...row.map((value, place) => cellOf(shown, value, place)),
    ...(placed ? [source(result.citations[result.row_citations[offset + number] - 1])] : []),
  ];
  const rows = result.rows.slice(offset, offset + PAGE).map(cells);
  return scrolling(asked.sql ? "SQL" : table.title, grid(placed ? [...head, t("table.document")] : head, rows, { class: "sql-table" }));
}

/** Whether each row of a result has a source of its own. */
const isPlaced = ({ row_citations: cited }) => cited.length > 0;

/** A column's head: its name sorts, and a second button counts its values. */
function columnHead({ me, asked, table, result }, name, place) {
  const column = table?.columns.find((one) => one.name === name);
  const kind = place > 0 && result.kinds[place] === "number" ? "figure" : null;
  const unit = result.units[place] && h("span", { class: "soft" }, ` ${result.units[place]}`);
  if (!table || (!asked.by && !column)) return h("th", { scope: "col", class: kind }, name, unit);
  const mine = asked.sort.replace(/^-/, "") === name;
  const down = mine && asked.sort.startsWith("-");
  const sort = !mine ? name : down ? "" : `-${name}`;
  const counted = { ...asked, by: name, do: "", sort: "" };
  return h("th", { scope: "col", class: kind, "aria-sort": mine ? (down ? "descending" : "ascending") : null, title: column && columnText(column) },
    button([name, mine && h("span", { "aria-hidden": "true" }, down ? " ↓" : " ↑")], () => go(tableHref(me.base, { ...asked, sort })), { class: "link" }),
    unit,
    column && !(asked.by && place === 0) &&
      button("#", () => go(tableHref(me.base, counted)), { class: "link count", "aria-label": t("table.count.of", { name }) }),
  );
}

/** A cell; a group's key leads to its rows. */
function cellOf({ me, asked, table, result }, value, place) {
  const isFirst = place === 0;
  const text = cellText(value);
  const short = text.length > CUT ? h("span", { title: text }, `${text.slice(0, CUT)}…`) : text;
  const one = { column: asked.by, sign: value === null ? "none" : "is", value: String(value ?? "") };
  const rows = { ...asked, where: [...asked.where, one], by: "", do: "", sort: "" };
  const content = table && asked.by && isFirst ? h("a", { href: tableHref(me.base, rows) }, text || t("table.sign.none")) : short;
  return isFirst ? rowHead(content) : h("td", { class: result.kinds[place] === "number" ? "figure" : null }, content);
}

/** The first records that a result rests on, each a link to its place. */
const citations = ({ citations: cited, records }) =>
  cited.length > 0 && [
    h("h2", {}, t("table.sources")),
    h("ul", {}, cited.slice(0, CITED).map((one) => h("li", {}, h("a", { class: "quote", href: sourceHref(one) }, h("q", {}, one.quote), h("cite", {}, placeOf(one)))))),
    records > CITED && h("p", { class: "soft" }, t("table.sources.more", { n: records - Math.min(CITED, cited.length) })),
  ];
