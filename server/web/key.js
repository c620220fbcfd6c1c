// Asking for an API key, once for all requests that wait for it.

import { dialog } from "./dialogs.js";
import { button, field, h } from "./dom.js";
import { t } from "./strings.js";

let asked = null;

/** The key that the user enters, or undefined; `refused`: the previous key was not accepted. */
export function askKey(refused) {
  asked ??= dialog(t("key.title"), (close) => {
    const input = h("input", { type: "password", autocomplete: "off", required: true, autofocus: true });
    const submit = (event) => {
      event.preventDefault();
      close(input.value.trim());
    };
    return [
      h(
        "form",
        { on: { submit } },
        refused && h("p", { class: "notice bad", role: "alert" }, t("key.refused")),
        h("p", {}, t("key.why")),
        field(t("key.label"), input),
        h(
          "div",
          { class: "actions" },
          button(t("page.cancel"), () => close()),
          h("button", { type: "submit", class: "primary" }, t("key.use")),
        ),
      ),
    ];
  }).finally(() => {
    asked = null;
  });
  return asked;
}
