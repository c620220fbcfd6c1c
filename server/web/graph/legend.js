// The lines around the map: how many entities are shown and why, and the colours of types, which can be switched off.

import { known } from "../bases.js";
import { button, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { t } from "../strings.js";
import { typeDot } from "./colours.js";
import { MOST } from "./shown.js";

/** The reason for the number of shown entities, and a button for more. */
export function countNote(view, setLimit) {
  const { shown, fitting, limit, seen } = view;
  const total = known(view.base)?.entities ?? 0;
  const n = shown.nodes.size;
  const filtered = seen.type || seen.relation || seen.document;
  const why = seen.cite || n >= total ? "" : t(filtered ? "graph.why.filtered" : "graph.why", { n: limit });
  const more = !seen.cite && limit < Math.min(MOST, fitting);
  return h("p", { class: "soft" },
    total ? t("graph.shown.of", { n, total }) : t("graph.shown", { n }),
    why && ` ${why}`,
    more && [" ", button(t("graph.more"), () => setLimit(Math.min(MOST, 2 * limit)), { class: "link" })],
  );
}

/** The years in which facts of the shown part begin or end. */
const yearsOf = (shown) =>
  [...shown.edges.values()]
    .flatMap(({ start, end }) => [start, end])
    .filter(Boolean)
    .map((date) => Number(date.slice(0, 4)));

/** A slider by the year, where facts have times; `dated(year)` shows those that hold, 0 all of them. */
function timeSlider(view, dated) {
  const years = yearsOf(view.shown);
  if (!years.length || view.form !== "map") return null;
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const said = h("output", {});
  const slider = h("input", { type: "range", min: first - 1, max: last, step: 1, "aria-label": t("graph.year") });
  slider.value = String(view.year || first - 1);
  const show = () => {
    const year = Number(slider.value);
    said.textContent = year < first ? t("graph.year.all") : String(year);
    slider.setAttribute("aria-valuetext", said.textContent);
    return year < first ? 0 : year;
  };
  slider.addEventListener("input", () => dated(show()));
  show();
  return h("label", { class: "years" }, t("graph.year"), slider, said);
}

/** What lines are drawn for: facts, and links by sentences. */
function lines({ edges }) {
  const kinds = new Set([...edges.values()].map(({ kind = "fact" }) => kind));
  return ["fact", "sentence"]
    .filter((kind) => kinds.has(kind))
    .map((kind) =>
      h("span", { class: "line-key" }, h("span", { class: `line ${kind}`, "aria-hidden": "true" }), t(`graph.line.${kind}`)),
    );
}

/** The shown types, each a button that hides or shows its entities, the lines, and the slider for the year. */
export function showLegend(view, draw, dated) {
  const present = new Set([...view.shown.nodes.values()].map((one) => one.type));
  const key = ({ name }) =>
    button(
      [typeDot(name), spaced(name)],
      () => {
        if (!view.off.delete(name)) view.off.add(name);
        draw();
        view.legend.querySelector(`[data-type="${CSS.escape(name)}"]`)?.focus();
      },
      { class: "key", "aria-pressed": String(!view.off.has(name)), "data-type": name },
    );
  fill(view.legend, view.types.filter(({ name }) => present.has(name)).map(key), lines(view.shown), timeSlider(view, dated));
}
