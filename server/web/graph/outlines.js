// Outlines of communities on the map: a line around the linked entities of each, drawn behind them.

const CORNERS = 12;
const ROOM = 10;
/** The letters of a community's name, its height, and its place above the outline, in pixels. */
const NAME = 32;
const LINE = 13;
const ABOVE = 4;
/** Two entities already have a line between them. */
const LEAST = 3;

/** Draws the outlines whenever the map is drawn; `shown` says whether they are switched on. */
export class Outlines {
  constructor(cy, container, colour) {
    Object.assign(this, { cy, colour, shown: true, names: new Map() });
    this.layer = document.createElement("canvas");
    this.layer.className = "outlines";
    this.layer.setAttribute("aria-hidden", "true");
    container.prepend(this.layer);
    cy.on("render", () => this.draw());
  }

  /** Show or hide the outlines. */
  show(shown) {
    this.shown = shown;
    this.draw();
  }

  draw() {
    const { layer, cy } = this;
    const [width, height, ratio] = [cy.width(), cy.height(), devicePixelRatio];
    if (layer.width !== Math.round(width * ratio) || layer.height !== Math.round(height * ratio)) {
      layer.width = Math.round(width * ratio);
      layer.height = Math.round(height * ratio);
    }
    const pen = layer.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const drawn = this.shown ? this.#communities() : [];
    for (const nodes of drawn) this.#outline(pen, nodes);
    this.#name(pen, drawn);
    layer.dataset.outlines = String(drawn.length);
  }

  /** Write the name of each community above or below its largest group, where it covers no name of a node. */
  #name(pen, drawn) {
    const placed = this.cy.nodes().not(".off").map(boxOf);
    const named = new Set();
    pen.font = `650 11px ${this.colour("--sans")}`;
    pen.fillStyle = this.colour("--soft");
    pen.textAlign = "center";
    for (const nodes of drawn.toSorted((one, other) => other.length - one.length)) {
      const community = nodes[0].data("community");
      const name = shortName(this.names.get(community) ?? "");
      if (!name || named.has(community)) continue;
      const room = bounds(nodes.flatMap(corners));
      const half = pen.measureText(name).width / 2;
      const box = placesOf(room, half)
        .filter((one) => one.x1 >= 0 && one.x2 <= this.cy.width() && one.y1 >= 0 && one.y2 <= this.cy.height())
        .find((one) => placed.every((other) => isApart(one, other)));
      if (!box) continue;
      named.add(community);
      placed.push(box);
      pen.fillText(name, box.x1 + half, box.y2);
    }
    this.layer.dataset.names = String(named.size);
  }

  /** The entities of each community on the map; the open community comes last, to be drawn over the others. */
  #communities() {
    const by = new Map();
    for (const node of this.cy.nodes().not(".off")) {
      const community = node.data("community");
      if (community && !node.hasClass("member")) by.set(community, [...(by.get(community) ?? []), node]);
    }
    const others = [...by.values()].flatMap((nodes) => this.#parts(nodes)).filter((nodes) => nodes.length >= LEAST);
    return [...others, ...this.#parts(this.cy.nodes(".member").not(".off").toArray())];
  }

  /** The entities of a community in groups that are linked by facts, and therefore close to each other. */
  #parts(nodes) {
    const all = this.cy.collection(nodes);
    return all
      .union(all.edgesWith(all))
      .components()
      .map((part) => part.nodes().toArray());
  }

  #outline(pen, nodes) {
    const open = nodes[0].hasClass("member");
    const hull = around(nodes.flatMap(corners));
    pen.beginPath();
    hull.forEach(({ x, y }, place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.lineJoin = "round";
    pen.lineWidth = open ? 2.5 : 1;
    pen.setLineDash(open ? [] : [5, 4]);
    pen.strokeStyle = this.colour(open ? "--accent" : "--line-strong");
    pen.fillStyle = this.colour(open ? "--accent" : "--line-strong");
    pen.globalAlpha = open ? 0.1 : 0.06;
    pen.fill();
    pen.globalAlpha = open ? 1 : 0.8;
    pen.stroke();
    pen.globalAlpha = 1;
  }
}

/** The first of the names that a community is called after, without its kind in brackets. */
const shortName = (full) => {
  const parts = full.replace(/\s*[(（][^()（）]*[)）]$/, "").split(/,\s+|、/);
  const two = parts.slice(0, 2).join(" · ");
  const name = two.length <= NAME ? two : parts[0];
  return name.length <= NAME ? name : `${name.slice(0, NAME - 1)}…`;
};
/** The room that a node takes with its name, on the screen. */
const boxOf = (node) => node.renderedBoundingBox({ includeLabels: !node.hasClass("crowded") });
const bounds = (points) => ({
  x1: Math.min(...points.map((one) => one.x)),
  x2: Math.max(...points.map((one) => one.x)),
  y1: Math.min(...points.map((one) => one.y)),
  y2: Math.max(...points.map((one) => one.y)),
});
/** Places for a name around an outline, and above and below it a line further, the best first. */
const placesOf = ({ x1, x2, y1, y2 }, half) =>
  [0, 1].flatMap((away) =>
    [(x1 + x2) / 2, x1, x2].flatMap((x) =>
      [y1 - ABOVE - away * LINE, y2 + LINE + away * LINE].map((y) => ({ x1: x - half, x2: x + half, y1: y - LINE, y2: y })),
    ),
  );
const isApart = (one, other) => one.x2 < other.x1 || one.x1 > other.x2 || one.y2 < other.y1 || one.y1 > other.y2;

/** Points around a node, to leave a margin between it and the outline. */
function corners(node) {
  const { x, y } = node.renderedPosition();
  const radius = node.renderedWidth() / 2 + ROOM;
  return Array.from({ length: CORNERS }, (_, place) => {
    const angle = (2 * Math.PI * place) / CORNERS;
    return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
  });
}

/** The convex hull of some points (Andrew's monotone chain). */
export function around(points) {
  const sorted = [...points].sort((one, other) => one.x - other.x || one.y - other.y);
  const half = (ordered) => {
    const hull = [];
    for (const point of ordered) {
      while (hull.length > 1 && turn(hull.at(-2), hull.at(-1), point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

const turn = (a, b, c) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
