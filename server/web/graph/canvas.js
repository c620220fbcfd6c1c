// The map: the shown part of the graph, drawn by Cytoscape.js. The list next to it (list.js) shows the same as text.

import cytoscape from "../vendor/cytoscape.esm.min.js";
import { visible } from "../visible.js";
import { colourOf } from "./colours.js";
import { savePng, saveSvg } from "./picture.js";

const GOLDEN = 2.399963;
const MAX_ZOOM = 3;
const FIT_ZOOM = 1.25;
const PADDING = 64;
/** The size of a name on the screen, its greatest length in letters, and the least size of a node with a name. */
const LETTERS = 12;
const MOST_LETTERS = 15;
const NAMED = 9;
const DIRECTIONS = { ArrowRight: 0, ArrowDown: Math.PI / 2, ArrowLeft: Math.PI, ArrowUp: -Math.PI / 2 };

const colours = () => getComputedStyle(document.documentElement);
/** Whether a fact holds in a year; one without dates always does. */
export const holdsIn = ({ start = "", end = "" }, year) =>
  (!start || Number(start.slice(0, 4)) <= year) && (!end || Number(end.slice(0, 4)) >= year);
/** The data of a node on the map: the more documents mention it, the larger it is; facts count where all have one. */
const dataOf = ({ name, type, community, degree = 0, support = 0 }) => ({
  name: visible(name),
  type,
  community,
  size: Math.min(48, 14 + 7 * Math.log2(Math.max(1, support)) + 3 * Math.log2(1 + degree)),
});
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The layouts of the map by name, all Cytoscape's own. */
export const LAYOUTS = {
  forces: (many) => ({
    name: "cose",
    randomize: false,
    numIter: many ? 250 : 600,
    nodeRepulsion: () => 9000,
    idealEdgeLength: () => 75,
    nodeOverlap: 20,
    componentSpacing: 60,
    gravity: 0.6,
  }),
  rings: () => ({
    name: "concentric",
    concentric: (node) => node.data("size"),
    levelWidth: () => 4,
    minNodeSpacing: 30,
  }),
  levels: () => ({ name: "breadthfirst", spacingFactor: 1.1 }),
  circle: () => ({ name: "circle" }),
  grid: () => ({ name: "grid", avoidOverlapPadding: 30 }),
};
const MANY = 150;

function look() {
  const css = colours();
  const of = (name) => css.getPropertyValue(name).trim();
  return [
    {
      selector: "node",
      style: {
        "background-color": (node) => of(`--type-${colourOf(node.data("type"))}`),
        width: "data(size)",
        height: "data(size)",
        label: "data(name)",
        color: of("--ink"),
        "font-family": of("--sans"),
        // Where there is no room for all names, those of larger nodes are on top.
        "z-index": "data(size)",
        "text-valign": "bottom",
        "text-margin-y": 4,
        "text-wrap": "ellipsis",
        "text-background-color": of("--paper"),
        "text-background-opacity": 0.75,
        "text-background-padding": 1,
        "border-width": 0,
      },
    },
    {
      selector: "edge",
      style: {
        width: 1.8,
        "line-color": of("--line-strong"),
        "target-arrow-color": of("--line-strong"),
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        "curve-style": "bezier",
      },
    },
    {
      selector: "edge[kind = 'sentence']",
      style: { width: 1, "line-style": "dashed", "line-dash-pattern": [3, 4], "target-arrow-shape": "none", opacity: 0.8 },
    },
    {
      selector: "edge.near, edge.evidence, edge.under, edge.picked",
      style: {
        label: "data(label)",
        color: of("--soft"),
        "font-size": 11,
        "text-rotation": "autorotate",
        "min-zoomed-font-size": 7,
        "text-background-color": of("--paper"),
        "text-background-opacity": 0.85,
        "text-background-padding": 1,
      },
    },
    { selector: "node.small", style: { "text-opacity": 0, "text-background-opacity": 0 } },
    { selector: "node.near, node.evidence, node.under, node.chosen", style: { "text-opacity": 1, "z-index": 99 } },
    { selector: ".off", style: { display: "none" } },
    { selector: "edge.gone", style: { opacity: 0.1, "text-opacity": 0 } },
    {
      selector: "node.member",
      style: {
        "border-width": 3,
        "border-color": of("--accent"),
        "overlay-color": of("--accent"),
        "overlay-opacity": 0.12,
      },
    },
    { selector: "edge.under, edge.picked", style: { width: 3, "line-color": of("--accent"), "z-index": 9 } },
    { selector: ".far", style: { opacity: 0.25 } },
    {
      selector: "node.evidence",
      style: { "border-width": 4, "border-color": of("--mark-strong"), "font-weight": "bold" },
    },
    {
      selector: "edge.evidence",
      style: { width: 3.5, "line-color": of("--mark-strong"), "target-arrow-color": of("--mark-strong") },
    },
    {
      selector: "node.chosen",
      style: { "border-width": 4, "border-color": of("--accent"), "font-weight": "bold", "z-index": 100 },
    },
  ];
}

