// The schema: the current version, pending candidates, and its history.

import { get, of, post } from "../api.js";
import { button, fill, grid, h, rowHead, scrolling } from "../dom.js";
import { emptyNotice, emptyView } from "../empty.js";
import { reasonText, seedText, spaced } from "../names.js";
import { icon } from "../icons.js";
import { typeDot } from "../graph/colours.js";
import { elementDialog, reviewForm, support } from "./review.js";
import { here, href, route } from "../route.js";
import { language, moment, t } from "../strings.js";
import { toast } from "../toasts.js";

const TABS = ["force", "candidates", "history"];
const KINDS = [["entity_types", "entity_type"], ["relation_types", "relation"], ["attribute_types", "attribute"]];

let view = null;

/** Show the view. */
export async function show(root, base) {
  if (!base) {
    fill(root, emptyView(t("schema.title")));
    return;
  }
  const [{ version, schema }, { items }, builds, status] = await Promise.all([
    get(of(base, "/schema")),
    get(of(base, "/schema/candidates")),
    get("builds", { kb: base }),
    get(of(base, "")),
  ]);
  if (!root.isConnected) return;
  view = {
    root,
    base,
    version,
    schema,
    candidates: items,
    waiting: builds.items.find((one) => one.state === "waiting"),
    body: h("div"),
  };
  const title = schema.labels?.[language()] ?? seedText(schema.name);
  view.tabs = h("nav", { class: "tabs", "aria-label": t("schema.parts") });
  fill(
    root,
    h("div", { class: "column wide" },
      h("div", { class: "view-head" },
        h("h1", {}, t("schema.title")),
        h("span", { class: "soft" }, t("schema.version", { name: title, version: String(version) })),
      ),
      h("p", { class: "lead" }, seedText(schema.description)),
      notAdmitted(status.facts_not_admitted),
      view.tabs,
      view.body,
    ),
  );
  await follow();
}

/** How many facts the schema and the texts kept out, and why; what waits can be accepted below. */
function notAdmitted(reasons) {
  const n = Object.values(reasons).reduce((sum, one) => sum + one, 0);
  if (!n) return null;
  const why = Object.entries(reasons)
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason, count]) => t(`reason.${reason}`, { n: count }));
  return h("p", { class: "notice" },
    t("schema.not.admitted", { n, why: why.join(t("page.comma")) }),
    " ",
    view.candidates.length > 0 && h("a", { href: here({ tab: "candidates" }) }, t("schema.admit")),
  );
}

/** Leave the view. */
export function leave() {
  view = null;
}

/** Show the part in the address. */
export async function follow() {
  const me = view;
  if (!me) return;
  const tab = TABS.find((one) => one === route().parameters.get("tab")) ?? (view.waiting ? "candidates" : "force");
  const count = view.waiting ? view.waiting.review.candidates.length : view.candidates.length;
  fill(
    view.tabs,
    TABS.map((one) =>
      h("a", { href: here({ tab: one }), "aria-current": one === tab ? "page" : null },
        one === "candidates" ? t("schema.candidates", { n: count }) : t(`schema.${one}`),
      ),
    ),
  );
  if (tab === "force") fill(view.body, inForce());
  if (tab === "candidates") fill(view.body, candidates());
  if (tab === "history") fill(me.body, await history());
}

const reload = () => show(view.root, view.base);

/** Submit decisions, and show their results. */
async function decide(decisions, who) {
  const found = await post(of(view.base, "/schema/decisions"), { decisions, who });
  await reload();
  toast(t("schema.now", { version: String(found.version) }));
}

