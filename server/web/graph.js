// The graph explorer. Only what is looked at is fetched: an overview, a neighbourhood, a page of a community.

import { get, of, post } from "./api.js";
import { known } from "./bases.js";
import { Canvas, typeColour } from "./canvas.js";
import { announce, button, failure, fill, h } from "./dom.js";
import { entityView } from "./entity.js";
import { listView } from "./list.js";
import { spaced } from "./names.js";
import { go, here, route } from "./route.js";
import { Shown } from "./shown.js";
import { t } from "./strings.js";
import { toolbar } from "./toolbar.js";
import { Tree } from "./tree.js";

const TYPES = 100;
const OVERVIEW = 60;
const NEIGHBOURS = 25;
const MEMBERS = 100;
const KEPT = "banyan.graph.form";

let view = null;

/** Show the view. */
export async function show(root, base) {
  if (!base) {
    fill(root, h("h1", {}, t("graph.title")), h("p", {}, t("graph.nothing")));
    return;
  }
  const types = (await get(of(base, "/graph/types"), { limit: TYPES })).entity_types;
  if (!root.isConnected) return;
  view = {
    base,
    types,
    shown: new Shown(),
    chosen: "",
    entity: null,
    reached: new Map(),
    evidence: new Set(),
    seen: {},
    form: localStorage.getItem(KEPT) ?? "map",
    canvas: null,
  };
  view.map = h("div", { class: "map", tabindex: "0", role: "application", "aria-label": t("graph.map.label") });
  view.list = h("div", { class: "list" });
  view.note = h("div", { class: "graph-note" });
  view.legend = h("p", { class: "legend" });
  view.panel = h("div", { class: "panel-body" });
  view.tree = new Tree(base, {
    open: (community) => go(here({ community: community || null, id: null })),
    choose,
    keyword,
    map: mapCommunity,
  });
  fill(
    root,
    h(
      "div",
      { class: "graph" },
      h("h1", { class: "unseen" }, t("graph.title")),
      toolbar(view, { choose, setForm, startAgain }),
      h("section", { class: "stage", "aria-label": t("graph.stage") }, view.note, view.map, view.list, view.legend),
      h("aside", { class: "panel", "aria-label": t("graph.panel") }, panelTabs(), view.panel),
    ),
  );
  showForm();
  await follow();
}

/** Leave the view. */
export function leave() {
  view?.canvas?.close();
  view = null;
}

/** Follow the address: the entity, community, type or evidence that it names. */
export async function follow() {
  const me = view;
  if (!me) return;
  const { parameters } = route();
  const now = {
    type: parameters.get("type") ?? "",
    id: parameters.get("id") ?? "",
    community: parameters.get("community") ?? "",
    cite: parameters.getAll("cite").join("\n"),
  };
  const before = me.seen;
  const within = me.panel.contains(document.activeElement);
  me.seen = now;
  try {
    if (now.cite !== (before.cite ?? "")) await showEvidence(parameters.getAll("cite"));
    if (now.type !== before.type && !now.cite) await overview(now.type);
    if (now.id) await select(now.id);
    else me.chosen = "";
    if (!now.id && now.community !== before.community) await me.tree.show(now.community);
    // The person may have gone on meanwhile.
    if (me !== view || me.seen !== now) return;
    showPanel();
    draw();
    // What the focus was on is gone: it goes to the heading of what is there now.
    if (within) me.panel.querySelector("h2")?.focus();
  } catch (error) {
    if (me === view) fill(me.note, failure(error));
  }
}

const choose = (id) => go(here({ id, community: null }));

async function keyword(name) {
  const [found] = (await get(of(view.base, "/graph/names"), { names: [name] })).items;
  if (found) choose(found.id);
}

/** Start again with the entities that have most links. */
async function overview(type) {
  const { nodes, edges } = await get(of(view.base, "/graph/overview"), { type, limit: OVERVIEW });
  view.shown = new Shown();
  view.reached.clear();
  view.evidence = new Set();
  // What is linked to nothing else here says little on a map; of a type all are wanted.
  const ends = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  view.shown.add(type || !ends.size ? nodes : nodes.filter((node) => ends.has(node.id)), edges);
}

async function select(id) {
  const me = view;
  const entity = me.entity?.id === id ? me.entity : await get(of(me.base, "/graph/entity"), { id });
  if (me !== view || me.seen.id !== id) return;
  if (entity !== me.entity)
    announce(t("graph.chosen", { name: entity.name, type: spaced(entity.type), n: entity.degree }));
  Object.assign(me, { chosen: id, entity });
  if (!me.reached.has(id)) await fetchNeighbours(id);
}

/** Fetch the next neighbours of a node; returns how many came. */
async function fetchNeighbours(id) {
  const { n: offset } = view.reached.get(id) ?? { n: 0 };
  const { nodes, edges, total } = await get(of(view.base, "/graph/neighbourhood"), { id, limit: NEIGHBOURS, offset });
  view.reached.set(id, { n: Math.min(total, offset + NEIGHBOURS), total });
  const keep = [id, ...nodes.map((one) => one.id), ...view.evidence];
  return view.shown.add(nodes, edges, keep).length;
}

