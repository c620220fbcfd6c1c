// The shown part of the graph: a few hundred nodes at most, however large the graph is.

export const MOST = 300;

/** The shown nodes and edges, latest last; the oldest are dropped first. */
export class Shown {
  constructor() {
    this.nodes = new Map();
    this.edges = new Map();
  }

  /** Add fetched nodes and edges; `keep` has ids that may not be dropped. Return the new ids. */
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

  /** Remove a node with its edges. */
  remove(id) {
    this.nodes.delete(id);
    for (const edge of this.at(id)) this.edges.delete(edge.id);
  }

  /** The part without some types of entities. */
  without(types) {
    if (!types.size) return this;
    const part = new Shown();
    part.add([...this.nodes.values()].filter((node) => !types.has(node.type)), [...this.edges.values()]);
    return part;
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