/**
  * A map in a container. Callbacks: `choose(id)` for nodes, `fact(edge)` for edges, `expand(id)` for more neighbours,
  * `label(edge)` for what is written along an edge.
 */
export class Canvas {
  constructor(container, { choose, expand, fact, layout, label }) {
    this.layout = layout;
    this.label = label;
    this.chosen = "";
    this.cy = cytoscape({ container, style: look(), minZoom: 0.1, maxZoom: MAX_ZOOM, boxSelectionEnabled: false });
    this.cy.on("zoom", () => this.#scaleNames());
    this.cy.on("mouseover", "node, edge", (event) => event.target.addClass("under"));
    this.cy.on("mouseout", "node, edge", (event) => event.target.removeClass("under"));
    this.cy.on("tap", "node", (event) => choose(event.target.id()));
    this.cy.on("tap", "edge", (event) => {
      this.cy.edges().removeClass("picked");
      event.target.addClass("picked");
      fact(event.target.data());
    });
    this.cy.on("dbltap", "node", (event) => expand(event.target.id()));
    container.addEventListener("keydown", (event) => this.#key(event, choose, expand));
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.restyle = () => this.cy.style(look());
    this.dark.addEventListener("change", this.restyle);
  }

  /**
    * Draw the shown part. `chosen` is highlighted with its neighbours, `evidence` contains ids of nodes and edges,
    * `members` ids of a community's members, `off` the hidden types.
   */
  draw(shown, { chosen, evidence, members, off, at = 0 }) {
    const { gone, added } = this.#sync(shown);
    this.date(at);
    this.#mark(chosen, evidence, members);
    this.cy.nodes().forEach((node) => node.toggleClass("off", off.has(node.data("type"))));
    // What is on the map stays where it is, unless most of it is new.
    if (2 * added.length > this.cy.nodes().length) this.#arrange();
    else if (added.length) this.#arrange(added);
    else if (!gone.length) this.show();
  }

  /** Update the map to the shown part; return the nodes that are gone and those that are new. */
  #sync(shown) {
    const gone = this.cy.elements().filter((one) => !shown.nodes.has(one.id()) && !shown.edges.has(one.id()));
    gone.remove();
    const added = [...shown.nodes.values()].filter((node) => this.cy.getElementById(node.id).empty());
    for (const node of shown.nodes.values()) this.cy.getElementById(node.id).data(dataOf(node));
    added.forEach((node, place) => this.#addNode(shown, node, place));
    for (const edge of shown.edges.values()) {
      if (this.cy.getElementById(edge.id).empty()) {
        this.cy.add({ group: "edges", data: { ...edge, label: visible(this.label(edge)) } });
      }
    }
    return { gone: gone.nodes(), added: added.map((node) => this.cy.getElementById(node.id)) };
  }

  /** A new node starts next to a linked one, on a spiral, so the same data gives the same picture. */
  #addNode(shown, node, place) {
    const near = shown
      .at(node.id)
      .map((edge) => (edge.source === node.id ? edge.target : edge.source))
      .map((id) => this.cy.getElementById(id))
      .find((one) => one.nonempty());
    const centre = near ? near.position() : { x: 0, y: 0 };
    const radius = 40 + 18 * Math.sqrt(place);
    const position = {
      x: centre.x + radius * Math.cos(place * GOLDEN),
      y: centre.y + radius * Math.sin(place * GOLDEN),
    };
    this.cy.add({ group: "nodes", data: { id: node.id, ...dataOf(node) }, position });
  }

  #mark(chosen, evidence, members) {
    this.chosen = chosen;
    this.cy.elements().removeClass("chosen near far evidence member picked");
    const within = this.cy.nodes().filter((one) => members.has(one.id()));
    within.addClass("member");
    if (within.nonempty() && !chosen) this.cy.elements().not(within.union(within.edgesWith(within))).addClass("far");
    const node = this.cy.getElementById(chosen);
    const path = this.cy.elements().filter((one) => evidence.has(one.id()));
    path.addClass("evidence");
    if (path.nonempty()) this.cy.elements().not(path).addClass("far");
    if (node.empty()) return;
    node.addClass("chosen").removeClass("far");
    node.closedNeighborhood().addClass("near").removeClass("far");
    if (path.empty()) this.cy.elements().not(node.closedNeighborhood()).addClass("far");
  }

