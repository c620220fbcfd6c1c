// An answer with its numbered citations, each a link to the words it quotes.

import { failure, h } from "../dom.js";
import { quoted, rendered } from "../markdown.js";
import { href } from "../route.js";
import { placeOf, sourceHref } from "../sources.js";
import { percent, t } from "../strings.js";
import { withCard } from "./cards.js";
import { evidenceOf } from "./evidence.js";
import { rowsTable } from "./rows.js";
import { tableLink } from "./trace.js";

/** The marks of citations, which end a line; brackets anywhere else are a document's own (see `cited_message.py`). */
const MARKS = /(?<=\S) (?:\[\d+\])+$/;
/** One of them, behind a word joiner, which no answer contains, so it is found within the line's rendered text. */
const MARK = /\u2060\[(\d+)\]/g;
/** A line that quotes a passage, as in answers of the rules, with the title and heading above it. */
const QUOTE = /^“(.*)”(?: — ([^“”]*))? \[\d+\]$/s;

/** An answer, or its checked claims so far below a line on its progress, where the short answer will stand. */
export function answerView(base, turn, progress) {
  const { answer, text } = turn;
  const cited = new Map((answer ?? turn).citations?.map((one) => [one.id, one]));
  const short = answer && !answer.abstained && answer.short && answer.short !== text ? answer.short : "";
  // Do not repeat the sentence that is shown in large letters above.
  const said = short && text.startsWith(`${short}: `) ? text.slice(short.length + 2) : text;
  const all = said.split("\n").filter(Boolean);
  const found = short && isFound(all[0] ?? "", short);
  const listed = found || answer?.abstained || all.some((line) => QUOTE.test(line));
  const quotes = listed ? all.filter((line) => MARKS.test(line)) : [];
  const lines = all.slice(found ? 1 : 0).filter((line) => !quotes.includes(line));
  const table = answer && !answer.abstained ? rowsTable(base, turn, tableOf(base, turn)) : null;
  return h("div", { class: answer?.abstained ? "answer abstained" : "answer" },
    progress,
    answer && !answer.abstained && h("p", { class: "found" }, gradeView(answer.grade), found && t("answer.in_documents")),
    short && h("p", { class: "short" }, short),
    answer?.abstained && prose(lines, cited),
    table,
    quotes.length > 0 && !table?.dataset.complete && quoteList(quotes, cited, short),
    !answer?.abstained && prose(lines, cited),
    cited.size > 0 && answer && !answer.abstained && quotes.length === 0 && citations([...cited.values()], said),
    answer && facts(base, turn, table),
  );
}

/** Whether a line of the rules' answer introduces the short answer: claims end with marks or a note instead. */
const isFound = (line, short) => !MARKS.test(line) && (line.endsWith(short) || line.endsWith(`“${short}”`));

/** A line that continues a table, list or quotation of the line before. */
const BLOCK = /^\s*(?:[|>]|[-*+]\s|\d+[.)]\s)/;

/** The lines of an answer, in which Markdown's tables and lists are rendered. */
function prose(lines, cited) {
  const text = lines
    .map(withFoundMarks)
    .map((line) => (BLOCK.test(line) ? line : `\n${line}\n`))
    .join("\n");
  return lines.length > 0 && rendered(text, { leaf: (part) => marked(part, cited) });
}

/** A line in which MARK finds the marks once it is rendered; those of a table's row are put into its last cell. */
function withFoundMarks(line) {
  const [marks] = MARKS.exec(line) ?? [""];
  const words = line.slice(0, line.length - marks.length);
  const found = marks.replaceAll("[", "\u2060[");
  return marks && words.endsWith("|") ? `${words.slice(0, -1)}${found} |` : words + found;
}

/** Quotes and rows of tables, the best first, each a link to its source; the short answer is marked in them. */
function quoteList(quotes, cited, short) {
  return h("ul", { class: "quotes" },
    quotes.map((line) => {
      const [marks] = MARKS.exec(line);
      const one = cited.get(Number(/\d+/.exec(marks)));
      const [, words, above] = QUOTE.exec(line) ?? [];
      const quote = h(words ? "q" : "span", {}, ...highlighted(words ?? line.slice(0, -marks.length), short));
      return h("li", {}, one ? h("a", { href: sourceHref(one) }, quote, h("cite", {}, placed(one, above))) : quote);
    }),
  );
}

const placed = (one, above) => [above, placeOf(one)].filter(Boolean).join(" · ");

/** Text in which the short answer is marked. */
function highlighted(words, short) {
  const at = short ? words.indexOf(short) : -1;
  if (at < 0) return [words];
  return [words.slice(0, at), h("mark", {}, short), words.slice(at + short.length)];
}

/** A line of the answer; `[n]` becomes a link if there is such a citation. */
function marked(line, cited) {
  const parts = [];
  let last = 0;
  for (const found of line.matchAll(MARK)) {
    const citation = cited.get(Number(found[1]));
    if (!citation) continue;
    // A word joiner keeps the mark on the same line as the preceding word.
    parts.push(line.slice(last, found.index).trimEnd(), "\u2060", link(citation));
    last = found.index + found[0].length;
  }
  return [...parts, line.slice(last)];
}

function link(citation) {
  const properties = {
    class: "mark",
    href: sourceHref(citation),
    "aria-label": t("answer.citation", { id: citation.id, document: placeOf(citation) }),
  };
  return withCard(h("a", properties, String(citation.id)), citation);
}

/** The sources, without quotes that the answer itself contains. */
function citations(all, text) {
  return h("ol", { class: "citations", "aria-label": t("answer.sources") },
    all.map((one) =>
      h("li", {},
        h("a", { href: sourceHref(one) },
          h("span", { class: "number", "aria-hidden": "true" }, String(one.id)),
          h("span", {}, !text.includes(one.quote) && quoted(one.quote), h("cite", {}, placeOf(one))),
        ),
      ),
    ),
  );
}

/** How far the documents support an answer: they state it, one link is not stated, or they do not. */
const gradeView = (grade) =>
  h("span", { class: `chip grade ${grade}`, title: t(`answer.${grade}.how`) }, t(`answer.${grade}`));

/** A link to the table that the answer rests on, or nothing. */
function tableOf(base, turn) {
  const first = turn.steps?.find((step) => step.step === "first_look");
  return first && tableLink(base, turn, first);
}

/** Whether a model weighed the evidence: the rules have no measure of how sure they are. */
const isWeighed = ({ steps = [] }) => steps.some((step) => step.text && ["decompose", "reflect"].includes(step.step));

function facts(base, turn, table) {
  const { answer } = turn;
  const graph = h("span", { hidden: true });
  const shown = [
    !answer.abstained && isWeighed(turn) && h("span", {}, t("answer.confidence", { share: percent(answer.confidence ?? 0) })),
    answer.iterations > 1 && h("span", {}, t("answer.rounds", { n: answer.iterations })),
  ].filter(Boolean);
  if (!answer.abstained && answer.citations.length) {
    const spans = answer.citations.map((one) => [one.start, one.end, one.document].join(":"));
    evidenceOf(base, turn).then(({ edges }) => {
      if (!edges.length) return;
      graph.append(h("a", { href: href("graph", { kb: base, cite: spans }) }, t("answer.graph")));
      graph.hidden = false;
    }, (error) => graph.replaceWith(failure(error)));
  }
  return h("p", { class: "facts" }, shown, graph, !answer.abstained && !table && tableOf(base, turn));
}
