// Defining elements of the schema: a type, a relation or an attribute with all its fields.

import { dialog } from "../dialogs.js";
import { button, failure, field, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { t } from "../strings.js";
import { keep, reviewer, typesSelect } from "./review.js";

const KINDS_OF_VALUES = ["text", "number", "date"];

/** Ask for a new element of a kind, or for changes of `element`; `send(decision, who)` submits it. */
export function defineDialog(kind, schema, element, send) {
  const title = element ? t("schema.edit.of", { name: element.name }) : t(`schema.add.${kind}`);
  return dialog(title, (close) => {
    const name = h("input", { required: true, maxlength: 100, spellcheck: "false", value: element?.name ?? "" });
    const why = h("input", { maxlength: 500 });
    const who = reviewer();
    const parts = fieldsOf(kind, schema, element ?? {});
    const told = h("div");
    const submit = async (event) => {
      event.preventDefault();
      keep(who);
      const said = Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, part.value()]));
      const decision = {
        kind,
        name: element?.name ?? name.value.trim(),
        verdict: "define",
        element: { ...without(element ?? {}, "name"), ...said },
        why: why.value.trim(),
      };
      try {
        await send([decision], who.value.trim());
        close(true);
      } catch (error) {
        fill(told, failure(error));
      }
    };
    return [
      h(
        "form",
        { class: "define", on: { submit } },
        !element && field(t("schema.name"), name),
        Object.values(parts).map((part) => field(part.label, part.control)),
        field(t("review.who"), who),
        field(t("review.why"), why),
        told,
        h(
          "div",
          { class: "actions" },
          button(t("page.cancel"), () => close()),
          h("button", { type: "submit", class: "primary" }, t("schema.save")),
        ),
      ),
    ];
  });
}

const without = (element, name) => Object.fromEntries(Object.entries(element).filter(([key]) => key !== name));

/** The controls of a kind's fields, by field name. */
function fieldsOf(kind, schema, element) {
  const own = {
    entity_type: () => ({ parent: choice("schema.parent", schema.entity_types, element.parent, element.name) }),
    relation: () => ({
      domain: types("review.domain", schema, element.domain),
      range: types("review.range", schema, element.range),
      inverse: choice("schema.inverse", schema.relation_types, element.inverse, element.name),
      symmetric: box("schema.symmetric", element.symmetric),
      functional: box("schema.functional", element.functional),
      inverse_functional: box("schema.inverse.functional", element.inverse_functional),
    }),
    attribute: () => ({
      owners: types("review.owners", schema, element.owners),
      kind: valueKind(element.kind),
      unit: text("schema.unit", element.unit),
      functional: box("schema.functional.value", element.functional),
    }),
  };
  return {
    ...own[kind](),
    description: text("schema.description", element.description),
    aliases: list("schema.aliases", element.aliases),
  };
}

function text(label, value = "") {
  const control = h("input", { maxlength: 1000, value });
  return { label: t(label), control, value: () => control.value.trim() };
}

function list(label, values = []) {
  const control = h("input", { maxlength: 1000, value: values.join(", ") });
  const value = () =>
    control.value
      .split(/[,，]/)
      .map((one) => one.trim())
      .filter(Boolean);
  return { label: t(label), control, value };
}

function box(label, checked = false) {
  const control = h("input", { type: "checkbox", checked });
  return { label: t(label), control, value: () => control.checked };
}

function choice(label, elements, value, self) {
  const control = h(
    "select",
    {},
    h("option", { value: "" }, t("schema.none")),
    elements.filter((one) => one.name !== self).map((one) => h("option", { value: one.name }, spaced(one.name))),
  );
  control.value = value ?? "";
  return { label: t(label), control, value: () => control.value || null };
}

function valueKind(value = "text") {
  const control = h(
    "select",
    {},
    KINDS_OF_VALUES.map((one) => h("option", { value: one }, t(`values.${one}`))),
  );
  control.value = value;
  return { label: t("schema.value.kind"), control, value: () => control.value };
}

function types(label, schema, chosen = ["*"]) {
  const control = typesSelect(schema, chosen);
  return { label: t(label), control, value: () => [...control.selectedOptions].map((one) => one.value) };
}
