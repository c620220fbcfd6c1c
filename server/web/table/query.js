// The form with which a table is chosen, filtered, grouped and computed.

import { field, h } from "../dom.js";
import { spaced } from "../names.js";
import { t } from "../strings.js";
import { grouping, groupingIn, MOST } from "./address.js";

const CALCULATIONS = ["list", "count", "distinct", "sum", "mean", "smallest", "largest", "first", "last"];
const PERIODS = ["year", "month", "decade"];
const FILTERS = ["head", "tail", "where", "at", "document", "limit", "show"];
const LONGEST = 1000;
/** On a phone the filters are folded, so that the table is not far below. */
const WIDE = matchMedia("(min-width: 40.01rem)");

const option = (value, text) => h("option", { value }, text);
const input = (properties = {}) =>
  h("input", { maxlength: LONGEST, autocomplete: "off", spellcheck: "false", ...properties });

/** The form; `apply(lookup)` is called with what it asks for. */
export class Query {
  constructor(fields, apply) {
    const names = fields.map((one) => one.name);
    const kind = (label, items) =>
      items.length > 0 && h("optgroup", { label }, items.map(({ name, rows }) => option(name, counted(name, rows))));
    this.relation = h("select", {},
      option("", t("table.choose")),
      kind(t("kinds.relation"), fields.filter((one) => !one.is_attribute)),
      kind(t("kinds.attribute"), fields.filter((one) => one.is_attribute)),
    );
    this.head = input({ placeholder: t("table.head.example") });
    this.tail = input({ placeholder: t("table.tail.example") });
    this.where = h("textarea", { rows: 2, spellcheck: "false", placeholder: t("table.where.example") });
    this.by = h("select", {},
      [option("", t("table.by.none")), option("tail", t("table.tail")), option("head", t("table.head"))],
      h("optgroup", { label: t("table.by.field") }, names.map((name) => option(name, spaced(name)))),
    );
    this.period = h("select", {}, option("", t("table.period.none")), PERIODS.map((one) => option(one, t(`table.period.${one}`))));
    this.calculation = h("select", {}, CALCULATIONS.map((one) => option(one, t(`table.do.${one}`))));
    this.limit = input({ type: "number", min: 1, max: MOST });
    this.at = input({ placeholder: t("entity.at.example") });
    this.document = input();
    this.shown = new Map();
    this.fields = h("div", { class: "chips" });
    this.count = h("span", { class: "soft" });
    names.forEach((name) => this.#offer(name));
    this.element = h(
      "form",
      {
        class: "card query-form",
        on: {
          submit: (event) => {
            event.preventDefault();
            apply(this.lookup());
          },
          // What is typed waits for Enter or the button, what is chosen is shown at once.
          change: ({ target }) => target.matches("select, [type=checkbox]") && apply(this.lookup()),
        },
      },
      h("div", { class: "query" },
        field(t("table.relation"), this.relation),
        field(t("table.do"), this.calculation),
        field(t("table.by"), this.by),
        field(t("table.period"), this.period),
      ),
      h("details", { open: WIDE.matches },
        h("summary", {}, t("table.filters"), this.count),
        h("div", { class: "query" },
          field(t("table.head"), this.head),
          field(t("table.tail"), this.tail),
          field(t("table.where"), this.where),
          field(t("entity.at"), this.at),
          field(t("table.in"), this.document),
          field(t("table.limit"), this.limit),
        ),
        h("fieldset", {}, h("legend", {}, t("table.show")), this.fields),
        h("div", { class: "actions start" }, h("button", { type: "submit", class: "primary" }, t("entity.at.show"))),
      ),
    );
  }

  /** Show a lookup in the form. */
  set(lookup) {
    const { field: by, period } = groupingIn(lookup.by);
    for (const name of ["head", "tail", "limit", "at", "document"]) this[name].value = lookup[name];
    this.where.value = lookup.where.join("\n");
    select(this.relation, lookup.relation);
    select(this.by, by);
    select(this.period, period);
    select(this.calculation, lookup.do || "list");
    // A subject has no date, nor has a table without groups.
    this.period.disabled = !by || by === "head";
    const used = FILTERS.filter((name) => lookup[name].length > 0);
    this.count.textContent = used.length ? ` (${used.length})` : "";
    lookup.show.forEach((name) => this.#offer(name));
    for (const [name, box] of this.shown) box.checked = lookup.show.includes(name);
  }

  /** Offer a field to show, once. */
  #offer(name) {
    if (this.shown.has(name)) return;
    const box = h("input", { type: "checkbox" });
    this.shown.set(name, box);
    this.fields.append(field(spaced(name), box));
  }

  /** The lookup that the form asks for. */
  lookup() {
    const calculation = this.calculation.value;
    const parts = { field: this.by.value, period: this.period.value };
    return {
      relation: this.relation.value,
      head: this.head.value.trim(),
      tail: this.tail.value.trim(),
      where: this.where.value.split("\n").map((line) => line.trim()).filter(Boolean),
      by: parts.field && parts.field !== "head" ? grouping(parts) : parts.field,
      do: calculation === "list" ? "" : calculation,
      show: [...this.shown].filter(([, box]) => box.checked).map(([name]) => name),
      at: this.at.value.trim(),
      document: this.document.value.trim(),
      limit: this.limit.value,
    };
  }
}

/** A field with its number of rows. */
export const counted = (name, rows) => t("graph.type.of", { name: spaced(name), n: rows });

/** Choose a value, also one that is not offered, such as a label in another language. */
function select(control, value) {
  if (![...control.options].some((one) => one.value === value)) control.append(option(value, spaced(value)));
  control.value = value;
}
