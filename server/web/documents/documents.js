// Documents: add them, watch their builds, find, open and delete them.

import { get, of, post } from "../api.js";
import { firstPage } from "../ask/welcome.js";
import { known, refreshBases } from "../bases.js";
import { baseView } from "./base.js";
import { Builds, fileNotes } from "./builds.js";
import { confirmed } from "../dialogs.js";
import { announce, button, failure, field, fill, grid, h, rowHead, scrolling } from "../dom.js";
import { pager } from "../pages.js";
import { sourceHref } from "../sources.js";
import { moment, number, t } from "../strings.js";
import { toast } from "../toasts.js";
import { rereadCard } from "./reread.js";
import { startBuild, uploadForm } from "./upload.js";

const PAGE = 25;
const WAIT = 200;

let view = null;

/** Show the view. */
export async function show(root, base) {
  if (!base) {
    firstPage(root);
    return;
  }
  const fresh = !known(base);
  const chosen = new Set();
  view = { base, offset: 0, q: "", chosen, bulk: h("div"), table: h("div"), failures: h("div"), reread: h("div"), builds: null };
  const finished = async () => {
    if (!root.isConnected) return;
    if (fresh) await again(root, base);
    else await Promise.all([showTable(), showFailures(), showReread()]);
  };
  view.builds = new Builds(base, finished);
  const started = (build) => {
    view.builds.add(build);
    announce(t("build.started"));
  };
  fill(
    root,
    h("div", { class: "column wide" },
      h("div", { class: "view-head" }, h("h1", {}, fresh ? base : t("documents.title"))),
      uploadForm(base, { fresh, started }),
      view.builds.element,
      view.failures,
      view.reread,
      !fresh && listing(),
      !fresh && baseView(base),
    ),
  );
  await Promise.all([view.builds.show(), ...(fresh ? [] : [showTable(), showFailures(), showReread()])]);
}

/** Leave the view. */
export function leave() {
  view?.builds.stop.abort();
  view = null;
}

/** Show the view again after its first build. */
async function again(root, base) {
  leave();
  await show(root, base);
}

function listing() {
  const me = view;
  const filter = h("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  let timer = 0;
  filter.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      Object.assign(me, { q: filter.value.trim(), offset: 0 });
      if (me === view) showTable();
    }, WAIT);
  });
  return h("section", { class: "listing" },
    h("div", { class: "view-head" },
      h("h2", {}, t("documents.all")),
      field(t("documents.filter"), filter, { class: "inline" }),
    ),
    view.bulk,
    view.table,
  );
}

/** Actions on the selected documents. */
function showBulk() {
  const { bulk, chosen } = view;
  fill(
    bulk,
    chosen.size > 0 &&
      h("div", { class: "actions start" },
        button(t("documents.delete.chosen", { n: chosen.size }), () => drop([...chosen]), { class: "danger" }),
      ),
  );
}

function tick(one) {
  const { chosen } = view;
  const box = h("input", {
    type: "checkbox",
    checked: chosen.has(one.id),
    "aria-label": t("documents.choose", { name: one.title || one.id }),
  });
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(one.id);
    else chosen.delete(one.id);
    showBulk();
  });
  return box;
}

function tickAll(items) {
  const box = h("input", { type: "checkbox", "aria-label": t("documents.choose.all") });
  box.checked = items.every((one) => view.chosen.has(one.id));
  box.addEventListener("change", () => {
    for (const one of items) {
      if (box.checked) view.chosen.add(one.id);
      else view.chosen.delete(one.id);
    }
    showBulk();
    showTable();
  });
  return box;
}

/** A cell that names its column where columns are stacked. */
const cell = (name, kind, text) => h("td", { class: kind, "data-column": name, "data-label": t(`documents.${name}`) }, text);

async function showTable() {
  const me = view;
  const turn = (offset) => {
    me.offset = offset;
    return showTable();
  };
  try {
    const { total, items } = await get(of(me.base, "/documents"), { limit: PAGE, offset: me.offset, q: me.q });
    if (me === view)
      fill(
        me.table,
        items.length ? table(items) : h("p", { class: "soft" }, t(me.q ? "documents.none.match" : "documents.none")),
        pager({ offset: me.offset, size: PAGE, total, turn }),
      );
  } catch (error) {
    fill(me.table, failure(error));
  }
}

function table(items) {
  const head = ["title.column", "characters", "chunks", "failed", "added"].map((name) => t(`documents.${name}`));
  const all = h("td", { "data-label": t("documents.choose.all") }, tickAll(items));
  const last = h("span", { class: "unseen" }, t("documents.delete"));
  const row = (one) => [
    tick(one),
    rowHead(
      h("a", { href: sourceHref({ document: one.id }) }, one.title || one.id),
      one.title && h("span", { class: "soft id" }, one.id),
    ),
    cell("characters", "figure", number(one.characters)),
    cell("chunks", "figure", number(one.chunks)),
    cell("failed", one.failed ? "figure bad" : "figure", number(one.failed)),
    cell("added", "", moment(one.added_at)),
    button(t("documents.delete"), () => drop([one.id], one.title || one.id), {
      class: "quiet small",
      "aria-label": t("documents.delete.of", { name: one.title || one.id }),
    }),
  ];
  const rows = grid([all, ...head, last], items.map(row), { class: "stacked document-table" });
  return scrolling(t("documents.all"), rows);
}

/** Delete documents; `name` is the name of a single one. */
async function drop(ids, name = "") {
  const sure = name
    ? t("documents.delete.sure", { name })
    : t("documents.delete.sure.many", { n: ids.length });
  if (!(await confirmed(t("documents.delete.title"), sure, t("documents.delete")))) return;
  try {
    await post(of(view.base, "/documents/delete"), { ids });
    for (const id of ids) view.chosen.delete(id);
    toast(name ? t("documents.deleted", { name }) : t("documents.deleted.many", { n: ids.length }));
    await refreshBases();
    showBulk();
    await showTable();
  } catch (error) {
    view.table.prepend(failure(error));
  }
}

/** Failed chunks with their reasons, and a button to retry them. */
async function showFailures() {
  const me = view;
  const status = await get(of(me.base));
  if (me !== view) return;
  const parts = Object.entries(status.partly_read).map(([document, note]) => `${document}: ${note}`);
  const partly = parts.length > 0 && h("div", { class: "card" }, fileNotes({ files_partly_read: parts }));
  if (!status.chunks_failed) {
    fill(me.failures, partly);
    return;
  }
  const retry = async () => {
    me.builds.add(await startBuild(me.base, [], { retry_failed: true }));
    fill(me.failures, partly);
  };
  fill(
    me.failures,
    partly,
    h("section", { class: "card" },
      h("h2", {}, t("failures.title", { n: status.chunks_failed })),
      h("ul", {},
        status.failures.map(([document, place, why]) =>
          h("li", {}, t("failures.one", { document, place: place + 1 }), " ", h("span", { class: "soft" }, why)),
        ),
      ),
      button(t("failures.retry"), retry),
    ),
  );
}

/** What the rules or another model read, with a button to read it again. */
async function showReread() {
  const me = view;
  const started = (build) => {
    me.builds.add(build);
    fill(me.reread);
  };
  const card = await rereadCard(me.base, started);
  if (me === view) fill(me.reread, card);
}
