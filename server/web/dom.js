// Creating elements. Text is only ever set as text: documents contain data, never markup.

import { visible } from "./visible.js";

const shown = (child) => (typeof child === "string" ? visible(child) : child);

const isContent = (child) => child !== null && child !== undefined && child !== false;

/** An element; `properties` are attributes, except `on` ({event: listener}) and the properties named below. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (["value", "checked", "disabled", "hidden", "open", "multiple"].includes(name)) {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter(isContent).map(shown));
  return element;
}

/** Replace the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(isContent).map(shown));
  return element;
}

/** A button; `properties` as in `h`. An error in its click handler is shown after it. */
export function button(text, click, properties = {}) {
  const element = h("button", { type: "button", ...properties }, ...[text].flat());
  element.addEventListener("click", async (event) => {
    try {
      await click(event);
    } catch (error) {
      if (error.name !== "AbortError") element.after(failure(error));
    }
  });
  return element;
}

/** A part that is folded up; `load()` returns its content, and is called each time it is opened. */
export function fold(summary, load, { body = h("div"), ...properties } = {}) {
  const element = h("details", properties, h("summary", {}, summary), body);
  const show = async () => {
    try {
      fill(body, await load());
    } catch (error) {
      fill(body, failure(error));
    }
  };
  element.addEventListener("toggle", () => element.open && show());
  return element;
}

const asCell = (content, tag, properties) =>
  content instanceof HTMLTableCellElement ? content : h(tag, properties, content);

/** A table of a head and rows, each a list of contents; cells among them stay as they are. */
export const grid = (head, rows, properties = {}) =>
  h("table", properties,
    h("thead", {}, h("tr", {}, head.map((name) => asCell(name, "th", { scope: "col" })))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => asCell(cell, "td", {}))))),
  );

/** A wide table, which scrolls sideways in its place. */
export const scrolling = (label, table) =>
  h("div", { class: "table", tabindex: "0", role: "region", "aria-label": label }, table);

/** The header of a row. */
export const rowHead = (...content) => h("th", { scope: "row" }, content);

let labels = 0;

/** A control with its label; the label is above it, or next to a checkbox. */
export function field(label, control, properties = {}) {
  control.id ||= `control-${(labels += 1)}`;
  const name = h("label", { for: control.id }, label);
  const box = control.type === "checkbox";
  return h("div", { class: box ? "check" : "field", ...properties }, ...(box ? [control, name] : [name, control]));
}

/** Announce a message to screen readers. */
export function announce(text) {
  document.getElementById("status").textContent = visible(text);
}

/** An error message. */
export function failure(error) {
  return h("p", { class: "notice bad", role: "alert" }, error.message);
}
