// The buttons that turn the pages of a list.

import { button, h } from "./dom.js";
import { t } from "./strings.js";

/** The buttons, or nothing if there is one page; `turn(offset)` shows the page that begins there. */
export function pager({ offset, size, total, turn }) {
  if (total <= size) return null;
  const last = Math.min(total, offset + size);
  return h("nav", { class: "pages", "aria-label": t("page.pages") },
    button(t("page.previous"), () => turn(Math.max(0, offset - size)), { disabled: offset === 0 }),
    h("span", {}, t("page.range", { from: offset + 1, to: last, n: total })),
    button(t("page.next"), () => turn(offset + size), { disabled: last >= total }),
  );
}