  /** Lay the map out: all of it, or only some nodes among the others, which keep their places. */
  #arrange(moving = null) {
    const shown = this.cy.elements().not(".off");
    const chosen = LAYOUTS[moving ? "forces" : this.layout](shown.length > MANY);
    const fixed = moving ? shown.nodes().not(this.cy.collection(moving)) : this.cy.collection();
    fixed.lock();
    shown.layout({ animate: false, fit: !moving, padding: PADDING, ...chosen }).run();
    fixed.unlock();
    this.show();
  }

  /** Fade the facts that do not hold in a year; 0 shows all of them. */
  date(year) {
    this.cy.edges().forEach((edge) => edge.toggleClass("gone", year > 0 && !holdsIn(edge.data(), year)));
  }

  /** Change the layout of the map. */
  arrange(layout) {
    this.layout = layout;
    this.#arrange();
  }

  /** Save the map as a "png" or "svg" file. */
  save(kind, name) {
    const of = (variable) => colours().getPropertyValue(variable).trim();
    if (kind === "png") return savePng(this.cy, name, of("--paper"));
    return saveSvg(this.cy, name, { paper: of("--paper"), ink: of("--ink"), soft: of("--line-strong") });
  }

  /** Bring the evidence, or the chosen node, into view. */
  show() {
    const path = this.cy.elements(".evidence");
    const chosen = this.cy.getElementById(this.chosen);
    const eles = path.nonempty() ? path : chosen.nonempty() ? chosen.closedNeighborhood() : this.cy.elements();
    // Do not enlarge a few nodes to fill the map.
    this.cy.maxZoom(FIT_ZOOM);
    // Names adapt to the zoom, so they must not influence it.
    this.cy.nodes().style({ "font-size": 1, "text-max-width": 1 });
    if (still()) this.cy.fit(eles, PADDING);
    else this.cy.animate({ fit: { eles, padding: PADDING }, duration: 250 });
    this.cy.maxZoom(MAX_ZOOM);
    this.#scaleNames();
  }

  /** Names keep their size on the screen; from afar, only larger nodes have one. */
  #scaleNames() {
    const zoom = this.cy.zoom();
    const size = LETTERS / Math.min(FIT_ZOOM, zoom);
    this.cy.batch(() => {
      this.cy.nodes().style({ "font-size": size, "text-max-width": MOST_LETTERS * size });
      this.cy.nodes().forEach((node) => node.toggleClass("small", node.data("size") * zoom < NAMED));
    });
  }

  zoom(factor) {
    this.cy.zoom({
      level: this.cy.zoom() * factor,
      renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 },
    });
  }

  #key(event, choose, expand) {
    if (event.key in DIRECTIONS) {
      const next = this.#towards(DIRECTIONS[event.key]);
      if (next) choose(next);
    } else if (event.key === "Enter" && this.chosen) {
      expand(this.chosen);
    } else if (event.key === "+" || event.key === "-") {
      this.zoom(event.key === "+" ? 1.25 : 0.8);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** The nearest node in a direction; neighbours come first. */
  #towards(angle) {
    const from = this.cy.getElementById(this.chosen);
    if (from.empty())
      return this.cy
        .nodes()
        .max((node) => node.data("size"))
        .ele?.id();
    const origin = from.position();
    const near = from.neighborhood();
    let best = null;
    for (const node of this.cy.nodes().not(from)) {
      const { x, y } = node.position();
      const turn = Math.abs(
        Math.atan2(
          Math.sin(Math.atan2(y - origin.y, x - origin.x) - angle),
          Math.cos(Math.atan2(y - origin.y, x - origin.x) - angle),
        ),
      );
      const cost = Math.hypot(x - origin.x, y - origin.y) * (1 + 2 * turn) * (near.contains(node) ? 1 : 2);
      if (turn < Math.PI / 3 && (!best || cost < best.cost)) best = { id: node.id(), cost };
    }
    return best?.id;
  }

  close() {
    this.dark.removeEventListener("change", this.restyle);
    this.cy.destroy();
  }
}
