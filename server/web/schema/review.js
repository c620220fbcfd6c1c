// Decisions on the schema: on candidates with their evidence, and on existing elements.

import { formDialog } from "../dialogs.js";
import { button, failure, field, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { sourceHref } from "../sources.js";
import { percent, t } from "../strings.js";

const KEPT = "banyan.reviewer";
const FIELD = { entity_type: "entity_types", relation: "relation_types", attribute: "attribute_types" };

/** The form of a review; `send(decisions, who)` submits it. `mayWait`: it can be submitted without decisions. */
export function reviewForm(candidates, schema, send, { mayWait = false } = {}) {
  const choices = candidates.map(
    (one) =>
      new Choice(one, schema, [
        "wait",
        "accept",
        "reject",
        "rename",
        "merge",
        ...(one.kind === "entity_type" ? [] : ["edit"]),
      ]),
  );
  const who = reviewer();
  const trouble = h("div");
  const submit = h("button", { type: "submit", class: "primary" });
  const count = () => {
    const n = choices.filter((one) => one.decision()).length;
    submit.textContent = n || !mayWait ? t("review.send", { n }) : t("review.go.on");
    submit.disabled = !n && !mayWait;
  };
  const all = (verdict) => () => {
    for (const one of choices) one.set(verdict);
    count();
  };
  const form = h("form", { class: "review" },
    h("div", { class: "actions start" },
      button(t("review.accept.all"), all("accept")),
      button(t("review.reject.all"), all("reject")),
      button(t("review.wait.all"), all("wait"), { class: "quiet" }),
    ),
    choices.map((one) => card(one)),
    trouble,
    h("div", { class: "review-end" }, field(t("review.who"), who, { class: "inline" }), submit),
  );
  form.addEventListener("change", count);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    keep(who);
    try {
      await send(choices.map((one) => one.decision()).filter(Boolean), who.value.trim());
    } catch (error) {
      fill(trouble, failure(error));
      submit.disabled = false;
    }
  });
  count();
  return form;
}

/** Decide on an existing element; return {decision, who}, or nothing. */
export function elementDialog(element, kind, schema) {
  const standing = {
    kind,
    name: element.name,
    subject_types: element.domain ?? element.owners ?? [],
    object_types: element.range ?? [],
  };
  const verdicts = kind === "entity_type" ? ["rename", "merge", "reject"] : ["rename", "merge", "edit", "reject"];
  const choice = new Choice(standing, schema, verdicts);
  const who = reviewer();
  const content = [choice.element, field(t("review.who"), who)];
  return formDialog(t("schema.change.of", { name: element.name }), content, t("schema.change"), () => {
    keep(who);
    return { decision: choice.decision(), who: who.value.trim() };
  });
}

/** How often the documents use a candidate. */
export const support = ({ documents, occurrences }) =>
  [t("review.documents", { n: documents }), t("review.times", { n: occurrences })].join(t("page.comma"));

/** The field for who decides. */
const reviewer = () =>
  h("input", {
    required: true,
    maxlength: 100,
    autocomplete: "name",
    value: localStorage.getItem(KEPT) ?? t("review.who.default"),
  });
/** Remember who decides. */
const keep = (who) => localStorage.setItem(KEPT, who.value.trim());

function card(choice) {
  const one = choice.candidate;
  const said = one.labels.filter((label) => label !== one.name);
  return h("article", { class: "card candidate" },
    h("p", { class: "eyebrow" }, t(`kind.${one.kind}`)),
    h("h3", {}, spaced(one.name)),
    h("p", { class: "soft" }, support(one), " · ", t("review.confidence", { share: percent(one.confidence) })),
    (one.subject_types.length > 0 || one.object_types.length > 0) &&
      h("p", {},
        t("review.observed"),
        " ",
        [one.subject_types, one.object_types]
          .filter((types) => types.length)
          .map((types) => types.map(spaced).join(t("page.comma")))
          .join(" → "),
      ),
    said.length > 0 && h("p", { class: "soft" }, t("review.said", { names: said.map(spaced).join(t("page.comma")) })),
    one.examples.length > 0 &&
      h("ul", { class: "plain examples" },
        one.examples.map((example) =>
          h("li", {},
            h("p", {}, example.item),
            h("a", { class: "quote", href: sourceHref({ document: example.document, words: example.words }) },
              h("q", {}, example.words),
              h("cite", {}, example.document),
            ),
          ),
        ),
      ),
    choice.element,
  );
}

