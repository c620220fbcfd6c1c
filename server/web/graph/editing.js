// Manual changes of an entity, and the list of decisions so far, each with an undo button.

import { get, of, post, remove } from "../api.js";
import { button, fold, h } from "../dom.js";
import { spaced } from "../names.js";
import { moment, t } from "../strings.js";
import { toast } from "../toasts.js";
import { rename, retype } from "./correcting.js";
import { decided, decider } from "./deciding.js";
import { askOther } from "./toolbar.js";

/** The actions on an entity; `changed(id)` is called with the entity to show afterwards. */
export function editingView(base, entity, changed) {
  const decide = (verdict, first, second) => decidePair(base, { verdict, first, second }, changed);
  const merge = async () => {
    const other = await askOther(base, t("edit.merge.title", { name: entity.name }), entity.id);
    if (other) await decide("merge", entity, other);
  };
  const split = (one) =>
    button(t("edit.split"), () => decide("split", entity, one), {
      class: "quiet small",
      "aria-label": t("edit.split.of", { name: one.name }),
    });
  const load = async () => {
    const { items } = await get(of(base, "/entities/names"), { id: entity.id });
    return [
      h("p", { class: "soft" }, t("edit.facts.how")),
      h("div", { class: "actions start" },
        button(t("edit.rename"), () => rename(base, entity, changed), { class: "small" }),
        button(t("edit.retype"), () => retype(base, entity, changed), { class: "small" }),
        button(t("edit.merge"), merge, { class: "small" }),
      ),
      h("ul", { class: "plain" },
        !items.length && h("li", { class: "soft" }, t("edit.one.name")),
        items.map((one) => h("li", {}, one.name, " ", split(one))),
      ),
    ];
  };
  return fold(t("edit.title"), load, { class: "editing" });
}

/** The decisions, latest first, each with an undo button. */
export function decisionsView(base, changed) {
  const load = async () => {
    const [pairs, edits] = await Promise.all([get(of(base, "/entities/decisions")), get(of(base, "/edits"))]);
    const latest = pairs.items.toReversed();
    const items = [
      ...latest.map((one, place) => pairItem(base, one, isLast(latest, place), changed)),
      ...edits.items.toReversed().map((one) => editItem(base, one, changed)),
    ];
    items.sort((one, other) => other.when.localeCompare(one.when));
    return items.length ? items.map(({ element }) => element) : h("li", { class: "soft" }, t("edit.decisions.none"));
  };
  return fold(t("edit.decisions"), load, { class: "editing", body: h("ul", { class: "plain decisions" }) });
}

/** Whether no later decision concerns the same two entities. */
const isLast = (latest, place) => latest.findIndex((one) => pairOf(one) === pairOf(latest[place])) === place;
const pairOf = ({ first, second }) => [first, second].sort().join();

function pairItem(base, one, last, changed) {
  const [first, second] = [one.first, one.second].map((id, place) => ({ id, name: one.names[place] }));
  const verdict = one.verdict === "merge" ? "split" : "merge";
  const undo = () => decidePair(base, { verdict, first, second }, changed);
  return item(one, t(`edit.done.${one.verdict}`, { one: first.name, other: second.name }), last && undo);
}

function editItem(base, one, changed) {
  const said = inWords(one.edit);
  const undo = async () => {
    const send = ({ who }) => remove(of(base, `/edits/${one.number}`), { who });
    if (!(await decided(t("edit.undo.sure"), { content: [h("blockquote", {}, said)], verb: t("edit.undo"), send })))
      return;
    await changed("");
    toast(t("edit.undone", { who: one.who }));
  };
  return item(one, said, !one.undone_at && undo);
}

function item(one, said, undo) {
  const by = t("schema.by", { who: one.who, time: moment(one.decided_at) });
  const undone = one.undone_at && t("edit.undone", { who: one.undone_by });
  const element = h("li", {},
    h("p", {}, said),
    h("p", { class: "soft" }, [by, one.why, undone].filter(Boolean).join(" · ")),
    undo && button(t("edit.undo"), undo, { class: "quiet small" }),
  );
  return { when: one.decided_at, element };
}

/** An edit as a sentence. */
function inWords(edit) {
  if (edit.kind === "rename") return t("edit.done.rename", { one: edit.entity.name, other: edit.name });
  if (edit.kind === "retype")
    return t("edit.done.retype", { one: edit.entities[0].name, other: spaced(edit.type), was: edit.entities[0].type });
  if (edit.kind === "supersede") return t("edit.done.supersede", { one: edit.newer, other: edit.older });
  if (edit.kind === "trust") return t("edit.done.trust", { one: edit.pattern, rank: edit.rank });
  const fact = ({ head, relation, tail }) => `${head.name} ${spaced(relation)} ${tail.name}`;
  const value = ({ entity, attribute, value: held }) => `${entity.name}, ${spaced(attribute)}: ${held}`;
  const one = edit.kind === "fact" ? fact(edit.fact) : value(edit.value);
  if (!edit.corrected) return t("edit.done.reject", { one });
  const other =
    edit.kind === "fact" ? fact(edit.corrected) : value({ ...edit.value, value: edit.corrected });
  return t("edit.done.correct", { one, other });
}

/** Ask for confirmation before merging or splitting two entities, and do it. */
async function decidePair(base, { verdict, first, second }, changed) {
  const done = await decided(t(`edit.${verdict}.sure`, { one: first.name, other: second.name }), {
    verb: t(`edit.${verdict}.do`),
    send: (by) => post(of(base, "/entities/decisions"), { verdict, first: first.id, second: second.id, ...by }),
  });
  if (!done) return;
  await changed(done.id);
  toast(t(`edit.done.${verdict}`, { one: first.name, other: second.name }), async () => {
    const opposite = { verdict: verdict === "merge" ? "split" : "merge", first: first.id, second: second.id };
    await changed((await post(of(base, "/entities/decisions"), { ...opposite, who: decider() })).id);
  });
}
