// The colour of an entity type: the same in every knowledge base.

import { h } from "../dom.js";

/** Types of the built-in schemas have unique colours. */
const KNOWN = ["Person", "Organization", "Location", "Event", "Work", "Award", "Product", "Concept"];
const OTHERS = 8;

/** A dot in the colour of a type. */
export function typeDot(type) {
  const dot = h("span", { class: "dot", "aria-hidden": "true" });
  dot.style.setProperty("--dot", `var(--type-${colourOf(type)})`);
  return dot;
}

/** The number N of a type's colour `--type-N`. */
export function colourOf(type) {
  const known = KNOWN.indexOf(type);
  if (known >= 0) return known;
  let hash = 0;
  for (const letter of type) hash = (hash * 31 + letter.codePointAt(0)) % 1_000_003;
  return KNOWN.length + (hash % OTHERS);
}
