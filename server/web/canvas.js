// The map: what is shown of the graph, drawn by Cytoscape.js. The list next to it (list.js) shows the same as text.

import { spaced } from "./names.js";
import cytoscape from "./vendor/cytoscape.esm.min.js";

const PALETTE = 8;
const GOLDEN = 2.399963;
const MAX_ZOOM = 3;
const FIT_ZOOM = 1.25;
const PADDING = 50;
/** Size of a name on the screen in pixels, and the longest that is shown whole, in its own height. */
const LETTERS = 12;
const MOST_LETTERS = 11;
const DIRECTIONS = { ArrowRight: 0, ArrowDown: Math.PI / 2, ArrowLeft: Math.PI, ArrowUp: -Math.PI / 2 };

const colours = () => getComputedStyle(document.documentElement);
/** The length of a name in its own height: letters are about half as wide, ideographs as wide. */
const lettersOf = (name) => Array.from(name).reduce((length, letter) => length + (letter > "\u2e80" ? 1 : 0.58), 0);
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The colour of an entity type: one of a palette, by its place among the types; the rest share one. */
export const typeColour = (place) => (place >= 0 && place < PALETTE ? `--type-${place}` : "--type-other");

function look(typePlace) {
  const css = colours();
  const of = (name) => css.getPropertyValue(name).trim();
  return [
    {
      selector: "node",
      style: {
        "background-color": (node) => of(typeColour(typePlace(node.data("type")))),
        width: "data(size)",
        height: "data(size)",
        color: of("--ink"),
        "font-family": of("--sans"),
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
        width: 1.2,
        "line-color": of("--line-strong"),
        "target-arrow-color": of("--line-strong"),
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        "curve-style": "bezier",
      },
    },
    {
      selector: "edge.near, edge.evidence",
      style: {
        label: "data(label)",
        color: of("--soft"),
        "text-rotation": "autorotate",
        "min-zoomed-font-size": 7,
        "text-background-color": of("--paper"),
        "text-background-opacity": 0.85,
        "text-background-padding": 1,
      },
    },
    { selector: "node.named, node.under, node.evidence, node.chosen", style: { label: "data(name)" } },
    { selector: "node.under", style: { "z-index": 9 } },
    { selector: ".far", style: { opacity: 0.25 } },
    {
      selector: "node.evidence",
      style: { "border-width": 4, "border-color": of("--mark-strong"), "font-weight": "bold" },
    },
    {
      selector: "edge.evidence",
      style: { width: 3.5, "line-color": of("--mark-strong"), "target-arrow-color": of("--mark-strong") },
    },
    { selector: "node.chosen", style: { "border-width": 4, "border-color": of("--accent"), "font-weight": "bold" } },
  ];
}

