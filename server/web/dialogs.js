// Dialogs: the browser's own, which hold the focus and give it back.

import { button, h } from "./dom.js";
import { t } from "./strings.js";

let headings = 0;

/**
 * Open a dialog and wait for it to close; `build(close)` gives its content, `close(result)` ends it.
 * Whoever goes elsewhere leaves it, unless it `stays`: the address is its own matter.
 */
export function dialog(title, build, { stays = false, ...properties } = {}) {
  return new Promise((resolve) => {
    let result;
    const heading = h("h2", { id: `dialog-${(headings += 1)}` }, title);
    const element = h("dialog", { "aria-labelledby": heading.id, ...properties });
    const close = (value) => {
      result = value;
      element.close();
    };
    const left = () => close();
    if (!stays) window.addEventListener("hashchange", left);
    element.append(heading, ...build(close));
    element.addEventListener("close", () => {
      window.removeEventListener("hashchange", left);
      element.remove();
      resolve(result);
    });
    document.body.append(element);
    element.showModal();
  });
}

/** Ask before something that cannot be undone; true if the person agrees. */
export async function confirmed(title, text, verb) {
  return Boolean(
    await dialog(title, (close) => [
      h("p", {}, text),
      h(
        "div",
        { class: "actions" },
        button(t("page.cancel"), () => close(false), { autofocus: true }),
        button(verb, () => close(true), { class: "danger" }),
      ),
    ]),
  );
}