async function expand(id) {
  const { n, total } = view.reached.get(id) ?? { n: 0, total: 1 };
  if (n < total) announce(t("graph.expanded", { n: await fetchNeighbours(id) }));
  if (view.chosen === id) showPanel();
  draw();
}

/** Show the facts that an answer's citations quote, and nothing else. */
async function showEvidence(cites) {
  view.evidence = new Set();
  if (!cites.length) {
    await overview(route().parameters.get("type") ?? "");
    return;
  }
  const citations = cites
    .map((one) => {
      const [, start, end, document] = /^(\d+):(\d+):(.*)$/s.exec(one) ?? [];
      return { document, start: Number(start), end: Number(end) };
    })
    .filter((one) => one.document);
  const { nodes, edges } = await post(of(view.base, "/graph/evidence"), { citations });
  view.shown = new Shown();
  view.reached.clear();
  view.shown.add(nodes, edges);
  view.evidence = new Set([...nodes, ...edges].map((one) => one.id));
}

/** Put a community's members on the map. */
async function mapCommunity(id) {
  const { members } = await get(of(view.base, "/tree/community"), { id, limit: MEMBERS });
  const edges = await get(of(view.base, "/graph/among"), { id: members.map((one) => one.id) });
  view.shown = new Shown();
  view.evidence = new Set();
  view.reached.clear();
  view.shown.add(members, edges.edges);
  draw();
}

function draw() {
  const { shown, chosen, evidence } = view;
  const total = known(view.base)?.entities;
  fill(
    view.note,
    view.seen.cite &&
      h(
        "p",
        { class: "evidence-note" },
        t(evidence.size ? "graph.evidence" : "graph.evidence.none"),
        " ",
        button(t("graph.evidence.leave"), () => go(here({ cite: null, id: null })), { class: "link" }),
      ),
    !shown.nodes.size && h("p", {}, t("graph.nothing")),
    shown.nodes.size > 0 &&
      h(
        "p",
        { class: "soft" },
        total ? t("graph.shown.of", { n: shown.nodes.size, total }) : t("graph.shown", { n: shown.nodes.size }),
      ),
  );
  if (view.form === "map") {
    view.canvas ??= new Canvas(view.map, {
      choose,
      expand: (id) => expand(id).catch((error) => fill(view.note, failure(error))),
      typePlace: (type) => view.types.findIndex((one) => one.name === type),
    });
    view.canvas.draw(shown, chosen, evidence);
  } else {
    const key = view.list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    fill(view.list, listView(shown, { choose, expand, chosen, evidence }));
    // Who walks through the list by keyboard stays where they were.
    if (key) view.list.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }
  legend();
}

function legend() {
  const present = new Set([...view.shown.nodes.values()].map((one) => one.type));
  const places = view.types.map((type, place) => ({ name: type.name, place })).filter(({ name }) => present.has(name));
  fill(
    view.legend,
    places.map(({ name, place }) =>
      h(
        "span",
        { class: "key" },
        h("span", { class: `dot ${typeColour(place).slice(2)}`, "aria-hidden": "true" }),
        spaced(name),
      ),
    ),
  );
}

function showPanel() {
  const { entity, seen, panel, tree, reached } = view;
  for (const tab of document.querySelectorAll("[data-panel]")) {
    tab.setAttribute("aria-pressed", String((tab.dataset.panel === "entity") === Boolean(seen.id)));
  }
  if (!seen.id) {
    fill(panel, tree.element);
    return;
  }
  fill(
    panel,
    entityView(entity, {
      choose,
      expand,
      community: (id) => go(here({ community: id, id: null })),
      reached: reached.get(entity.id),
    }),
  );
}

function panelTabs() {
  const tab = (name, text, click) => button(text, click, { "data-panel": name, "aria-pressed": "false" });
  return h(
    "div",
    { class: "tabs" },
    tab("tree", t("tree.title"), () => go(here({ id: null }))),
    tab("entity", t("entity.title"), () => (view.entity ? choose(view.entity.id) : announce(t("entity.none")))),
  );
}

async function startAgain() {
  await overview(view.seen.type);
  if (view.seen.id || view.seen.cite) go(here({ id: null, cite: null }));
  else draw();
}

function setForm(form) {
  view.form = form;
  localStorage.setItem(KEPT, form);
  showForm();
  draw();
}

function showForm() {
  const map = view.form === "map";
  view.map.hidden = !map;
  view.list.hidden = map;
  for (const one of document.querySelectorAll("[data-form]"))
    one.setAttribute("aria-pressed", String(one.dataset.form === view.form));
  for (const one of document.querySelectorAll(".map-only")) one.hidden = !map;
}
