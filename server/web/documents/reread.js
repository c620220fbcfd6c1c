// Chunks that the model would read otherwise now, and having it read them again.

import { get, of } from "../api.js";
import { button, h } from "../dom.js";
import { number, t } from "../strings.js";
import { startBuild } from "./upload.js";

/** A card with the estimate and a button, or null; `started(build)` is called with the build. */
export async function rereadCard(base, started) {
  const found = await get(of(base, "/reread"));
  if (!found.chunks) return null;
  const { model, calls } = found;
  const tokens = found.prompt_tokens + found.completion_tokens;
  const kind = (name) => (name === "rules" ? "rules" : name === model ? "same" : "model");
  const readers = Object.entries(found.read_by).map(([name, n]) =>
    h("li", {}, t(`reread.by.${kind(name)}`, { n, name })),
  );
  return h("section", { class: "card" },
    h("h2", {}, t(found.read_by[model] ? "reread.title.instructions" : "reread.title", { n: found.chunks, model })),
    h("ul", {}, readers),
    h("p", { class: "soft" }, t("reread.about", { calls: number(calls), tokens: number(tokens) })),
    h("div", { class: "actions start" },
      button(t("reread.start", { model }), async () => started(await startBuild(base, [], { reread: true }))),
    ),
  );
}
