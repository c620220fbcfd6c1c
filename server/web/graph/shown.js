// What of the graph is on the screen: a few hundred nodes at most, however large the store.

export const MOST = 300;

/** The nodes and edges shown, the latest last; the oldest make room. */
export class Shown {
  constructor() {
    this.nodes = new Map();
    this.edges = new Map();
  }

  /** Add what was fetched; `keep` are the ids that may not make room. Returns the ids that are new. */
  add(nodes, edges, keep = []) {
    const fresh = nodes.map((one) => one.id).filter((id) => !this.nodes.has(id));
    for (const node of nodes) {
      this.nodes.delete(node.id);
      this.nodes.set(node.id, node);
    }
    for (const edge of edges) this.edges.set(edge.id, edge);
    this.#makeRoom(new Set(keep));
    for (const [id, edge] of this.edges) {
      if (!this.nodes.has(edge.source) || !this.nodes.has(edge.target)) this.edges.delete(id);
    }
    return fresh.filter((id) => this.nodes.has(id));
  }

  /** Take a node out, with its edges. */
  remove(id) {
    this.nodes.delete(id);
    for (const edge of this.at(id)) this.edges.delete(edge.id);
  }

  #makeRoom(keep) {
    for (const id of [...this.nodes.keys()]) {
      if (this.nodes.size <= MOST) return;
      if (!keep.has(id)) this.nodes.delete(id);
    }
  }

  /** Edges at a node. */
  at(id) {
    return [...this.edges.values()].filter((edge) => edge.source === id || edge.target === id);
  }
}
