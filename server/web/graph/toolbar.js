// The bar above the graph: search, filters, map or list, zoom, layout, pictures.

import { get, of } from "../api.js";
import { dialog } from "../dialogs.js";
import { button, field, h } from "../dom.js";
import { spaced } from "../names.js";
import { go, here, route } from "../route.js";
import { t } from "../strings.js";
import { LAYOUTS } from "./canvas.js";
import { suggestField } from "./suggest.js";

const SUGGESTIONS = 12;
const LIMITS = [30, 60, 120, 200, 300];

/** The bar; `view` is the explorer's current state. */
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
  return h("div", { class: "toolbar" },
    search,
    filterBy("type", view.types, t("graph.type"), t("graph.type.all")),
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

/** The second row: further filters, limit, layout, and pictures. */
export function optionsBar(view, { setLimit, setLayout, fullScreen }) {
  const limit = h("select", { id: "graph-limit" },
    LIMITS.map((n) => h("option", { value: n }, t("graph.limit.of", { n }))),
  );
  limit.value = String(view.limit);
  limit.addEventListener("change", () => setLimit(Number(limit.value)));
  const layout = h("select", {},
    Object.keys(LAYOUTS).map((name) => h("option", { value: name }, t(`graph.layout.${name}`))),
  );
  layout.addEventListener("change", () => setLayout(layout.value));
  return h("details", { class: "graph-options" },
    h("summary", {}, t("graph.options")),
    h("div", { class: "toolbar" },
      filterBy("relation", view.relations, t("graph.relation"), t("graph.relation.all")),
      documentFilter(view.base),
      field(t("graph.limit"), limit, { class: "inline" }),
      field(t("graph.layout"), layout, { class: "inline map-only" }),
      h("div", { class: "segments map-only", role: "group", "aria-label": t("graph.picture") },
        button("PNG", () => view.canvas.save("png", view.base), { "aria-label": t("graph.picture.png") }),
        button("SVG", () => view.canvas.save("svg", view.base), { "aria-label": t("graph.picture.svg") }),
      ),
      button(t("graph.full"), fullScreen, { class: "quiet map-only" }),
    ),
  );
}

function filterBy(name, counted, label, all) {
  const text = (one) => t("graph.type.of", { name: spaced(one.name), n: one.count });
  const filter = h("select", { "aria-label": label },
    h("option", { value: "" }, all),
    counted.map((one) => h("option", { value: one.name }, text(one))),
  );
  filter.value = route().parameters.get(name) ?? "";
  filter.addEventListener("change", () => go(here({ [name]: filter.value || null, id: null, cite: null })));
  return filter;
}

/** The filter by document: find it by its name; a button removes the filter. */
function documentFilter(base) {
  const now = route().parameters.get("of");
  const leave = button("×", () => go(here({ of: null })), {
    class: "quiet small",
    "aria-label": t("graph.document.all"),
  });
  const search = suggestField(t("graph.document"), {
    find: async (q, signal) => (await get(of(base, "/documents"), { q, limit: SUGGESTIONS }, signal)).items,
    label: (one) => [h("span", {}, one.title || one.id), h("span", { class: "soft" }, one.id)],
    pick: (one) => {
      go(here({ of: one.id, id: null, cite: null }));
      chosen.replaceChildren(one.id, leave);
    },
  });
  const chosen = h("span", { class: "chosen-document" }, now ? [now, leave] : null);
  leave.addEventListener("click", () => chosen.replaceChildren());
  return h("div", { class: "document-filter" }, search, chosen);
}

/** Ask for an entity by its name, other than the one with the id `but`. */
export function askOther(base, title, but = "") {
  return dialog(title, (close) => [
    suggestField(t("graph.search"), {
      find: async (q, signal) =>
        (await get(of(base, "/graph/search"), { q, limit: SUGGESTIONS + 1 }, signal)).items
          .filter((node) => node.id !== but)
          .slice(0, SUGGESTIONS),
      label: (node) => [h("span", {}, node.name), h("span", { class: "soft" }, spaced(node.type))],
      pick: (node) => close(node),
      none: t(but ? "edit.merge.none" : "graph.search.none"),
    }),
    h("div", { class: "actions" }, button(t("page.cancel"), () => close())),
  ]);
}
