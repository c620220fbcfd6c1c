// The graph explorer. It fetches only what is shown: an overview, a neighbourhood, a page of a community.

import { get, of, post } from "../api.js";
import { refreshBases } from "../bases.js";
import { citationsIn, seenIn } from "./address.js";
import { Canvas } from "./canvas.js";
import { announce, button, failure, fill, h } from "../dom.js";
import { emptyNotice, emptyView } from "../empty.js";
import { correctFact, correctValue } from "./correcting.js";
import { decisionsView, editingView } from "./editing.js";
import { EntityTable } from "./entities.js";
import { entityView, factPanel, factText, sentencesPanel } from "./entity.js";
import { countNote, showLegend } from "./legend.js";
import { listView } from "./list.js";
import { spaced } from "../names.js";
import { go, here, href, route } from "../route.js";
import { MOST as MOST_SHOWN, Shown } from "./shown.js";
import { t } from "../strings.js";
import { toast } from "../toasts.js";
import { askOther, optionsBar, toolbar } from "./toolbar.js";
import { membersOf, Tree } from "./tree.js";

const TYPES = 100;
const OVERVIEW = 60;
/** Of so many entities for each that is shown, those with links are shown. */
const LOOKED_AT = 3;
const NEIGHBOURS = 25;
const MEMBERS = 100;
const KEPT = "banyan.graph.form";
const NARROW = matchMedia("(max-width: 60rem)");

let view = null;

/** Show the view. */
export async function show(root, base) {
  if (!base) {
    fill(root, emptyView(t("graph.title")));
    return;
  }
  const { entity_types: types, relations } = await get(of(base, "/graph/types"), { limit: TYPES });
  if (!root.isConnected) return;
  view = {
    base,
    types,
    relations,
    limit: OVERVIEW,
    layout: "forces",
    fitting: 0,
    off: new Set(),
    members: new Set(),
    fact: null,
    shown: new Shown(),
    // Whether the list has all entities, not only those of an answer, a community or a path.
    whole: true,
    entities: new EntityTable(base, choose),
    chosen: "",
    entity: null,
    at: "",
    year: 0,
    reached: new Map(),
    evidence: new Set(),
    seen: {},
    form: localStorage.getItem(KEPT) ?? "map",
    canvas: null,
  };
  view.map = h("div", { class: "map", tabindex: "0", role: "application", "aria-label": t("graph.map.label") });
  view.list = h("div", { class: "list" });
  view.note = h("div", { class: "graph-note" });
  view.stage = h("section", { class: "stage", "aria-label": t("graph.stage") });
  view.legend = h("div", { class: "legend", role: "group", "aria-label": t("graph.legend") });
  view.panel = h("div", { class: "panel-body" });
  view.tree = new Tree(base, {
    open: (community) => go(here({ community: community || null, id: null })),
    choose,
    keyword,
    map: mapCommunity,
  });
  fill(
    root,
    h("div", { class: "graph" },
      h("h1", { class: "unseen" }, t("graph.title")),
      toolbar(view, { choose, setForm, startAgain }),
      optionsBar(view, { setLimit, setLayout, fullScreen }),
      view.stage,
      h("aside", { class: "panel", "aria-label": t("graph.panel") }, panelTabs(), view.panel),
    ),
  );
  view.stage.append(view.note, view.map, view.list, view.legend);
  showForm();
  await follow();
}

/** Leave the view. */
export function leave() {
  view?.canvas?.close();
  view = null;
}

/** Show the entity, community, type or evidence in the address. */
export async function follow() {
  const me = view;
  if (!me) return;
  const { parameters } = route();
  const now = seenIn(parameters);
  const before = me.seen;
  const within = me.panel.contains(document.activeElement);
  me.seen = now;
  try {
    if (now.cite !== (before.cite ?? "")) await showEvidence(parameters.getAll("cite"));
    const filtered = ["type", "relation", "document"].some((name) => now[name] !== before[name]);
    if (filtered && !now.cite) await overview();
    me.fact = null;
    if (now.community !== before.community) me.members = await membersOf(me.base, now.community);
    if (now.id) await select(now.id);
    else me.chosen = "";
    if (!now.id && now.community !== before.community) await me.tree.show(now.community);
    // The user may have navigated elsewhere meanwhile.
    if (me !== view || me.seen !== now) return;
    showPanel();
    draw();
    // The focused element no longer exists, so move the focus to the new heading.
    if (within) me.panel.querySelector("h2")?.focus();
    // On a phone the panel is below the map.
    else if (now.id && now.id !== before.id && NARROW.matches)
      me.panel.querySelector("h2")?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (me === view) fill(me.note, failure(error));
  }
}

