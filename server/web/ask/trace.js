// The trace of a question: the first look, then each round's thought and lookups with what they found, then the answer.

import { h } from "../dom.js";
import { withoutBars } from "../markdown.js";
import { factText, seedText } from "../names.js";
import { sourceHref } from "../sources.js";
import { t } from "../strings.js";
import { tableHref } from "../table/address.js";

const LOOKUPS = new Set(["first_look", "search"]);
const THOUGHTS = new Set(["decompose", "reflect"]);

/** The trace in a collapsible section. */
export function traceView(turn, open, base = "") {
  const { question, steps } = turn;
  const understood = steps.find((step) => step.step === "question")?.text ?? question;
  const lookups = steps.filter((step) => step.step === "search").length;
  return h("details", { class: "trace", open },
    h("summary", {},
      `${t("trace.title")} `,
      lookups > 0 && h("span", { class: "soft" }, t("trace.lookups", { n: lookups })),
    ),
    understood !== question && h("p", { class: "soft" }, t("trace.understood", { question: understood })),
    [...byRound(steps)].map(([round, parts]) => roundView(round, parts, (step) => tableLink(base, turn, step))),
  );
}

/** Thoughts and lookups by round, in order; a thought is in the round whose lookups it asks for, or in the last. */
function byRound(steps) {
  const rounds = new Map();
  const of = (round) => rounds.get(round) ?? rounds.set(round, { thoughts: [], lookups: [] }).get(round);
  for (const step of steps) {
    if (LOOKUPS.has(step.step)) of(step.round).lookups.push(step);
    if (THOUGHTS.has(step.step)) of(step.lookups?.length ? step.round + 1 : step.round).thoughts.push(step);
  }
  return rounds;
}

function roundView(round, { thoughts, lookups }, opened) {
  const answers = thoughts.filter((step) => !step.lookups?.length);
  return h("section", { class: "round" },
    h("h3", {}, round === 1 ? t("trace.first") : t("trace.round", { round })),
    thoughts.filter((step) => step.lookups?.length).map(thoughtView),
    lookups.map((step) => lookupView(step, opened)),
    answers.map(thoughtView),
  );
}

const thoughtView = ({ text, notes = [] }) => [text && h("p", {}, text), notes.map(noteView)];
const noteView = (note) => h("p", { class: "soft note" }, seedText(note));

/** A lookup with the first of its findings; the server writes its tool before its arguments. */
function lookupView(step, opened) {
  const { tool, text = "", total = 0, found = [], notes = [] } = step;
  return h("details", { class: "search" },
    h("summary", {},
      tool && h("span", { class: "lookup" }, t(`trace.${tool}`)),
      ` ${text.slice(text.indexOf(":") + 1).trim()} `,
      h("span", { class: "soft" }, t("trace.found", { n: total })),
    ),
    h("ul", {}, found.map(findingView)),
    opened(step),
    notes.map(noteView),
  );
}

const findingView = ({ text, documents = [] }) =>
  h("li", {}, h("p", {}, withoutBars(factText(text))), h("p", { class: "documents" }, documents.map(documentLink)));

const documentLink = (id) => h("a", { href: sourceHref({ document: id }) }, id);

/** A link to the query that a step ran, unless the question was about only some of the documents. */
export const tableLink = (base, { documents = [], where = {} }, { table }) =>
  table?.sql &&
  !documents.length &&
  !Object.keys(where).length &&
  h("a", { href: tableHref(base, { sql: table.sql }) }, t("answer.table"));
