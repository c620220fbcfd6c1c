// The dialog for a manual change of the graph: who decides, and why.

import { get, of } from "../api.js";
import { formDialog } from "../dialogs.js";
import { button, field, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { t } from "../strings.js";
import { askOther } from "./toolbar.js";

const KEPT = "banyan.who";

/** Who decided last, as far as this browser knows. */
export const decider = () => localStorage.getItem(KEPT) ?? t("review.who.default");

/** Ask who decides and why; `send({ who, why })` makes the change. Return its result, or nothing. */
export function decided(title, { content = [], verb, send }) {
  const who = h("input", { required: true, maxlength: 100, value: decider() });
  const why = h("input", { maxlength: 1000 });
  const fields = [
    content,
    h("p", { class: "soft" }, t("edit.recorded")),
    field(t("review.who"), who),
    field(t("review.why"), why),
  ];
  return formDialog(title, fields, verb, () => {
    localStorage.setItem(KEPT, who.value.trim());
    return send({ who: who.value.trim(), why: why.value.trim() });
  });
}

/** A control for an element of the schema; it accepts any name if the schema is open. */
export async function elementControl(base, kind, value) {
  const { schema } = await get(of(base, "/schema"));
  const names = [...new Set([value, ...schema[kind].map((one) => one.name)])];
  if (!schema.open) {
    const control = h("select", {},
      names.map((name) => h("option", { value: name }, spaced(name))),
    );
    control.value = value;
    return control;
  }
  return h("input", { required: true, maxlength: 200, value });
}

/** A control for an entity: its name, which can be replaced by searching for another; `value` is its id. */
export function entityControl(base, entity, title) {
  const control = button(
    entity.name,
    async () => {
      const other = await askOther(base, title);
      if (!other) return;
      take(other);
    },
    { "data-id": entity.id },
  );
  const take = ({ id, name }) => {
    control.dataset.id = id;
    fill(control, name);
    control.setAttribute("aria-label", `${title}: ${name}`);
  };
  take(entity);
  return control;
}
