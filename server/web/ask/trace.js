// The trace of a question: for each round its sub-queries, the results of each route, the passages, the reflection.

import { h } from "../dom.js";
import { withoutBars } from "../markdown.js";
import { factText, spaced } from "../names.js";
import { sourceHref } from "../sources.js";
import { number, t } from "../strings.js";

const ROUTES = ["entity", "triple", "community", "dfs"];

/** A text in which `{answer 1}` is replaced by words for the result of step 1. */
const inWords = (text) => text.replace(/\{answer (\d+)\}/g, (_, number) => t("trace.answer.of", { number }));
/** How the server says that something was found, in its English words; the group is what they are about. */
const HOWS = {
  near: /^near the question \((.*)\)$/,
  names: /^the question names '(.*)'$/,
  community: /^community (.*)$/s,
};

function howInWords(how) {
  for (const [name, form] of Object.entries(HOWS)) {
    const found = form.exec(how);
    if (found) return t(`trace.how.${name}`, { what: found[1] });
  }
  return how;
}

const byRoute = (one, other) => ROUTES.indexOf(one.route) - ROUTES.indexOf(other.route);

/** The trace in a collapsible section. */
export function traceView({ question, steps }, open) {
  const rounds = byRound(steps);
  const understood = steps.find((step) => step.step === "question")?.text ?? question;
  const queries = steps.flatMap((step) => step.sub_queries ?? []).length;
  return h(
    "details",
    { class: "trace", open },
    h("summary", {}, `${t("trace.title")} `, h("span", { class: "soft" }, t("trace.sums", { n: queries }))),
    understood !== question && h("p", { class: "soft" }, t("trace.understood", { question: understood })),
    [...rounds].sort(([one], [other]) => one - other).map(([round, parts]) => roundView(round, parts)),
  );
}

/** Steps by round; sub-queries that a reflection asks for belong to the round that searches them. */
function byRound(steps) {
  const rounds = new Map();
  const of = (round) => {
    const empty = { queries: [], searches: [], surveys: [], fuse: null, reflect: null, notes: [] };
    if (!rounds.has(round)) rounds.set(round, empty);
    return rounds.get(round);
  };
  for (const step of steps) {
    const round = step.round ?? 1;
    if (step.step === "decompose") {
      of(round).queries.push(...(step.sub_queries ?? []));
      of(round).notes.push(...(step.notes ?? []));
    }
    if (step.step === "search") of(round).searches.push(step);
    if (step.step === "survey") of(round).surveys.push(step);
    if (step.step === "fuse") of(round).fuse = step;
    if (step.step === "reflect") {
      of(round).reflect = step;
      if (step.sub_queries?.length) of(round + 1).queries.push(...step.sub_queries);
    }
  }
  return rounds;
}

function roundView(round, { queries, searches, surveys, fuse, reflect, notes }) {
  return h(
    "section",
    { class: "round" },
    h("h3", {}, t("trace.round", { round })),
    h(
      "ol",
      { class: "queries" },
      queries
        .toSorted((one, other) => one.number - other.number)
        .map((query) => queryView(query, searches.filter((one) => (one.number ?? 0) === query.number).sort(byRoute))),
    ),
    surveys.map(surveyView),
    fuse && passagesView(fuse),
    reflect && reflectionView(reflect),
    [...notes, ...(reflect?.notes ?? [])].map((note) => h("p", { class: "soft note" }, inWords(note))),
  );
}

function queryView(query, searches) {
  const elements = [...(query.entity_types ?? []), ...(query.relations ?? []), ...(query.attributes ?? [])];
  return h(
    "li",
    {},
    h("p", {}, h("span", { class: "number" }, String(query.number)), inWords(query.question)),
    h(
      "p",
      { class: "chips" },
      query.follows?.length > 0 &&
        h("span", { class: "soft" }, t("trace.follows", { numbers: query.follows.join(", ") })),
      elements.map((name) => h("span", { class: "chip" }, spaced(name))),
    ),
    searches.map(searchView),
  );
}

/** Reports are prose; the other routes find entities and facts. */
const searchView = ({ route, ...step }) =>
  findings(t(`trace.route.${route}`), step, route === "community" ? withoutBars : factText);
const surveyView = (step) => findings(t("trace.survey"), step, withoutBars);

function findings(name, { total = 0, found = [] }, inWordsOf) {
  return h(
    "details",
    { class: "search" },
    h(
      "summary",
      {},
      h("span", { class: "route" }, name),
      " ",
      h("span", { class: "soft" }, t("trace.found", { n: total })),
    ),
    h(
      "ul",
      {},
      found.map((one) =>
        h(
          "li",
          {},
          h("meter", { min: 0, max: 1, value: one.score, "aria-label": t("trace.score"), title: number(one.score) }),
          h(
            "div",
            {},
            h("p", {}, inWordsOf(one.text)),
            one.how && h("p", { class: "soft" }, howInWords(one.how)),
            h("p", { class: "documents" }, (one.documents ?? []).map(documentLink)),
          ),
        ),
      ),
    ),
  );
}

const documentLink = (id) => h("a", { href: sourceHref({ document: id }) }, id);

function passagesView({ passages = [], total = 0, text }) {
  return h(
    "details",
    { class: "search" },
    h(
      "summary",
      {},
      h("span", { class: "route" }, t("trace.passages")),
      " ",
      h("span", { class: "soft" }, t("trace.best", { n: total })),
    ),
    text && h("p", { class: "soft" }, inWords(text)),
    h(
      "ul",
      {},
      passages.map((one) =>
        h(
          "li",
          {},
          h("meter", { min: 0, max: 1, value: one.score, "aria-label": t("trace.score"), title: number(one.score) }),
          h(
            "div",
            {},
            h("p", {}, one.title || one.document),
            h("p", { class: "documents" }, documentLink(one.document)),
          ),
        ),
      ),
    ),
  );
}

function reflectionView({ sufficient, text, sub_answers: answers = [] }) {
  return h(
    "div",
    { class: "reflection" },
    h(
      "p",
      {},
      h("span", { class: "route" }, t("trace.reflection")),
      " ",
      sufficient ? t("trace.sufficient") : t("trace.missing"),
      text ? ` ${inWords(text)}` : "",
    ),
    answers.length > 0 &&
      h(
        "ul",
        {},
        answers.map((one) => h("li", {}, inWords(one.question), " → ", h("strong", {}, one.answer || "?"))),
      ),
  );
}
