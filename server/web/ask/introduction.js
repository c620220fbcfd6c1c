// What the documents are about, at a glance: above the first question.

import { get, of } from "../api.js";
import { failure, fill, fold, h } from "../dom.js";
import { spaced } from "../names.js";
import { href } from "../route.js";
import { sourceHref } from "../sources.js";
import { number, t } from "../strings.js";
import { suggestions } from "./suggestions.js";

const SUMMARIES = 200;

/** The introduction to a knowledge base; `ask(question)` asks one of the examples. */
export function introduction(base, ask) {
  const place = h("section", { class: "introduction", "aria-busy": "true" }, h("p", { class: "soft" }, t("intro.waits")));
  // While it is read, the user may go elsewhere and delete the knowledge base.
  const left = new AbortController();
  window.addEventListener("hashchange", () => left.abort(), { once: true });
  get(of(base, "/introduction"), {}, left.signal).then(
    (found) => fill(place, content(base, found, ask)).removeAttribute("aria-busy"),
    (error) => error.name !== "AbortError" && fill(place, failure(error)),
  );
  return place;
}

function content(base, found, ask) {
  return [
    h("h2", {}, t("intro.title", { base, n: found.documents })),
    found.summary && h("p", { class: "lead" }, found.summary),
    h("dl", {},
      row("intro.kinds", [kinds(found.kinds), !found.summary && found.dates && span(found.dates)].filter(Boolean).join(t("page.semicolon")), found.documents),
      row("intro.titles", titles(base, found), found.documents),
      found.chapters.length > 0 && row("intro.chapters", found.chapters.join(t("page.semicolon"))),
      found.openings.length > 0 && row("intro.openings", openings(found.openings)),
      found.tables.length > 0 && row("intro.tables", lines(found.tables)),
      found.entities.length > 0 && row("intro.entities", entities(base, found)),
      row("intro.unread", unread(found)),
    ),
    h("div", { class: "suggestions" }, suggestions(t("intro.examples"), found.examples, ask)),
    found.model && h("p", { class: "soft" }, offer(found.model)),
  ];
}

const row = (name, said, n) => h("div", {}, h("dt", {}, t(name, { n })), h("dd", {}, said));

const kinds = (counted) =>
  Object.entries(counted)
    .map(([name, n]) => `${number(n)} ${{ "e-mail": t("intro.kind.mail"), text: t("intro.kind.text") }[name] ?? name}`)
    .join(t("page.comma"));

const span = ([first, last]) => (first === last ? first : t("intro.dates", { first, last }));

function titles(base, { titles: shown, documents }) {
  const more = documents - shown.length;
  return [
    shown.join(t("page.semicolon")),
    more > 0 && [" ", h("a", { href: href("documents", { kb: base }) }, t("intro.more", { n: more })), summaries(base)],
  ];
}

/** The names that stand out, each with what was counted: documents, or how often it is said if these are few. */
const entities = (base, { entities: shown, counts_times: times }) =>
  h("ul", { class: "chips" },
    shown.map(({ id, name, type, documents, times: n }) =>
      h("li", {},
        h("a", { class: "chip", href: href("graph", { kb: base, id }), title: spaced(type) },
          name,
          h("span", { class: "soft" }, " ", times ? t("intro.times", { n }) : t("intro.in", { n: documents })),
        ),
      ),
    ),
  );

const lines = (shown) => h("ul", { class: "plain" }, shown.map((line) => h("li", {}, line)));

const openings = (shown) =>
  h("ul", { class: "plain" },
    shown.map(({ document, title, start, end, said }) =>
      h("li", {}, h("q", {}, said), " — ", h("a", { href: sourceHref({ document, start, end }) }, title)),
    ),
  );

/** The sentence that says best what each document is about, fetched when opened. */
function summaries(base) {
  const load = async () => {
    const { items, total } = await get(of(base, "/summaries"), { limit: SUMMARIES });
    return [
      items.map(({ document, title, start, end, said }) =>
        h("li", {}, h("a", { href: sourceHref({ document, start, end }) }, title), said && ` ${said}`),
      ),
      total > items.length && h("li", { class: "soft" }, t("graph.more.links", { n: total - items.length })),
    ];
  };
  return fold(t("intro.summaries"), load, { body: h("ul", { class: "plain summaries" }) });
}

/** What was not read, folded: it is no news at the second visit. */
function unread({ unread: files, left_out: out, partly_read: partly, pictures, chunks_failed: failed }) {
  const parts = Object.entries(partly);
  const pictured = Object.entries(pictures);
  const counted = [
    files.length && t("build.files.failed", { n: files.length }),
    parts.length && t("documents.partly", { n: parts.length }),
    failed && t("failures.title", { n: failed }),
  ].filter(Boolean);
  if (pictured.length) {
    const n = pictured.reduce((sum, [, number]) => sum + number, 0);
    counted.push(t("intro.pictures", { n, documents: t("intro.in", { n: pictured.length }) }) + (counted.length ? "" : t("intro.text")));
  }
  if (!counted.length && !out.length) return t("intro.unread.none");
  return h("details", {},
    h("summary", {}, counted.join(t("page.semicolon")) || t("intro.left")),
    h("ul", { class: "plain" },
      files.map((line) => h("li", {}, line)),
      parts.map(([document, note]) => h("li", {}, document, ": ", h("span", { class: "soft" }, note))),
      pictured.map(([document, n]) => h("li", { class: "soft" }, document, ": ", number(n))),
      out.map((line) => h("li", { class: "soft" }, line)),
    ),
  );
}

const offer = ({ cost }) => [t("intro.without"), cost !== null && t("intro.model.price", { cost: number(cost) })].filter(Boolean).join(" ");
