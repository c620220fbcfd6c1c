// Builds: their progress, their results, and cancelling them.

import { get, post, stream } from "../api.js";
import { refreshBases } from "../bases.js";
import { announce, button, fill, h } from "../dom.js";
import { href } from "../route.js";
import { moment, number, t } from "../strings.js";

const OVER = ["done", "failed", "cancelled"];
const AGAIN = 2000;
const TABLE = [
  "documents",
  "chunks",
  "chunks_failed",
  "entities",
  "triples",
  "attributes",
  "communities",
  "schema_version",
];

/** Whether a build has ended. */
export const over = (build) => OVER.includes(build.state);

/** Follow a build until it ends, reconnecting if needed; `seen(build)` is called with each change. */
export async function followBuild(id, seen, signal) {
  for (;;) {
    let last = null;
    try {
      for await (const { event, data } of stream(`builds/${encodeURIComponent(id)}/events`, { signal })) {
        if (event !== "build") continue;
        last = data;
        seen(data);
      }
    } catch (error) {
      if (signal.aborted || error.status === 404) return;
    }
    if (signal.aborted || (last && over(last))) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/** The latest builds of a knowledge base, each followed until it ends; then `finished()` is called. */
export class Builds {
  constructor(base, finished) {
    this.base = base;
    this.finished = finished;
    this.element = h("section", { class: "builds", "aria-label": t("build.title") });
    this.stop = new AbortController();
  }

  async show() {
    const { items } = await get("builds", { kb: this.base });
    // Newest first: running builds, and the last completed ones.
    const last = items.find(over);
    for (const build of items.filter((one) => one === last || !over(one)).reverse()) this.add(build);
  }

  /** Show a build, and follow it while it runs. */
  add(build) {
    const card = h("article", { class: "card build" });
    this.element.prepend(card);
    this.#draw(card, build);
    if (over(build)) return;
    let state = build.state;
    followBuild(
      build.id,
      (now) => {
        this.#draw(card, now);
        if (now.state !== state) announce(`${t("build.title")}: ${t(`build.state.${now.state}`)}`);
        state = now.state;
        if (over(now)) refreshBases().then(this.finished);
      },
      this.stop.signal,
    );
  }

  #draw(card, build) {
    const cancel = button(
      t("build.cancel"),
      async () => this.#draw(card, await post(`builds/${encodeURIComponent(build.id)}/cancel`, {})),
      { class: "quiet" },
    );
    card.dataset.state = build.state;
    fill(
      card,
      h("div", { class: "card-head" },
        h("h3", {}, t("build.of", { time: moment(build.created_at) })),
        h("span", { class: `state ${build.state}` }, t(`build.state.${build.state}`)),
        !over(build) && cancel,
      ),
      build.files?.length > 0 && files(build),
      !over(build) && progress(build),
      build.state === "waiting" &&
        h("p", { class: "notice" },
          t("build.waiting"),
          " ",
          h("a", { href: href("schema", { kb: this.base, tab: "candidates" }) }, t("build.decide")),
        ),
      build.error && h("p", { class: "notice bad" }, build.error.message),
      build.report && report(build.report),
      build.state === "done" && h("p", {}, h("a", { href: href("ask", { kb: this.base }) }, t("build.ask"))),
    );
  }
}

const SHOWN_FILES = 5;

/** The files of a build, each with its progress, or with the reason for its failure. */
function files(build) {
  const names = build.files.toSorted();
  const failed = new Map((build.report?.files_failed ?? []).map(whyOf));
  const rows = names.map((name, place) => {
    const why = failed.get(name);
    const state = why ? "failed" : stateOf(build, place);
    return h("li", { class: why ? "bad" : "" },
      h("span", {}, name),
      " ",
      h("span", { class: why ? "" : "soft" }, why ? `${t("build.file.failed")}: ${why}` : t(`build.file.${state}`)),
    );
  });
  const list = h("ul", { class: "plain build-files" }, rows);
  if (names.length <= SHOWN_FILES || failed.size) return list;
  return h("details", {}, h("summary", {}, t("build.files", { n: names.length })), list);
}

function whyOf(line) {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}

/** Files are read one after the other, by name; all other steps come after that. */
function stateOf({ state, progress: now }, place) {
  if (state === "done") return "done";
  if (!now?.step || (now.step === "read" && place >= now.done)) return over({ state }) ? "unread" : "waits";
  return "read";
}

function progress({ state, progress: now }) {
  if (state === "waiting") return null;
  const step = now?.step ? t(`build.step.${now.step}`) : t("build.step.none");
  const bar = h("progress", { "aria-label": step, max: now?.total || null, value: now?.total ? now.done : undefined });
  const count = now?.total ? t("build.count", { done: now.done, total: now.total }) : now?.done ? number(now.done) : "";
  return h("div", { class: "build-progress" }, bar, h("span", {}, `${step} ${count}`));
}

const linesOf = (lines) => h("ul", { class: "plain" }, lines.map((line) => h("li", {}, line)));

/** Files that could not be read, those that have another name now, and documents of which a part was not read. */
export function fileNotes({
  files_failed: failed = [], files_moved: moved = [], records_gone: gone = [], files_partly_read: partly = [],
}) {
  return [
    failed.length > 0 &&
      h("div", { class: "notice bad" }, h("p", {}, t("build.files.failed", { n: failed.length })), linesOf(failed)),
    moved.length > 0 &&
      h("div", { class: "notice" }, h("p", {}, t("documents.moved", { n: moved.length })), linesOf(moved)),
    gone.length > 0 &&
      h("details", {}, h("summary", {}, t("documents.gone")), linesOf(gone)),
    partly.length > 0 &&
      h("details", {}, h("summary", {}, t("documents.partly", { n: partly.length })), linesOf(partly)),
  ];
}

function report(found) {
  return h("div", {},
    h("dl", { class: "figures" },
      TABLE.map((name) => h("div", {}, h("dt", {}, t(`figure.${name}`)), h("dd", {}, number(found[name] ?? 0)))),
    ),
    h("p", { class: "soft" },
      t("build.took", {
        seconds: Math.round(found.seconds * 10) / 10,
        tokens: (found.tokens?.prompt ?? 0) + (found.tokens?.completion ?? 0),
      }),
    ),
    found.stopped && h("p", { class: "notice bad" }, t("build.stopped", { why: found.stopped })),
    fileNotes(found),
  );
}
