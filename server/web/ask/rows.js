// The rows that an answer rests on, as a small table.

import { grid, h, rowHead } from "../dom.js";
import { quoted } from "../markdown.js";
import { spaced } from "../names.js";
import { placeOf, sourceHref } from "../sources.js";
import { t } from "../strings.js";

const FEWEST = 2;
const MOST = 20;

/** The rows of an answer, with a link to the whole table; nothing for fewer than two of one relation. */
export function rowsTable(base, { answer }, whole) {
  const rows = (answer.rows ?? []).filter(({ cells }) => cells.length >= 3);
  if (rows.length < FEWEST || new Set(rows.map(({ cells }) => cells[1])).size > 1) return null;
  const head = [t("table.head"), spaced(rows[0].cells[1]), t("table.document")];
  const shown = rows.slice(0, MOST).map((row) => [rowHead(row.cells[0]), row.cells[2], source(row, answer)]);
  const element = h("div", { class: "answer-table" },
    grid(head, shown, { class: "answer-rows" }),
    rows.length > MOST && h("p", { class: "soft" }, t("graph.more.links", { n: rows.length - MOST })),
    whole,
  );
  // Then the table has all that the list of quotes would have.
  if (rows.length <= MOST && rows.every((row) => citationOf(row, answer))) element.dataset.complete = "yes";
  return element;
}

/** The citation that quotes a row. */
const citationOf = ({ text, documents }, { citations }) =>
  citations.find(({ document, quote }) => documents.includes(document) && (text.includes(quote) || quote.includes(text)));

function source(row, answer) {
  const one = citationOf(row, answer);
  if (!one) return row.documents.join(t("page.comma"));
  return h("a", { class: "quote", href: sourceHref(one) }, quoted(one.quote), h("cite", {}, placeOf(one)));
}
