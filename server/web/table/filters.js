// What is chosen of a table by clicking: its filters, and how its rows are counted.

import { button, field, h } from "../dom.js";
import { t } from "../strings.js";
import { CALCULATIONS, WITHOUT_VALUE } from "./compose.js";

const SIGNS = ["is", "not", "has", "from", "to", "none", "some"];
const LONGEST = 1000;

const option = (value, text) => h("option", { value }, text);
const said = ({ column, sign, value }) => [column, t(`table.sign.${sign}`), value].filter(Boolean).join(" ");

/** The filters of a table, and a form for another one; `apply(asked)` shows the table that is asked for. */
export function filterForm(asked, { columns }, apply) {
  const column = h("select", {}, columns.map(({ name }) => option(name, name)));
  const sign = h("select", {}, SIGNS.map((one) => option(one, t(`table.sign.${one}`))));
  const value = h("input", { maxlength: LONGEST, autocomplete: "off", spellcheck: "false" });
  sign.addEventListener("change", () => (value.disabled = WITHOUT_VALUE.includes(sign.value)));
  const add = (event) => {
    event.preventDefault();
    const one = { column: column.value, sign: sign.value, value: value.disabled ? "" : value.value.trim() };
    apply({ ...asked, where: [...asked.where, one] });
  };
  const without = (one) => apply({ ...asked, where: asked.where.filter((other) => other !== one) });
  const drop = (one) =>
    button([said(one), h("span", { "aria-hidden": "true" }, " ×")], () => without(one), {
      class: "chip",
      "aria-label": t("table.filter.drop", { filter: said(one) }),
    });
  return h("form", { class: "query", on: { submit: add } },
    field(t("table.filter"), column),
    field(t("table.sign"), sign),
    field(t("table.filter.value"), value),
    h("button", { type: "submit" }, t("table.filter.add")),
    asked.where.length > 0 && h("div", { class: "chips" }, asked.where.map(drop)),
  );
}

/** By what a table is grouped and what is computed; `apply(asked)` as above. */
export function groupForm(asked, { columns }, apply) {
  const by = h("select", {}, option("", t("table.by.none")), columns.map(({ name }) => option(name, name)));
  const numbers = columns.filter(({ kind, name }) => kind === "number" && name !== asked.by);
  const computed = h("select", { disabled: !asked.by },
    option("", t("table.do.count")),
    numbers.map(({ name }) =>
      h("optgroup", { label: name }, Object.keys(CALCULATIONS).map((one) => option(`${one} ${name}`, `${t(`table.do.${one}`)}: ${name}`))),
    ),
  );
  Object.assign(by, { value: asked.by });
  Object.assign(computed, { value: asked.do });
  const change = () => apply({ ...asked, by: by.value, do: by.value ? computed.value : "", sort: "" });
  for (const one of [by, computed]) one.addEventListener("change", change);
  return h("div", { class: "query" }, field(t("table.by"), by), field(t("table.do"), computed));
}