/** A map in a container. `choose(id)`: a node was picked; `expand(id)`: more of it is wanted. */
export class Canvas {
  constructor(container, { choose, expand, typePlace }) {
    this.typePlace = typePlace;
    this.chosen = "";
    this.cy = cytoscape({
      container,
      style: look(typePlace),
      minZoom: 0.1,
      maxZoom: MAX_ZOOM,
      boxSelectionEnabled: false,
    });
    this.cy.on("zoom", () => this.#nameSome());
    this.cy.on("mouseover", "node", (event) => event.target.addClass("under"));
    this.cy.on("mouseout", "node", (event) => event.target.removeClass("under"));
    this.cy.on("tap", "node", (event) => choose(event.target.id()));
    this.cy.on("dbltap", "node", (event) => expand(event.target.id()));
    container.addEventListener("keydown", (event) => this.#key(event, choose, expand));
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.restyle = () => this.cy.style(look(typePlace));
    this.dark.addEventListener("change", this.restyle);
  }

  /** Draw what is shown. `chosen` is picked out with its neighbours, `evidence` is a set of ids of nodes and edges. */
  draw(shown, chosen, evidence) {
    const changed = this.#sync(shown);
    this.#mark(chosen, evidence);
    if (changed) this.#arrange();
    else this.show();
  }

  /** Make the map hold what is shown; true if nodes came or went. */
  #sync(shown) {
    const gone = this.cy.elements().filter((one) => !shown.nodes.has(one.id()) && !shown.edges.has(one.id()));
    gone.remove();
    const added = [...shown.nodes.values()].filter((node) => this.cy.getElementById(node.id).empty());
    added.forEach((node, place) => this.#addNode(shown, node, place));
    for (const edge of shown.edges.values()) {
      if (this.cy.getElementById(edge.id).empty()) {
        this.cy.add({ group: "edges", data: { ...edge, label: spaced(edge.relation) } });
      }
    }
    return gone.length + added.length > 0;
  }

  /** A new node starts next to a linked one, on a spiral: the same data gives the same picture. */
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
    const size = Math.min(44, 14 + 5 * Math.log2(1 + (node.degree ?? 0)));
    this.cy.add({ group: "nodes", data: { id: node.id, name: node.name, type: node.type, size }, position });
  }

  #mark(chosen, evidence) {
    this.chosen = chosen;
    this.cy.elements().removeClass("chosen near far evidence");
    const node = this.cy.getElementById(chosen);
    const path = this.cy.elements().filter((one) => evidence.has(one.id()));
    path.addClass("evidence");
    if (path.nonempty()) this.cy.elements().not(path).addClass("far");
    if (node.empty()) return;
    node.addClass("chosen").removeClass("far");
    node.closedNeighborhood().addClass("near").removeClass("far");
    if (path.empty()) this.cy.elements().not(node.closedNeighborhood()).addClass("far");
  }

  /** Names keep their size on the screen; where two would overlap, the better linked node has its name. */
  #nameSome() {
    const zoom = this.cy.zoom();
    const size = LETTERS / Math.min(FIT_ZOOM, Math.max(0.2, zoom));
    const placed = [];
    const rank = (node) =>
      1000 * ["near", "evidence", "chosen"].findLastIndex((one) => node.hasClass(one)) + node.data("size");
    const ranked = this.cy.nodes().sort((one, other) => rank(other) - rank(one));
    this.cy.batch(() =>
      ranked.forEach((node) => {
        const { x, y } = node.position();
        const half = (size * Math.min(MOST_LETTERS, lettersOf(node.data("name")))) / 2;
        const top = y + node.data("size") / 2;
        const box = { left: x - half, right: x + half, top: top - size / 2, bottom: top + 1.5 * size };
        const free = placed.every(
          (one) => one.right < box.left || one.left > box.right || one.bottom < box.top || one.top > box.bottom,
        );
        if (free) placed.push(box);
        node.toggleClass("named", free);
        node.style({ "font-size": size, "text-max-width": MOST_LETTERS * size });
      }),
    );
    this.cy.edges().style("font-size", 0.9 * size);
  }

  #arrange() {
    const many = this.cy.nodes().length > 150;
    this.cy
      .layout({
        name: "cose",
        animate: false,
        randomize: false,
        fit: true,
        padding: PADDING,
        numIter: many ? 250 : 600,
        nodeDimensionsIncludeLabels: true,
        nodeRepulsion: () => 9000,
        idealEdgeLength: () => 70,
        nodeOverlap: 12,
        componentSpacing: 80,
        gravity: 0.4,
      })
      .run();
    this.show();
  }

  /** Bring the evidence, or the node that is picked out, into view. */
  show() {
    const path = this.cy.elements(".evidence");
    const chosen = this.cy.getElementById(this.chosen);
    const eles = path.nonempty() ? path : chosen.nonempty() ? chosen.closedNeighborhood() : this.cy.elements();
    // Few nodes are not blown up to fill the map.
    this.cy.maxZoom(FIT_ZOOM);
    if (still()) this.cy.fit(eles, PADDING);
    else this.cy.animate({ fit: { eles, padding: PADDING }, duration: 250 });
    this.cy.maxZoom(MAX_ZOOM);
    this.#nameSome();
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

  /** The nearest node in a direction, a neighbour before others. */
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
