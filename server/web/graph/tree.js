// The knowledge tree: communities by level, down to their members.

import { get, of } from "../api.js";
import { button, failure, fill, h } from "../dom.js";
import { factsText, spaced } from "../names.js";
import { t } from "../strings.js";

const PAGE = 20;
const MARKED = 500;

/** The ids of a community's members, to highlight them on the map. */
export async function membersOf(base, id) {
  if (!id) return new Set();
  const { members } = await get(of(base, "/tree/community"), { id, limit: MARKED });
  return new Set(members.map((one) => one.id));
}

/** The panel of the tree. `open(id)` opens a community ("" for the top), `choose` and `keyword` an entity. */
export class Tree {
  constructor(base, { open, choose, keyword, map }) {
    Object.assign(this, { base, open, choose, keyword, map });
    this.element = h("section", { class: "tree" });
  }

  /** Show a community, or the top of the tree. */
  async show(id) {
    this.asked = id;
    try {
      const content = id ? await this.#community(id) : await this.#top();
      if (this.asked === id) fill(this.element, content);
    } catch (error) {
      fill(this.element, failure(error));
    }
  }

  async #top() {
    const list = h("ul", { class: "communities" });
    const first = await get(of(this.base, "/tree"), { limit: PAGE, offset: 0 });
    const more = this.#paged(
      list,
      first,
      (offset) => get(of(this.base, "/tree"), { limit: PAGE, offset }),
      (one) => this.#item(one),
    );
    return [
      h("h2", { tabindex: "-1" }, t("tree.title")),
      h("p", { class: "soft" }, first.total ? t("tree.about", { n: first.total }) : t("tree.none")),
      list,
      more,
    ];
  }

  async #community(id) {
    const found = await get(of(this.base, "/tree/community"), { id, limit: PAGE, offset: 0 });
    const below = await get(of(this.base, "/tree"), { parent: id, limit: PAGE, offset: 0 });
    const children = h("ul", { class: "communities" });
    const members = h("ul", { class: "plain members" });
    const moreChildren = this.#paged(
      children,
      below,
      (offset) => get(of(this.base, "/tree"), { parent: id, limit: PAGE, offset }),
      (one) => this.#item(one),
    );
    const page = (one) => ({ items: one.members, total: one.total });
    const moreMembers = this.#paged(
      members,
      page(found),
      async (offset) => page(await get(of(this.base, "/tree/community"), { id, limit: PAGE, offset })),
      (one) => this.#member(one),
    );
    return [
      h("nav", { class: "crumbs", "aria-label": t("tree.path") },
        button(t("tree.all"), () => this.open(""), { class: "link" }),
        found.parent && [" › ", button(t("tree.up"), () => this.open(found.parent), { class: "link" })],
      ),
      below.levels > 1 && h("p", { class: "eyebrow" }, t("tree.level", { level: found.level + 1, levels: below.levels })),
      h("h2", { tabindex: "-1" }, found.name),
      // Entities without facts have only a name to show.
      found.summary !== found.name && h("p", {}, factsText(found.summary)),
      this.#keywords(found),
      h("div", { class: "actions start" },
        button(t("tree.map"), () => this.map(id)),
      ),
      below.total > 0 && [h("h3", {}, t("tree.below", { n: below.total })), children, moreChildren],
      h("h3", {}, t("tree.members", { n: found.total })),
      members,
      moreMembers,
    ];
  }

  /** Fill a list with a page; return the button for the next page, or nothing. */
  #paged(list, first, next, item) {
    list.append(...first.items.map(item));
    if (list.children.length >= first.total) return null;
    const more = button(
      t("page.more"),
      async () => {
        const page = await next(list.children.length);
        list.append(...page.items.map(item));
        if (!page.items.length || list.children.length >= page.total) more.remove();
      },
      { class: "quiet" },
    );
    return more;
  }

  #item(one) {
    return h("li", {},
      button(one.name, () => this.open(one.id), { class: "link strong" }),
      h("span", { class: "soft" }, ` ${t("tree.size", { n: one.size })}`),
      one.summary !== one.name && h("p", { class: "summary" }, factsText(one.summary)),
    );
  }

  #member(node) {
    return h("li", {},
      button(node.name, () => this.choose(node.id), { class: "link" }),
      h("span", { class: "soft" }, ` ${spaced(node.type)}`),
    );
  }

  #keywords(one) {
    return (
      one.keywords?.length > 0 &&
      h("p", { class: "chips" },
        h("span", { class: "soft" }, t("tree.keywords")),
        one.keywords.map((name) => button(name, () => this.keyword(name), { class: "chip" })),
      )
    );
  }
}
