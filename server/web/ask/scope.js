// The documents that questions are limited to.

import { h } from "../dom.js";
import { t } from "../strings.js";

const BETWEEN = ";";

/** What is written for each knowledge base: documents or patterns. */
const written = new Map();

/** The field in which they are written; `changed()` is called after each change. */
export function scopeInput(base, changed) {
  const input = h("input", {
    placeholder: t("ask.in.all"),
    title: t("ask.in.how"),
    value: written.get(base) ?? "",
    autocomplete: "off",
    spellcheck: "false",
  });
  input.addEventListener("input", () => {
    written.set(base, input.value);
    changed();
  });
  return input;
}

/** The documents and patterns that are written for a knowledge base. */
export const documentsOf = (base) =>
  (written.get(base) ?? "")
    .split(BETWEEN)
    .map((name) => name.trim())
    .filter(Boolean);

/** What the next question searches, in words. */
export function scopeText(base) {
  const documents = documentsOf(base);
  return documents.length ? t("ask.in.shown", { what: documents.join(`${BETWEEN} `) }) : t("ask.in.whole");
}

/** A line that says which documents a turn was limited to. */
export function scopeLine({ documents = [], where = {} }) {
  const limits = [...documents, ...Object.entries(where).map(([key, value]) => `${key}=${value}`)];
  return limits.length > 0 && h("p", { class: "soft" }, t("ask.in.shown", { what: limits.join(`${BETWEEN} `) }));
}
