// All entities of a knowledge base as a table, a page at a time, with a filter by name.

import { get, of } from "../api.js";
import { button, failure, field, fill, grid, h, rowHead } from "../dom.js";
import { spaced } from "../names.js";
import { pager } from "../pages.js";
import { number, t } from "../strings.js";
import { typeDot } from "./colours.js";

const PAGE = 50;
const WAIT = 200;

/** The table; `choose(id)` opens an entity. */
export class EntityTable {
  constructor(base, choose) {
    Object.assign(this, { base, choose, filters: {}, chosen: "", offset: 0 });
    this.name = h("input", { type: "search", autocomplete: "off", spellcheck: "false", maxlength: 200 });
    this.table = h("div");
    this.element = h("div", { class: "entity-table" },
      field(t("entities.filter"), this.name, { class: "inline" }),
      this.table,
    );
    let timer = 0;
    this.name.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#load(0), WAIT);
    });
  }

  /** Show the entities that match the filters of the address; `chosen` is marked. */
  async show({ type, relation, document }, chosen) {
    const filters = { type, relation, document };
    const same = JSON.stringify(filters) === JSON.stringify(this.filters);
    Object.assign(this, { filters, chosen });
    if (!same || !this.page) await this.#load(0);
    else this.#draw();
  }

  /** Forget what was fetched, because the graph has changed. */
  renew() {
    this.page = null;
  }

  async #load(offset) {
    const asked = { ...this.filters, q: this.name.value.trim(), limit: PAGE, offset };
    this.asked = asked;
    try {
      const page = await get(of(this.base, "/graph/overview"), asked);
      if (this.asked !== asked) return;
      Object.assign(this, { page, offset });
      this.#draw();
    } catch (error) {
      fill(this.table, failure(error));
    }
  }

  #draw() {
    const { nodes, total } = this.page;
    const focused = this.table.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    fill(
      this.table,
      nodes.length ? this.#rows(nodes) : h("p", { class: "soft" }, t("entities.none")),
      pager({ offset: this.offset, size: PAGE, total, turn: (offset) => this.#load(offset) }),
    );
    if (focused) this.table.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #rows(nodes) {
    const head = ["name", "type", "links"].map((name) => t(`entities.${name}`));
    const row = (node) => [
      rowHead(
        button(node.name, () => this.choose(node.id), {
          class: "link",
          "data-key": node.id,
          "aria-current": node.id === this.chosen ? "true" : null,
        }),
      ),
      [typeDot(node.type), " ", spaced(node.type)],
      h("td", { class: "figure" }, number(node.degree ?? 0)),
    ];
    return grid(head, nodes.map(row));
  }
}
