// The lines around the map: how many entities are shown and why, and the colours of types, which can be switched off.

import { known } from "../bases.js";
import { button, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { t } from "../strings.js";
import { colourOf } from "./colours.js";
import { MOST } from "./shown.js";

/** The reason for the number of shown entities, and a button for more. */
export function countNote(view, setLimit) {
  const { shown, fitting, limit, seen } = view;
  const total = known(view.base)?.entities ?? 0;
  const n = shown.nodes.size;
  const filtered = seen.type || seen.relation || seen.document;
  const why = seen.cite || n >= total ? "" : t(filtered ? "graph.why.filtered" : "graph.why", { n: limit });
  const more = !seen.cite && limit < Math.min(MOST, fitting);
  return h(
    "p",
    { class: "soft" },
    total ? t("graph.shown.of", { n, total }) : t("graph.shown", { n }),
    why && ` ${why}`,
    more && [" ", button(t("graph.more"), () => setLimit(Math.min(MOST, 2 * limit)), { class: "link" })],
  );
}

/** The shown types, each a button that hides or shows its entities. */
export function showLegend(view, draw) {
  const present = new Set([...view.shown.nodes.values()].map((one) => one.type));
  const key = ({ name }) =>
    button(
      [h("span", { class: `dot type-${colourOf(name)}`, "aria-hidden": "true" }), spaced(name)],
      () => {
        if (!view.off.delete(name)) view.off.add(name);
        draw();
        view.legend.querySelector(`[data-type="${CSS.escape(name)}"]`)?.focus();
      },
      { class: "key", "aria-pressed": String(!view.off.has(name)), "data-type": name },
    );
  fill(view.legend, view.types.filter(({ name }) => present.has(name)).map(key));
}