const choose = (id) => go(here({ id, community: null }));

async function keyword(name) {
  const [found] = (await get(of(view.base, "/graph/names"), { names: [name] })).items;
  if (found) choose(found.id);
}

/** Start again with the entities that most documents mention, among those that match the filters. */
async function overview() {
  const { type, relation, document } = view.seen;
  const asked = { type, relation, document, limit: Math.min(MOST_SHOWN, LOOKED_AT * view.limit) };
  const { nodes, edges, total } = await get(of(view.base, "/graph/overview"), asked);
  startShown([], [], true);
  view.fitting = total;
  // Entities without links are of little use on a map, unless the user filters by type.
  const ends = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  const wanted = type || document || !ends.size ? nodes : nodes.filter((node) => ends.has(node.id));
  view.shown.add(wanted.slice(0, view.limit), edges);
}

async function select(id) {
  const me = view;
  const entity = me.entity?.id === id ? me.entity : await get(of(me.base, "/graph/entity"), { id, at: me.at });
  if (me !== view || me.seen.id !== id) return;
  if (entity !== me.entity)
    announce(t("graph.chosen", { name: entity.name, type: spaced(entity.type), n: entity.degree }));
  Object.assign(me, { chosen: id, entity });
  if (!me.reached.has(id)) await fetchNeighbours(id);
}