function candidates() {
  const { waiting } = view;
  if (!waiting) {
    return view.candidates.length
      ? reviewForm(view.candidates, view.schema, decide)
      : emptyNotice(t("schema.none.waiting"), href("documents", { kb: view.base }), t("documents.add"));
  }
  const answer = async (decisions, who) => {
    await post(`builds/${encodeURIComponent(waiting.id)}/decisions`, { decisions, who });
    toast(t("review.resumed"));
    location.hash = `#/documents?${new URLSearchParams({ kb: view.base })}`;
  };
  return [
    waiting.review.error ? h("p", { class: "notice bad", role: "alert" }, waiting.review.error) : null,
    h("p", { class: "notice strong" }, t("review.build.waits")),
    reviewForm(waiting.review.candidates, view.schema, answer, { mayWait: true }),
  ];
}

function inForce() {
  if (view.schema.open) return h("p", { class: "notice" }, t("schema.open"));
  return KINDS.map(([field, kind]) => {
    const head = [t("schema.name"), t(`schema.of.${kind}`), t("schema.description")];
    const last = h("span", { class: "unseen" }, t("schema.change"));
    const rows = view.schema[field].map((element) => row(element, kind));
    return h("section", {},
      h("h2", {}, icon(kind), " ", t(`kinds.${kind}`), " ", h("span", { class: "soft" }, String(rows.length))),
      scrolling(t(`kinds.${kind}`), grid([...head, last], rows, { class: "stacked schema-table" })),
    );
  });
}

function row(element, kind) {
  const shown = spaced(element.name);
  const others = new Set(
    [element.name, ...(element.aliases ?? [])].filter(
      (one) => spaced(one) !== shown || one.replaceAll("_", " ") !== shown,
    ),
  );
  const change = async () => {
    const decision = await elementDialog(element, kind, view.schema);
    if (decision) await decide([decision.decision], decision.who);
  };
  return [
    rowHead(
      kind === "entity_type" && [typeDot(element.name), " "],
      shown,
      others.size > 0 && h("span", { class: "soft id" }, [...others].join(t("page.comma"))),
    ),
    bounds(element, kind),
    h("td", { class: "soft" }, seedText(element.description)),
    h("td", { class: "row-actions" },
      button(icon("restructure"), change, {
        class: "quiet small",
        title: t("schema.restructure"),
        "aria-label": t("schema.change.of", { name: element.name }),
      }),
    ),
  ];
}

function bounds(element, kind) {
  const types = (names) => names.map((name) => (name === "*" ? t("schema.any") : spaced(name))).join(t("page.comma"));
  if (kind === "entity_type") return element.parent ? spaced(element.parent) : "";
  const parts =
    kind === "relation"
      ? [
          `${types(element.domain)} → ${types(element.range)}`,
          element.functional && t("schema.functional"),
          element.inverse_functional && t("schema.inverse.functional"),
        ]
      : [
          types(element.owners),
          [t(`values.${element.kind}`), element.unit].filter(Boolean).join(" "),
          element.functional && t("schema.functional.value"),
        ];
  return parts.filter(Boolean).join(" · ");
}

async function history() {
  const found = await get(of(view.base, "/schema/history"));
  const versions = found.items.toReversed();
  return h("ol", { class: "history", reversed: true },
    versions.map((one) =>
      h("li", {},
        h("p", {},
          h("strong", {}, t("schema.version.short", { version: String(one.version) })),
          " ",
          h("span", { class: "soft" }, t("schema.by", { who: seedText(one.who), time: moment(one.decided_at) })),
        ),
        h("ul", {}, (one.decisions ?? []).map(decided)),
      ),
    ),
  );
}

function decided({ decision, evidence }) {
  const to = decision.new_name || decision.into;
  return h("li", {},
    h("span", { class: `verdict ${decision.verdict}` }, t(`verdict.done.${decision.verdict}`)),
    " ",
    `${t(`kind.${decision.kind}`)} `,
    h("strong", {}, spaced(decision.name)),
    to ? ` → ${spaced(to)}` : "",
    decision.why && h("span", { class: "soft" }, ` ${reasonText(decision.why)}`),
    evidence && h("span", { class: "soft" }, ` · ${support(evidence)}`),
  );
}
