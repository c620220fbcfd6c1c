// The row below an answer: copy, rating, the facts behind it, and follow-up questions.

import { of, post, put } from "../api.js";
import { isSeveral } from "../bases.js";
import { copied } from "../copying.js";
import { button, failure, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { href } from "../route.js";
import { t } from "../strings.js";
import { placeOf } from "../sources.js";
import { toast } from "../toasts.js";
import { evidenceOf, spans } from "./evidence.js";
import { suggestions } from "./suggestions.js";

/** The actions on an answer, and the facts that its citations state. */
export function afterAnswer(talk, turn) {
  const rate = (value) => {
    return button(
      t(value > 0 ? "rate.good" : "rate.bad"),
      async () => {
        const rating = turn.rating === value ? 0 : value;
        const path = `threads/${talk.thread}/turns/${turn.number}/rating`;
        await put(path, { rating }, { parameters: { kb: talk.base } });
        turn.rating = rating;
        for (const one of row.querySelectorAll("[data-rating]"))
          one.setAttribute("aria-pressed", String(Number(one.dataset.rating) === rating));
        toast(t("rate.kept"));
      },
      { class: "quiet small", "data-rating": value, "aria-pressed": String(turn.rating === value) },
    );
  };
  const row = h("div", { class: "after", role: "group", "aria-label": t("rate.label") },
    button(t("answer.copy"), () => copied(asMarkdown(turn)), { class: "quiet small" }),
    turn.number && !talk.readOnly && [rate(1), rate(-1)],
  );
  return [row, !turn.answer.abstained && turn.answer.citations.length > 0 && factsView(talk.base, turn)];
}

/** An answer with its sources as Markdown, for pasting elsewhere. */
function asMarkdown({ question, text, answer }) {
  const known = new Set(answer.citations.map((one) => String(one.id)));
  const noted = text.replace(/\[(\d+)\]/g, (mark, id) => (known.has(id) ? `[^${id}]` : mark));
  const sources = answer.citations.map((one) => `[^${one.id}]: ${placeOf(one)}: “${one.quote.replace(/\s+/g, " ")}”`);
  return [`**${question}**`, "", noted.split("\n").join("\n\n"), "", ...sources].join("\n");
}

/** The graph facts that the cited text states; nothing where it states none. */
function factsView(base, turn) {
  const list = h("ul", { class: "plain fact-list" });
  const fold = h("details", { class: "facts-fold", hidden: true }, h("summary", {}, t("answer.facts")), list);
  evidenceOf(base, turn).then(
    ({ nodes, edges }) => {
      const names = new Map(nodes.map((node) => [node.id, node.name]));
      const entity = (id) => h("a", { href: href("graph", { kb: base, id }) }, names.get(id));
      fold.hidden = !edges.length;
      fill(
        list,
        edges.map((edge) =>
          h("li", {},
            h("p", { class: "fact" },
              [entity(edge.source), " ", h("span", { class: "relation" }, spaced(edge.relation)), " ", entity(edge.target)],
            ),
          ),
        ),
      );
    },
    (error) => fold.replaceWith(failure(error)),
  );
  return fold;
}

/** Follow-up questions to an answer; `ask(question)` asks one. */
export function followUps(talk, { answer }, ask) {
  const place = h("div", { class: "suggestions follow-ups" });
  if (isSeveral(talk.base)) return place;
  const asked = new Set(talk.turns.map((turn) => turn.question));
  post(of(talk.base, "/questions/next"), { citations: spans(answer) }).then(
    ({ items }) => fill(place, suggestions(t("ask.next"), items.filter((one) => !asked.has(one)), ask)),
    (error) => fill(place, failure(error)),
  );
  return place;
}