/** Fetch the next neighbours of a node; return how many are new. */
async function fetchNeighbours(id) {
  const { n: offset } = view.reached.get(id) ?? { n: 0 };
  const asked = { id, limit: NEIGHBOURS, offset };
  const { nodes, edges, total } = await get(of(view.base, "/graph/neighbourhood"), asked);
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

/** Show only the facts that an answer's citations quote. */
async function showEvidence(cites) {
  view.evidence = new Set();
  if (!cites.length) {
    await overview();
    return;
  }
  const { nodes, edges } = await post(of(view.base, "/graph/evidence"), { citations: citationsIn(cites) });
  startShown(nodes, edges);
  view.evidence = new Set([...nodes, ...edges].map((one) => one.id));
}

/** Show other nodes and edges; `whole`: they are a part of all entities, which the list shows. */
function startShown(nodes, edges, whole = false) {
  Object.assign(view, { shown: new Shown(), evidence: new Set(), whole });
  view.reached.clear();
  view.shown.add(nodes, edges);
}

/** Add a community's members to the map. */
async function mapCommunity(id) {
  const { members } = await get(of(view.base, "/tree/community"), { id, limit: MEMBERS });
  const { edges } = await get(of(view.base, "/graph/among"), { id: members.map((one) => one.id) });
  startShown(members, edges);
  draw();
}

async function setLimit(limit) {
  view.limit = limit;
  const select = document.getElementById("graph-limit");
  if (select) select.value = String([...select.options].map((one) => Number(one.value)).find((one) => one >= limit));
  await overview();
  draw();
}

function setLayout(layout) {
  view.layout = layout;
  view.canvas?.arrange(layout);
}

function fullScreen() {
  if (document.fullscreenElement) return document.exitFullscreen();
  return view.stage.requestFullscreen();
}

/** Show the chosen entity's facts that hold at a date; all of them without one. */
async function dated(at) {
  const me = view;
  const entity = await get(of(me.base, "/graph/entity"), { id: me.chosen, at });
  if (me !== view || me.chosen !== entity.id) return;
  Object.assign(me, { at, entity });
  showPanel();
}

/** Hide an entity. */
function hide(id) {
  const me = view;
  const [node, edges] = [me.shown.nodes.get(id), me.shown.at(id)];
  me.shown.remove(id);
  go(here({ id: null }));
  draw();
  toast(t("entity.hidden", { name: node.name }), () => {
    if (me !== view) return;
    me.shown.add([node], edges);
    draw();
  });
}

/** Show a shortest path from an entity to another one. */
async function path(entity) {
  const other = await askOther(view.base, t("entity.path.title", { name: entity.name }));
  if (!other) return;
  const { nodes, edges } = await get(of(view.base, "/graph/path"), { start: entity.id, end: other.id });
  if (!nodes.length) {
    announce(t("entity.path.none", { one: entity.name, other: other.name }));
    fill(view.note, h("p", {}, t("entity.path.none", { one: entity.name, other: other.name })));
    return;
  }
  view.evidence = new Set([...nodes, ...edges].map((one) => one.id));
  view.shown.add(nodes, edges, view.evidence);
  view.whole = false;
  draw();
  const names = nodes.map((one) => one.name).join(" → ");
  announce(t("entity.path.found", { names }));
  view.note.prepend(h("p", { class: "path-note" }, t("entity.path.found", { names })));
}

/** Reload what is shown after a decision, in its places; an entity may be part of another one now. */
async function changed(id) {
  const me = view;
  if (!me) return;
  me.entity = null;
  const ids = [...me.shown.nodes.keys(), id].filter(Boolean).slice(-MOST_SHOWN);
  const { nodes, edges } = await get(of(me.base, "/graph/among"), { id: ids });
  startShown(nodes, edges, me.whole);
  me.entities.renew();
  await refreshBases();
  await view.tree.show(view.seen.community);
  if (me !== view) return;
  if (!id || view.seen.id === id) await follow();
  else choose(id);
}

/** Show in the panel what an edge stands for: a fact, or the sentences that name both of its ends. */
async function showEdge(edge) {
  if (edge.kind === "sentence") await showSentences(edge);
  else await showFact(edge);
}

async function showSentences({ source, target }) {
  const { items } = await get(of(view.base, "/graph/sentences"), { source, target });
  fill(view.panel, sentencesPanel(view.shown.nodes.get(source), view.shown.nodes.get(target), items, choose));
  announce(t("entity.together", { n: items.length }));
}

async function showFact({ source, target, relation }) {
  view.fact = await get(of(view.base, "/graph/fact"), { source, target, relation });
  showPanel();
  announce(factText(view.fact));
}

function draw() {
  const { shown, chosen, evidence, members, off } = view;
  const tabled = view.form !== "map" && view.whole;
  fill(
    view.note,
    view.seen.cite &&
      h("p", { class: "evidence-note" },
        t(evidence.size ? "graph.evidence" : "graph.evidence.none"),
        " ",
        button(t("graph.evidence.leave"), () => go(here({ cite: null, id: null })), { class: "link" }),
      ),
    !shown.nodes.size && nothing(),
    shown.nodes.size > 0 && !tabled && countNote(view, setLimit),
  );
  view.legend.hidden = tabled;
  // The legend takes its room before the map is fitted into the rest.
  showLegend(view, draw, (year) => {
    view.year = year;
    view.canvas?.date(year);
  });
  if (view.form === "map") {
    view.canvas ??= new Canvas(view.map, {
      choose,
      expand: (id) => expand(id).catch((error) => fill(view.note, failure(error))),
      fact: (edge) => showEdge(edge).catch((error) => fill(view.note, failure(error))),
      label: (edge) => spaced(edge.relation),
      layout: view.layout,
    });
    view.canvas.draw(shown, { chosen, evidence, members, off, at: view.year });
  } else if (tabled) {
    if (!view.list.contains(view.entities.element)) fill(view.list, view.entities.element);
    view.entities.show(view.seen, chosen);
  } else {
    const key = view.list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    fill(view.list, listView(shown.without(off), { choose, expand, chosen, evidence }));
    // Keep the focus of keyboard users in the list.
    if (key) view.list.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }
}

/** What to do where nothing is shown: add documents, or remove the filters. */
function nothing() {
  const { type, relation, document } = view.seen;
  if (!type && !relation && !document)
    return emptyNotice(t("graph.nothing"), href("documents", { kb: view.base }), t("documents.add"));
  return emptyNotice(t("entities.none"), here({ type: null, relation: null, of: null }), t("graph.filters.remove"));
}

function showPanel() {
  const { base, entity, seen, panel, tree, reached, fact } = view;
  const wrong = {
    fact: (one) => correctFact(base, one, changed),
    value: (attribute, value) => correctValue(base, entity, attribute, value, changed),
  };
  for (const tab of document.querySelectorAll("[data-panel]")) {
    tab.setAttribute("aria-pressed", String((tab.dataset.panel === "entity") === Boolean(seen.id)));
  }
  if (fact) {
    fill(panel, factPanel(fact, { choose, wrong }));
    return;
  }
  if (!seen.id) {
    fill(panel, tree.element, decisionsView(view.base, changed));
    return;
  }
  fill(
    panel,
    entityView(entity, {
      choose,
      expand,
      hide,
      path,
      community: (id) => go(here({ community: id, id: null })),
      reached: reached.get(entity.id),
      wrong,
      at: view.at,
      dated,
    }),
    editingView(view.base, entity, changed),
  );
}

function panelTabs() {
  const tab = (name, text, click) => button(text, click, { "data-panel": name, "aria-pressed": "false" });
  return h("div", { class: "tabs" },
    tab("tree", t("tree.title"), () => go(here({ id: null }))),
    tab("entity", t("entity.title"), () => (view.entity ? choose(view.entity.id) : announce(t("entity.none")))),
  );
}

async function startAgain() {
  await overview();
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
