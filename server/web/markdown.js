// A document's text, rendered: Markdown's headings, lists, quotes, code, tables and emphasis, and rows of tables.
//
// Every shown letter is traced back to its place in the source, so quoted text can be marked anywhere.
// No text becomes markup, except the few elements created here.

import { h } from "./dom.js";

const HEADING = /^(#{1,6})\s+/;
const ITEM = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s+/;
const QUOTE = /^>\s?/;
const FENCE = /^(?:```|~~~)/;
const ROW = /^\|.*\|\s*$/;
const RULE = /^\|?[\s:|-]*-[\s:|-]*\|?\s*$/;
/** The name of a column in a cell. */
const NAMED = /^([^:]+):\s+/;
/** Emphasis, code and links within a line; the group is the shown text. */
const INLINE = /\*\*(?=\S)(.+?)\*\*|(?<![\w*])\*(?=\S)([^*]+?)\*(?![\w*])|`([^`]+)`|\[([^\]]+)\]\([^)\s]*\)/g;
const TAGS = ["strong", "em", "code", "span"];

/** A source's words as they stand, in quotation marks; a row of a table without its bars, and without the marks. */
export const quoted = (text) => (ROW.test(text) ? h("span", {}, withoutBars(text)) : h("q", {}, text));

/** A text in which rows of tables have no bars. */
export const withoutBars = (text) =>
  text
    .split("\n")
    .map((line) => (ROW.test(line) ? cellTexts(line).join(" · ") : line))
    .join("\n");

const cellTexts = (line) => cellsOf({ line: line.trimEnd(), start: 0 }).map((cell) => cell.line);

/**
  * The blocks of a text. `from` and `to` delimit the quoted text in UTF-16 units; `to` 0: no quote.
  * `marked` false: the text as it is, in one block. `leaf(text)` makes the content of a piece of text without markup.
 */
export function rendered(text, { from = 0, to = 0, marked = true, leaf: made = null } = {}) {
  const words = { from, to, made };
  if (!marked) return [h("div", { class: "text" }, leaf(text, 0, words))];
  const lines = linesOf(text);
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at, words);
    if (block) blocks.push(block);
    at = next;
  }
  return [h("div", { class: "text prose" }, blocks)];
}

/** Lines with their start positions. */
function linesOf(text) {
  const lines = [];
  let start = 0;
  for (const line of text.split("\n")) {
    lines.push({ line, start });
    start += line.length + 1;
  }
  return lines;
}

function blockAt(lines, at, words) {
  const { line } = lines[at];
  if (!line.trim()) return [null, at + 1];
  if (FENCE.test(line)) return fenced(lines, at, words);
  const heading = HEADING.exec(line);
  if (heading) {
    const level = Math.min(6, heading[1].length + 2);
    return [h(`h${level}`, {}, inline(lines[at], heading[0].length, words)), at + 1];
  }
  if (ROW.test(line)) return table(lines, at, words);
  if (ITEM.test(line)) return listed(lines, at, words);
  if (QUOTE.test(line)) return run(lines, at, words, QUOTE, "blockquote");
  return run(lines, at, words, null, "p");
}

function fenced(lines, at, words) {
  let end = at + 1;
  while (end < lines.length && !FENCE.test(lines[end].line)) end += 1;
  const inner = lines.slice(at + 1, end);
  const code = inner.map(({ line, start }) => [leaf(line, start, words), "\n"]);
  return [h("pre", { tabindex: "0" }, h("code", {}, code)), end + 1];
}

/** Lines that form a paragraph or a quotation. */
function run(lines, at, words, prefix, tag) {
  const parts = [];
  let end = at;
  while (end < lines.length && lines[end].line.trim() && (end === at || continues(lines[end].line, prefix))) {
    const skipped = prefix?.exec(lines[end].line)?.[0].length ?? 0;
    parts.push(end > at ? "\n" : null, inline(lines[end], skipped, words));
    end += 1;
  }
  return [h(tag, {}, parts), end];
}

const continues = (line, prefix) =>
  prefix ? prefix.test(line) : ![HEADING, ITEM, QUOTE, FENCE, ROW].some((one) => one.test(line));

function listed(lines, at, words) {
  const items = [];
  let end = at;
  for (let found; end < lines.length && (found = ITEM.exec(lines[end].line)); end += 1) {
    const depth = Math.min(3, Math.floor(found[1].length / 2));
    items.push(h("li", { class: depth ? `depth-${depth}` : null }, inline(lines[end], found[0].length, words)));
  }
  return [h(/^\s*\d/.test(lines[at].line) ? "ol" : "ul", { class: "bullets" }, items), end];
}

/** A table: its first row is the header if a line of dashes follows; otherwise each row names its columns. */
function table(lines, at, words) {
  let end = at;
  while (end < lines.length && ROW.test(lines[end].line)) end += 1;
  const rows = lines.slice(at, end);
  const headed = rows.length > 1 && RULE.test(rows[1].line);
  const cells = (one, tag) => h("tr", {}, one.map((cell) => h(tag, {}, inline(cell, 0, words))));
  const body = (headed ? rows.slice(2) : rows).map(cellsOf);
  const names = headed ? null : namesOf(body);
  const element = h("table", {},
    headed && h("thead", {}, cells(cellsOf(rows[0]), "th")),
    names && h("thead", {}, h("tr", {}, names.map((name) => h("th", {}, name)))),
    h("tbody", {}, body.map((one) => cells(names ? one.map(unnamed) : one, "td"))),
  );
  return [h("div", { class: "table", tabindex: "0" }, element), end];
}

/** The names of the columns, if all rows name the same ones in their cells ("Price: 5"). */
function namesOf(rows) {
  const [first, ...others] = rows.map((row) => row.map(({ line }) => NAMED.exec(line)?.[1]));
  const alike = (row) => row.length === first.length && row.every((name, at) => name === first[at]);
  return first.every(Boolean) && others.every(alike) ? first : null;
}

/** A cell without the name of its column. */
function unnamed({ line, start }) {
  const skipped = NAMED.exec(line)[0].length;
  return { line: line.slice(skipped), start: start + skipped };
}

function cellsOf({ line, start }) {
  const cells = [];
  let from = 1;
  for (let at = 1; at < line.length; at += 1) {
    if (line[at] !== "|" || line[at - 1] === "\\") continue;
    const cell = line.slice(from, at);
    const lead = cell.length - cell.trimStart().length;
    cells.push({ line: cell.trim(), start: start + from + lead });
    from = at + 1;
  }
  return cells;
}

/** A line with its emphasis, from a given letter. */
function inline({ line, start }, skipped, words) {
  const parts = [];
  let last = skipped;
  for (const found of line.matchAll(INLINE)) {
    if (found.index < last) continue;
    const group = [1, 2, 3, 4].find((number) => found[number] !== undefined);
    const shown = found[group];
    const at = found.index + found[0].indexOf(shown);
    parts.push(leaf(line.slice(last, found.index), start + last, words));
    parts.push(h(TAGS[group - 1], {}, leaf(shown, start + at, words)));
    last = found.index + found[0].length;
  }
  parts.push(leaf(line.slice(last), start + last, words));
  return parts;
}

/** Text in which the quoted part is marked. */
function leaf(text, start, { from, to, made }) {
  if (made) return made(text);
  const [begin, end] = [Math.max(0, from - start), Math.min(text.length, to - start)];
  if (begin >= end) return [text];
  return [text.slice(0, begin), h("mark", {}, text.slice(begin, end)), text.slice(end)].filter((part) => part !== "");
}
