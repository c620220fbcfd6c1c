// Manual changes of names, types, facts and values: recorded like merges, and undone in the list of decisions.

import { of, post, remove } from "../api.js";
import { field, h } from "../dom.js";
import { spaced } from "../names.js";
import { t } from "../strings.js";
import { toast } from "../toasts.js";
import { factText } from "./entity.js";
import { decided, decider, elementControl, entityControl } from "./deciding.js";

/** Rename an entity. */
export async function rename(base, entity, changed) {
  const name = h("input", { required: true, maxlength: 500, value: entity.name });
  await carryOut(base, changed, t("edit.rename.title", { name: entity.name }), {
    content: [h("p", {}, t("edit.rename.about")), field(t("edit.rename.name"), name)],
    verb: t("edit.rename.do"),
    body: () => ({ change: "rename", entity: entity.id, name: name.value.trim() }),
  });
}

/** Change the type of an entity. */
export async function retype(base, entity, changed) {
  const type = await elementControl(base, "entity_types", entity.type);
  await carryOut(base, changed, t("edit.retype.title", { name: entity.name }), {
    content: [h("p", {}, t("edit.retype.about")), field(t("edit.retype.type"), type)],
    verb: t("edit.retype.do"),
    body: () => ({ change: "retype", entity: entity.id, type: type.value.trim() }),
  });
}

/** Reject a fact, or replace it. */
export async function correctFact(base, wrong, changed) {
  const { subject_id: subject, relation, object_id: object } = wrong;
  const controls = {
    subject: entityControl(base, { id: subject, name: wrong.subject }, t("edit.fact.subject")),
    relation: await elementControl(base, "relation_types", relation),
    object: entityControl(base, { id: object, name: wrong.object }, t("edit.fact.object")),
  };
  const instead = () => ({
    subject: controls.subject.dataset.id,
    relation: controls.relation.value.trim(),
    object: controls.object.dataset.id,
  });
  const rows = Object.entries(controls).map(([name, control]) => field(t(`edit.fact.${name}`), control));
  await correct(base, changed, { fact: { subject, relation, object }, instead, rows, said: factText(wrong) });
}

/** Reject a value, or replace it. */
export async function correctValue(base, entity, attribute, value, changed) {
  const control = h("input", { required: true, maxlength: 2000, value });
  const fact = { subject: entity.id, relation: attribute, object: value };
  const instead = () => ({ ...fact, object: control.value.trim() });
  const rows = [field(t("edit.value"), control)];
  await correct(base, changed, { fact, instead, rows, said: `${entity.name}, ${spaced(attribute)}: ${value}` });
}

function correct(base, changed, { fact, instead, rows, said }) {
  const inPlace = h("fieldset", { class: "in-place", hidden: true }, h("legend", {}, t("edit.fact.instead")), rows);
  const choice = (value, checked) => {
    const radio = h("input", { type: "radio", name: "correction", value, checked });
    radio.addEventListener("change", () => (inPlace.hidden = value === "reject"));
    return h("label", { class: "choice" }, radio, ` ${t(`edit.fact.${value}`)}`);
  };
  const reject = choice("reject", true);
  return carryOut(base, changed, t("edit.fact.title"), {
    content: [h("blockquote", {}, said), h("div", { class: "choices" }, reject, choice("correct", false)), inPlace],
    verb: t("edit.fact.do"),
    body: () => ({ change: "fact", fact, instead: reject.querySelector("input").checked ? null : instead() }),
  });
}

async function carryOut(base, changed, title, { content, verb, body }) {
  const done = await decided(title, { content, verb, send: (by) => post(of(base, "/edits"), { ...body(), ...by }) });
  if (!done) return;
  await changed(done.entity);
  toast(t("edit.done"), async () => {
    await remove(of(base, `/edits/${done.number}`), { who: decider() });
    await changed("");
  });
}
