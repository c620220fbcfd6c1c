// Asking for an API key, once for all requests that wait for it.

import { formDialog } from "./dialogs.js";
import { field, h } from "./dom.js";
import { t } from "./strings.js";

let asked = null;

/** The key that the user enters, or undefined; `refused`: the previous key was not accepted. */
export function askKey(refused) {
  const input = h("input", { type: "password", autocomplete: "off", required: true, autofocus: true });
  const content = [
    refused && h("p", { class: "notice bad", role: "alert" }, t("key.refused")),
    h("p", {}, t("key.why")),
    field(t("key.label"), input),
  ];
  asked ??= formDialog(t("key.title"), content, t("key.use"), () => input.value.trim()).finally(() => (asked = null));
  return asked;
}
