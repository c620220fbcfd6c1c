// Questions to ask with a click.

import { button, h } from "../dom.js";

/** A list of questions under a heading; nothing if the list is empty. */
export function suggestions(heading, questions, ask) {
  if (!questions.length) return null;
  return [
    h("h3", {}, heading),
    h("ul", {},
      questions.map((question) => h("li", {}, button(question, () => ask(question), { class: "suggestion" }))),
    ),
  ];
}
