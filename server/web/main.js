// The page: it shows a view of a knowledge base, in the user's language.

import * as api from "./connect/api.js";
import * as connect from "./connect/connect.js";
import * as ask from "./ask/ask.js";
import { base, followPicker, isSeveral, namesIn, refreshBases, showBases } from "./bases.js";
import * as documents from "./documents/documents.js";
import { failure, fill, h } from "./dom.js";
import * as graph from "./graph/graph.js";
import { learnNames } from "./names.js";
import { go, href, route } from "./route.js";
import * as schema from "./schema/schema.js";
import { followSource } from "./sources.js";
import { language, loadStrings, t, translate } from "./strings.js";
import * as table from "./table/table.js";

const VIEWS = { ask, graph, table, documents, schema, connect, api };

/** Views without a tab. */
const TITLES = { api: "api.title" };

/** The views that can show several knowledge bases at once; the others show the first. */
const OF_SEVERAL = new Set(["ask", "table"]);

let shown = { view: "", base: "", place: null };

/** Show the view in the address; if it is shown already, it only follows the change. */
async function follow() {
  const now = route();
  if (!VIEWS[now.view]) {
    go(href("ask"), { replace: true });
    return;
  }
  if (isSeveral(base()) && !OF_SEVERAL.has(now.view)) {
    go(href(now.view, { kb: namesIn(base())[0] }), { replace: true });
    return;
  }
  followSource(base());
  if (now.view === shown.view && base() === shown.base) {
    await guarded(shown.place, async () => VIEWS[now.view].follow?.());
    return;
  }
  VIEWS[shown.view]?.leave?.();
  const place = newPlace(Boolean(shown.view));
  shown = { view: now.view, base: base(), place };
  showBases();
  showTabs();
  await guarded(place, async () => {
    await learnNames(namesIn(base())[0]);
    // A view whose place was removed, because the user navigated elsewhere, shows nothing.
    if (place.isConnected) await VIEWS[now.view].show(place, base());
  });
}

/** An empty place for a view in the page, which shows a waiting message after a while. */
function newPlace(focus) {
  const root = document.getElementById("main");
  const place = h("div", { class: "view" }, h("p", { class: "loading" }, t("page.loading")));
  fill(root, place);
  if (focus) root.focus({ preventScroll: true });
  window.scrollTo(0, 0);
  return place;
}

/** Run a step of showing a view; an error is shown in the view's place. */
async function guarded(root, step) {
  try {
    await step();
  } catch (error) {
    if (error.name !== "AbortError") fill(root, h("div", { class: "column" }, failure(error)));
  }
}

function showTabs() {
  for (const link of document.querySelectorAll("nav [data-view]")) {
    link.href = href(link.dataset.view, { kb: base() });
    if (link.dataset.view === shown.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = [t(TITLES[shown.view] ?? `${shown.view}.tab`), base(), "Banyan"].filter(Boolean).join(" · ");
}

async function speak(chosen) {
  await loadStrings(chosen);
  translate(document);
  document.getElementById("language").value = language();
}

async function start() {
  await speak();
  followPicker();
  document.getElementById("language").addEventListener("change", async (event) => {
    await speak(event.target.value);
    shown.base = null;
    await follow();
  });
  await guarded(newPlace(false), async () => {
    await refreshBases();
    window.addEventListener("hashchange", follow);
    await follow();
  });
  document.documentElement.dataset.ready = "yes";
}

await start();
