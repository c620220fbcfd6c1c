// Copying text to the clipboard.

import { h } from "./dom.js";
import { t } from "./strings.js";
import { toast } from "./toasts.js";

/** Copy a text, and announce it. */
export async function copied(text) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copySelected(text);
  toast(t("page.copied"));
}

/** Without HTTPS or localhost, browsers can only copy a selection. */
function copySelected(text) {
  const area = h("textarea", { class: "unseen", value: text });
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error(t("page.copy.refused"));
}
