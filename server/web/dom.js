// Making elements. Text is only ever set as text: what documents hold is data, never markup.

/** An element; `properties` are attributes, but for `on` ({event: listener}) and the properties named below. */
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
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Put other children in an element's place. */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** A button; `properties` as in `h`. What goes wrong with its click is said behind it. */
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

let labels = 0;

/** A control with its label; the label is above it, or next to a checkbox. */
export function field(label, control, properties = {}) {
  control.id ||= `control-${(labels += 1)}`;
  const name = h("label", { for: control.id }, label);
  const box = control.type === "checkbox";
  return h("div", { class: box ? "check" : "field", ...properties }, ...(box ? [control, name] : [name, control]));
}

/** Tell those who listen rather than look. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** A note that something went wrong. */
export function failure(error) {
  return h("p", { class: "notice bad", role: "alert" }, error.message);
}
