// Small drawings on buttons and headings; each has its meaning in words beside it or in its button's label.

import { visible } from "./visible.js";

/** The name of the kind of element, which nothing is fetched from. */
const SVG = ["http:", "", "www.w3.org", "2000", "svg"].join("/");
const PATHS = {
  restructure: "M5 3v3c0 4 5 4 5 8v3M15 3v3c0 4-5 4-5 8M8 15l2 2 2-2",
  entity_type: "M10 4a6 6 0 1 0 .01 0z",
  relation: "M3 10h13M12 6l4 4-4 4",
  attribute: "M3 9V3h6l8 8-6 6zM6.5 6.5h.01",
};

/** An element of a drawing. */
export function svg(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, String(value));
  element.append(...children.flat().map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** A drawing, hidden from screen readers. */
export const icon = (name) =>
  svg("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
