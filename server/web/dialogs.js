// Dialogs, with the browser's own element, which traps the focus and restores it.

import { button, failure, fill, h } from "./dom.js";
import { t } from "./strings.js";

let headings = 0;

/**
  * Open a dialog and wait for it to close; `build(close)` returns its content, `close(result)` ends it.
  * Navigating elsewhere closes it, unless it `stays` because it manages the address itself.
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

/** A dialog with a form. `send()` does what the form says; what it returns, or true, is the dialog's result. */
export function formDialog(title, content, verb, send) {
  return dialog(title, (close) => {
    const told = h("div");
    const submit = async (event) => {
      event.preventDefault();
      try {
        fill(told, h("p", { class: "soft", role: "status" }, t("edit.working")));
        close((await send()) ?? true);
      } catch (error) {
        fill(told, failure(error));
      }
    };
    const cancel = button(t("page.cancel"), () => close());
    const confirm = h("button", { type: "submit", class: "primary" }, verb);
    return [h("form", { on: { submit } }, content, told, h("div", { class: "actions" }, cancel, confirm))];
  });
}

/** Ask for confirmation of something that cannot be undone; return true if the user agrees. */
export async function confirmed(title, text, verb) {
  return Boolean(
    await dialog(title, (close) => [
      h("p", {}, text),
      h("div", { class: "actions" },
        button(t("page.cancel"), () => close(false), { autofocus: true }),
        button(verb, () => close(true), { class: "danger" }),
      ),
    ]),
  );
}
