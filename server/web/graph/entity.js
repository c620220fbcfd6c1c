// One entity: its names, values, facts with their sources, and buttons for its neighbours.

import { button, h } from "../dom.js";
import { quoted } from "../markdown.js";
import { spaced } from "../names.js";
import { sourceHref } from "../sources.js";
import { t } from "../strings.js";

const DOCUMENTS = 12;

/**
  * The panel. `at` is the date whose facts are shown, and `dated(date)` shows those of another one. `reached` has the numbers of fetched and of all neighbours; `wrong.fact(fact)` and
  * `wrong.value(attribute, value)` open the dialog for a correction.
 */
export function entityView(entity, { choose, expand, hide, path, community, reached, wrong, at, dated }) {
  const attributes = Object.entries(entity.attributes ?? {});
  const named = ({ id, name }) =>
    id === entity.id ? h("span", {}, name) : button(name, () => choose(id), { class: "link" });
  return h("article", { class: "entity" },
    h("p", { class: "eyebrow" }, spaced(entity.type)),
    h("h2", { tabindex: "-1" }, entity.name),
    entity.aliases?.length > 0 &&
      h("p", { class: "soft" }, t("entity.aliases", { names: entity.aliases.join(t("page.comma")) })),
    h("div", { class: "actions start" },
      reached.n < reached.total && button(t("entity.expand.more", reached), () => expand(entity.id)),
      button(t("entity.hide"), () => hide(entity.id)),
      button(t("entity.path"), () => path(entity)),
      entity.community && button(t("entity.community"), () => community(entity.community)),
    ),
    attributes.length > 0 &&
      h("dl", {},
        attributes.map(([name, values]) =>
          h("div", {},
            h("dt", {}, spaced(name)),
            [values]
              .flat()
              .map((value) =>
                h("dd", {}, value, timeOf(entity.times?.[name]?.[value]), " ", wrongButton(value, () => wrong.value(name, value))),
              ),
          ),
        ),
      ),
    h("h3", {}, t("entity.facts", { n: entity.facts?.length ?? 0 })),
    (at || entity.facts?.some((fact) => fact.time)) && dateFilter(at, dated),
    entity.facts?.length
      ? h("ul", { class: "fact-list" },
          entity.facts.map((fact) => factView(fact, named, wrong)),
        )
      : h("p", { class: "soft" }, t("entity.facts.none")),
    entity.together?.length > 0 && [
      h("h3", {}, t("entity.together", { n: entity.together.length })),
      h("p", { class: "soft" }, t("entity.together.hint")),
      h("ul", { class: "fact-list" },
        entity.together.map((one) => h("li", {}, h("p", { class: "fact" }, named(one.entity)), quotes(one.evidence.slice(0, 1)))),
      ),
    ],
    entity.documents?.length > 0 && [
      h("h3", {}, t("entity.documents", { n: entity.documents.length })),
      h("ul", { class: "plain" },
        entity.documents
          .slice(0, DOCUMENTS)
          .map((id) => h("li", {}, h("a", { href: sourceHref({ document: id }) }, id))),
      ),
    ],
  );
}

/** One fact in the panel, with its sources. */
export function factPanel(fact, { choose, wrong }) {
  const named = ({ id, name }) => button(name, () => choose(id), { class: "link" });
  return h("article", { class: "entity" },
    h("p", { class: "eyebrow" }, t("fact.title")),
    h("h2", { tabindex: "-1" }, factText(fact)),
    h("ul", { class: "fact-list" }, factView(fact, named, wrong)),
  );
}

/** Two entities in the panel, with the sentences that name both. */
export function sentencesPanel(one, other, evidence, choose) {
  const named = ({ id, name }) => button(name, () => choose(id), { class: "link" });
  return h("article", { class: "entity" },
    h("p", { class: "eyebrow" }, t("entity.together", { n: evidence.length })),
    h("h2", { tabindex: "-1" }, named(one), " · ", named(other)),
    h("p", { class: "soft" }, t("entity.together.hint")),
    quotes(evidence),
  );
}

/** The field for the date at which the shown facts hold. */
function dateFilter(at, dated) {
  const field = h("input", { maxlength: 50, size: 10, value: at, placeholder: t("entity.at.example") });
  const show = button(t("entity.at.show"), () => dated(field.value.trim()), { class: "small" });
  const submit = (event) => {
    event.preventDefault();
    show.click();
  };
  return h("form", { class: "actions start", on: { submit } }, h("label", {}, t("entity.at"), " ", field), show);
}

/** A fact in a few words. */
export const factText = ({ subject, relation, object }) => `${subject} ${spaced(relation)} ${object}`;

const timeOf = (note) => note && h("span", { class: "soft" }, ` (${note})`);

const wrongButton = (what, click) =>
  button(t("edit.wrong"), click, { class: "quiet small", "aria-label": t("edit.wrong.of", { what }) });

function factView(fact, named, wrong) {
  return h("li", {},
    h("p", { class: "fact" },
      named({ id: fact.subject_id, name: fact.subject }),
      " ",
      h("span", { class: "relation" }, spaced(fact.relation)),
      " ",
      named({ id: fact.object_id, name: fact.object }),
      timeOf(fact.time),
      " ",
      wrongButton(factText(fact), () => wrong.fact(fact)),
    ),
    quotes(fact.sources),
  );
}

const quotes = (evidence) =>
  evidence.map((one) =>
    h("a", { class: "quote", href: sourceHref(one) }, quoted(one.quote), h("cite", {}, one.document)),
  );
