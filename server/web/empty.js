// What a view shows while it has no content: what is missing, and the next step.

import { h } from "./dom.js";
import { href } from "./route.js";
import { t } from "./strings.js";

/** A sentence with a link to the next step. */
export const emptyNotice = (text, address, action) =>
  h("p", { class: "notice empty" }, text, " ", h("a", { href: address, class: "as-button" }, action));

/** A view without a knowledge base. */
export const emptyView = (title) =>
  h("div", { class: "column" },
    h("h1", {}, title),
    emptyNotice(t("graph.nothing"), href("ask"), t("documents.add")),
  );