/** A choice of entity types, "*" for any. */
function typesSelect(schema, chosen) {
  const select = h("select", { multiple: true, size: 6, required: true },
    h("option", { value: "*" }, t("schema.any")),
    schema.entity_types.map((one) => h("option", { value: one.name }, spaced(one.name))),
  );
  for (const option of select.options) option.selected = chosen.includes(option.value);
  return select;
}

/** The controls that decide on one candidate or element. */
class Choice {
  constructor(candidate, schema, verdicts) {
    this.candidate = candidate;
    this.schema = schema;
    this.group = `verdict-${(Choice.made = (Choice.made ?? 0) + 1)}`;
    this.details = h("div", { class: "details" });
    this.radios = verdicts.map((verdict, place) =>
      h("input", {
        type: "radio",
        name: this.group,
        value: verdict,
        id: `${this.group}-${verdict}`,
        checked: place === 0,
      }),
    );
    this.element = h("fieldset", { class: "verdicts" },
      h("legend", { class: "unseen" }, t("review.verdict", { name: candidate.name })),
      h("div", { class: "segments" },
        this.radios.map((radio) => [radio, h("label", { for: radio.id }, t(`verdict.${radio.value}`))]),
      ),
      this.details,
    );
    this.element.addEventListener("change", (event) => event.target.name === this.group && this.#ask());
    this.#ask();
  }

  get verdict() {
    return this.radios.find((one) => one.checked).value;
  }

  /** Set the verdict, as "all" does. */
  set(verdict) {
    const radio = this.radios.find((one) => one.value === verdict);
    radio.checked = true;
    this.#ask();
  }

  /** Ask for the fields that the verdict needs. */
  #ask() {
    const { kind, name, subject_types: subjects, object_types: objects } = this.candidate;
    this.inputs = {};
    if (this.verdict === "rename")
      this.inputs.new_name = [
        t("review.new.name"),
        h("input", { required: true, maxlength: 100, value: name, spellcheck: "false" }),
      ];
    if (this.verdict === "merge") this.inputs.into = [t("review.into"), this.#elements()];
    if (this.verdict === "edit") {
      this.inputs.domain = [t(kind === "attribute" ? "review.owners" : "review.domain"), this.#types(subjects)];
      if (kind === "relation") this.inputs.range = [t("review.range"), this.#types(objects)];
    }
    const why = this.verdict !== "wait" && this.verdict !== "accept";
    if (why) this.inputs.why = [t("review.why"), h("input", { maxlength: 500 })];
    fill(this.details, Object.values(this.inputs).map(([label, input]) => field(label, input)));
  }

  #elements() {
    const names = this.schema[FIELD[this.candidate.kind]]
      .map((one) => one.name)
      .filter((one) => one !== this.candidate.name);
    return h("select", { required: true },
      names.map((one) => h("option", { value: one }, spaced(one))),
    );
  }

  #types(observed) {
    return typesSelect(this.schema, observed.length ? observed : ["*"]);
  }

  /** The decision, or null while it is pending. */
  decision() {
    const { kind, name } = this.candidate;
    if (this.verdict === "wait") return null;
    const said = Object.fromEntries(
      Object.entries(this.inputs).map(([key, [, input]]) => [
        key,
        input.multiple ? [...input.selectedOptions].map((one) => one.value) : input.value.trim(),
      ]),
    );
    return { kind, name, verdict: this.verdict, ...said };
  }
}
