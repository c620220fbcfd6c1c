// The shown part of the graph as text, for keyboards, screen readers, and people who prefer reading.

import { button, h } from "../dom.js";
import { spaced } from "../names.js";
import { number, t } from "../strings.js";

const LINKS = 6;

/** The nodes shown, each with its links to others that are shown. */
export function listView(shown, { choose, expand, chosen, evidence }) {
  const nodes = [...shown.nodes.values()].sort(
    (one, other) =>
      evidence.has(other.id) - evidence.has(one.id) ||
      (other.degree ?? 0) - (one.degree ?? 0) ||
      (one.name < other.name ? -1 : 1),
  );
  return h("ul", { class: "node-list" },
    nodes.map((node) =>
      h("li", { class: evidence.has(node.id) ? "evidence" : "" },
        h("div", { class: "node-head" },
          button(node.name, () => choose(node.id), {
            class: "link",
            "data-key": `choose ${node.id}`,
            "aria-current": node.id === chosen ? "true" : null,
          }),
          h("span", { class: "soft" }, t("graph.node", { type: spaced(node.type), n: node.degree ?? 0 })),
          button(t("graph.expand"), () => expand(node.id), {
            class: "quiet small",
            "data-key": `expand ${node.id}`,
            "aria-label": t("graph.expand.of", { name: node.name }),
          }),
        ),
        linksOf(shown, node, choose),
      ),
    ),
  );
}

function linksOf(shown, node, choose) {
  const edges = shown.at(node.id);
  if (!edges.length) return null;
  return h("ul", { class: "links" },
    edges.slice(0, LINKS).map((edge) => {
      const out = edge.source === node.id;
      const other = shown.nodes.get(out ? edge.target : edge.source);
      return h("li", {},
        edge.kind === "sentence"
          ? `${t("graph.line.sentence")}: `
          : out
            ? `${spaced(edge.relation)} → `
            : `← ${spaced(edge.relation)} `,
        button(other.name, () => choose(other.id), { class: "link" }),
      );
    }),
    edges.length > LINKS && h("li", { class: "soft" }, t("graph.more.links", { n: number(edges.length - LINKS) })),
  );
}
