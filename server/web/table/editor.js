// The box for SQL, with the names of tables and columns at hand.

import { button, field, fold, h } from "../dom.js";
import { t } from "../strings.js";

const LONGEST = 4000;
const ROWS = 3;

/** The box; `run(sql)` is called with what is written, and `first` is the table whose columns come first. */
export function editor(sql, tables, first, run) {
  const box = h("textarea", { rows: ROWS, maxlength: LONGEST, spellcheck: "false", value: sql });
  const insert = (name) => {
    box.setRangeText(name, box.selectionStart, box.selectionEnd, "end");
    box.focus();
  };
  const chip = ({ name }) => button(name, () => insert(name), { class: "chip" });
  const named = (one) => h("div", { class: "chips" }, chip(one), ":", one.columns.map(chip));
  const ordered = [...tables].sort((one, other) => (other.name === first) - (one.name === first));
  const names = () => [
    ordered.filter(({ kind, name }) => kind !== "relation" || name === first).map(named),
    h("div", { class: "chips" }, ordered.filter(({ kind }) => kind === "relation").map(chip)),
  ];
  const submit = (event) => {
    event.preventDefault();
    if (box.value.trim()) run(box.value.trim());
  };
  box.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event));
  return h("form", { class: "listing sql-box", on: { submit } },
    field("SQL", box),
    h("div", {}, h("button", { type: "submit", class: "primary" }, t("table.run"))),
    fold(t("table.names"), names),
  );
}
