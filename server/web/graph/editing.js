// Deciding that two entities are one, or are not: recorded with who and why, and undone by the opposite decision.

import { get, of, post } from "../api.js";
import { dialog } from "../dialogs.js";
import { announce, button, failure, field, fill, h } from "../dom.js";
import { moment, t } from "../strings.js";
import { askOther } from "./toolbar.js";

const KEPT = "banyan.who";

/** What can be changed of an entity; `changed(id)` is told which one to show then. */
export function editingView(base, entity, changed) {
  const names = h("ul", { class: "plain" });
  const decide = (verdict, first, second) => decided(base, { verdict, first, second }, changed);
  const merge = async () => {
    const other = await askOther(base, t("edit.merge.title", { name: entity.name }));
    if (other && other.id !== entity.id) await decide("merge", entity, other);
  };
  const fold = h(
    "details",
    { class: "editing" },
    h("summary", {}, t("edit.title")),
    names,
    h("div", { class: "actions start" }, button(t("edit.merge"), merge, { class: "small" })),
  );
  const show = async () => {
    try {
      const { items } = await get(of(base, "/entities/names"), { id: entity.id });
      fill(
        names,
        items.length ? null : h("li", { class: "soft" }, t("edit.one.name")),
        items.map((one) =>
          h(
            "li",
            {},
            one.name,
            " ",
            button(t("edit.split"), () => decide("split", entity, one), {
              class: "quiet small",
              "aria-label": t("edit.split.of", { name: one.name }),
            }),
          ),
        ),
      );
    } catch (error) {
      fill(names, failure(error));
    }
  };
  fold.addEventListener("toggle", () => fold.open && show());
  return fold;
}

/** What persons decided, the latest first, each with a way to take it back. */
export function decisionsView(base, changed) {
  const list = h("ul", { class: "plain decisions" });
  const fold = h("details", { class: "editing" }, h("summary", {}, t("edit.decisions")), list);
  const show = async () => {
    try {
      const { items } = await get(of(base, "/entities/decisions"));
      const latest = items.toReversed();
      fill(
        list,
        items.length ? null : h("li", { class: "soft" }, t("edit.decisions.none")),
        latest.map((one, place) => item(base, one, isLast(latest, place), changed)),
      );
    } catch (error) {
      fill(list, failure(error));
    }
  };
  fold.addEventListener("toggle", () => fold.open && show());
  return fold;
}

/** Whether no later decision is on the same two. */
const isLast = (latest, place) => latest.findIndex((one) => pairOf(one) === pairOf(latest[place])) === place;
const pairOf = ({ first, second }) => [first, second].sort().join();

function item(base, one, last, changed) {
  const [first, second] = [one.first, one.second].map((id, place) => ({ id, name: one.names[place] }));
  const verdict = one.verdict === "merge" ? "split" : "merge";
  const by = t("schema.by", { who: one.who, time: moment(one.decided_at) });
  const undo = () => decided(base, { verdict, first, second }, changed);
  return h(
    "li",
    {},
    h("p", {}, t(`edit.done.${one.verdict}`, { one: first.name, other: second.name })),
    h("p", { class: "soft" }, [by, one.why].filter(Boolean).join(" · ")),
    last && button(t("edit.undo"), undo, { class: "quiet small" }),
  );
}

/** Ask who decides and why, and have it done. */
async function decided(base, { verdict, first, second }, changed) {
  const done = await dialog(t(`edit.${verdict}.sure`, { one: first.name, other: second.name }), (close) => {
    const who = h("input", {
      required: true,
      maxlength: 100,
      value: localStorage.getItem(KEPT) ?? t("review.who.default"),
    });
    const why = h("input", { maxlength: 1000 });
    const told = h("div");
    const submit = async (event) => {
      event.preventDefault();
      localStorage.setItem(KEPT, who.value.trim());
      const body = { verdict, first: first.id, second: second.id, who: who.value.trim(), why: why.value.trim() };
      try {
        fill(told, h("p", { class: "soft", role: "status" }, t("edit.working")));
        close(await post(of(base, "/entities/decisions"), body));
      } catch (error) {
        fill(told, failure(error));
      }
    };
    return [
      h(
        "form",
        { on: { submit } },
        h("p", {}, t("edit.recorded")),
        field(t("review.who"), who),
        field(t("review.why"), why),
        told,
        h(
          "div",
          { class: "actions" },
          button(t("page.cancel"), () => close()),
          h("button", { type: "submit", class: "primary" }, t(`edit.${verdict}.do`)),
        ),
      ),
    ];
  });
  if (!done) return;
  await changed(done.id);
  announce(t(`edit.done.${verdict}`, { one: first.name, other: second.name }));
}
