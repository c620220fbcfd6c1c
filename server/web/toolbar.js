// What stands above the graph: search, the filter by type, map or list, zoom.

import { get, of } from "./api.js";
import { button, h } from "./dom.js";
import { spaced } from "./names.js";
import { go, here, route } from "./route.js";
import { t } from "./strings.js";
import { suggestField } from "./suggest.js";

const SUGGESTIONS = 12;

/** The bar; `view` is the explorer's state as it stands at any time. */
export function toolbar(view, { choose, setForm, startAgain }) {
  const { base } = view;
  const search = suggestField(t("graph.search"), {
    find: async (q, signal) =>
      (await get(of(base, "/graph/search"), { q, type: view.seen.type, limit: SUGGESTIONS }, signal)).items,
    label: (node) => [h("span", {}, node.name), h("span", { class: "soft" }, spaced(node.type))],
    pick: (node) => choose(node.id),
  });
  const group = (label, buttons, properties = {}) =>
    h("div", { class: "segments", role: "group", "aria-label": label, ...properties }, buttons);
  const form = (name, text) => button(text, () => setForm(name), { "data-form": name });
  return h(
    "div",
    { class: "toolbar" },
    search,
    typeFilter(view.types),
    group(t("graph.form"), [form("map", t("graph.map")), form("list", t("graph.list"))]),
    group(
      t("graph.zoom"),
      [
        button("−", () => view.canvas.zoom(0.8), { "aria-label": t("graph.zoom.out") }),
        button("+", () => view.canvas.zoom(1.25), { "aria-label": t("graph.zoom.in") }),
        button(t("graph.fit"), () => view.canvas.show()),
      ],
      { class: "segments map-only" },
    ),
    button(t("graph.again"), startAgain, { class: "quiet" }),
  );
}

function typeFilter(types) {
  const text = (one) => t("graph.type.of", { name: spaced(one.name), n: one.count });
  const filter = h(
    "select",
    { "aria-label": t("graph.type") },
    h("option", { value: "" }, t("graph.type.all")),
    types.map((one) => h("option", { value: one.name }, text(one))),
  );
  filter.value = route().parameters.get("type") ?? "";
  filter.addEventListener("change", () => go(here({ type: filter.value || null, id: null, cite: null })));
  return filter;
}
