// The source reader: a document opened at the text that an answer or a fact quotes.
//
// Offsets are the server's, in code points; JavaScript counts UTF-16 units, hence `Array.from`.
// Only the visible part of a long document is fetched.

import { get, of } from "./api.js";
import { isSeveral } from "./bases.js";
import { dialog } from "./dialogs.js";
import { announce, button, failure, fill, h } from "./dom.js";
import { go, here, route } from "./route.js";
import { rendered } from "./markdown.js";
import { printedPages } from "./printed.js";
import { t } from "./strings.js";

const AROUND = 4000;
const MORE = 20000;
/** How far to search for a quote without a known position. */
const SEARCHED = 200000;

/** Endings of files whose text is Markdown, or was converted to it; other texts keep their line breaks. */
const MARKED = /\.(?:md|markdown|docx|html?|xhtml|pptx|xlsx?|xlsm|ods|odt|odp|csv|tsv|epub|ipynb|rst|org|xml)(?:#.*)?$/i;

let open = null;

/** The address that opens a document: at a span, at a quote without a known position, or at its beginning. */
export const sourceHref = ({ document, start = null, end = null, words = null }) =>
  here({ doc: document, start, end, words });

/** A document's name in a citation, with the page if it has pages. */
export const placeOf = ({ document, page }) => (page ? t("source.page", { document, page: String(page) }) : document);

/** Open or close the reader according to the address. */
export async function followSource(base) {
  const { parameters } = route();
  const id = parameters.get("doc");
  const what = id ? JSON.stringify([base, id, ...["start", "end", "words"].map((name) => parameters.get(name))]) : "";
  if (what === (open?.what ?? "")) return;
  const before = open;
  open = null;
  before?.close();
  if (!id) return;
  const me = { what };
  open = me;
  const [one, own] = isSeveral(base) ? [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)] : [base, id];
  await dialog(
    id,
    (close) => {
      me.close = close;
      return reader(one, own, parameters, close);
    },
    { class: "source", stays: true },
  );
  // Closed by the user rather than through the address, so update the address.
  if (open === me) {
    open = null;
    go(here({ doc: null, start: null, end: null, words: null }));
  }
}

function span(parameters) {
  const [start, end] = ["start", "end"].map((name) => Number.parseInt(parameters.get(name) ?? "", 10));
  return end > start && start >= 0 ? { start, end } : null;
}

function reader(base, id, parameters, close) {
  let quoted = span(parameters);
  const words = quoted ? null : parameters.get("words");
  const about = h("p", { class: "soft" });
  const beside = h("div", { class: "source-printed" });
  const body = h("div", { class: "source-text", tabindex: "0", role: "region", "aria-label": t("source.text") });
  const fetched = { start: quoted ? Math.max(0, quoted.start - AROUND) : 0, points: [], total: 0 };
  let marked = MARKED.test(id);
  const ask = async (start, end) => get(of(base, "/document"), { id, start, end });
  const widen = async (start, end) => {
    const found = await ask(start, end);
    const added = Array.from(found.text);
    fetched.total = found.characters;
    if (start < fetched.start) {
      fetched.points = [...added, ...fetched.points];
      fetched.start = start;
    } else {
      fetched.points = [...fetched.points, ...added];
    }
    quoted ??= words ? place(fetched.points.join(""), words) : null;
    const page = pageOf(found.pages, quoted?.start ?? start);
    if (found.drawn && !beside.children.length) {
      const said = quoted ? fetched.points.slice(quoted.start - fetched.start, quoted.end - fetched.start).join("") : "";
      fill(beside, printedPages(base, id, page || 1, found.pages.length, said));
    }
    const facts = [
      found.title,
      page && t("source.page.of", { page, pages: found.pages.length }),
      t("source.characters", { n: found.characters }),
    ];
    fill(about, facts.filter(Boolean).join(" · "));
    draw();
  };
  const draw = () => show(body, fetched, quoted, { widen, marked });
  const form = button(t("source.written"), () => {
    marked = !marked;
    form.setAttribute("aria-pressed", String(!marked));
    draw();
    reveal(body);
  });
  form.setAttribute("aria-pressed", String(!marked));
  const first = widen(fetched.start, quoted ? quoted.end + AROUND : words ? SEARCHED : MORE);
  first.then(() => reveal(body), (error) => fill(body, failure(error)));
  return [
    about,
    h("div", { class: "source-parts" }, body, beside),
    h("div", { class: "actions" },
      form,
      button(t("page.close"), () => close()),
    ),
  ];
}

/** The page of a character, from 1; 0 if there are no pages. */
const pageOf = (pages, character) => pages.filter((start) => start <= character).length;

/** The position of a quote in a text, in characters, or null. */
function place(text, words) {
  const at = text.indexOf(words);
  if (at < 0) return null;
  const start = Array.from(text.slice(0, at)).length;
  return { start, end: start + Array.from(words).length };
}

function show(body, { start, points, total }, quoted, { widen, marked }) {
  const end = start + points.length;
  const units = (point) => points.slice(0, Math.max(0, point - start)).join("").length;
  const words = quoted ? { from: units(quoted.start), to: units(quoted.end) } : {};
  fill(
    body,
    start > 0 && button(t("source.earlier"), () => widen(Math.max(0, start - MORE), start), { class: "quiet" }),
    rendered(points.join(""), { ...words, marked }),
    end < total && button(t("source.later"), () => widen(end, end + MORE), { class: "quiet" }),
  );
}

function reveal(body) {
  const mark = body.querySelector("mark");
  if (!mark) return;
  mark.scrollIntoView({ block: "center" });
  const words = [...body.querySelectorAll("mark")].map((one) => one.textContent).join(" ");
  announce(t("source.quoted", { words }));
}
