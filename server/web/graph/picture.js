// The map as a file: a bitmap (PNG), or a vector image (SVG).

import { saved } from "../saving.js";

const MARGIN = 40;
const MOST_PIXELS = 6000;

/** Save the map as PNG. */
export async function savePng(cy, name, paper) {
  const blob = await cy.png({
    output: "blob-promise",
    full: true,
    scale: 2,
    bg: paper,
    maxWidth: MOST_PIXELS,
    maxHeight: MOST_PIXELS,
  });
  saved(blob, `${name}.png`);
}

/** Save the map as SVG. */
export function saveSvg(cy, name, colours) {
  saved(new Blob([svgOf(cy, colours)], { type: "image/svg+xml" }), `${name}.svg`);
}

/** The map as the text of an SVG file. */
export function svgOf(cy, { paper, ink, soft }) {
  const root = document.implementation.createDocument(namespace(), "svg", null);
  const make = (tag, values, text) => {
    const element = root.createElementNS(namespace(), tag);
    for (const [key, value] of Object.entries(values)) element.setAttribute(key, String(value));
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const { x1, y1, w, h } = cy.elements().boundingBox();
  const box = [x1 - MARGIN, y1 - MARGIN, w + 2 * MARGIN, h + 2 * MARGIN].map(Math.round);
  root.documentElement.setAttribute("viewBox", box.join(" "));
  root.documentElement.append(
    make("rect", { x: box[0], y: box[1], width: box[2], height: box[3], fill: paper }),
    ...cy.edges(":visible").map((edge) => {
      const [from, to] = [edge.sourceEndpoint(), edge.targetEndpoint()];
      const line = { x1: from.x, y1: from.y, x2: to.x, y2: to.y, stroke: edge.style("line-color") };
      const element = make("line", { ...line, "stroke-width": edge.numericStyle("width") });
      element.append(make("title", {}, edge.data("label")));
      return element;
    }),
    ...cy.nodes(":visible").flatMap((node) => {
      const { x, y } = node.position();
      const radius = node.data("size") / 2;
      const text = { x, y: y + radius + 13, "text-anchor": "middle", "font-size": 11, "font-family": "sans-serif" };
      return [
        make("circle", { cx: x, cy: y, r: radius, fill: node.style("background-color"), stroke: soft }),
        make("text", { ...text, fill: ink }, node.data("name")),
      ];
    }),
  );
  return new XMLSerializer().serializeToString(root);
}

/** Only an identifier: nothing is fetched from it. */
const namespace = () => ["http:", "", "www.w3.org", "2000", "svg"].join("/");
