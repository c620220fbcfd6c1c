// The first page: without a knowledge base, ways to create one; otherwise what the documents are about.

import { post } from "../api.js";
import { isSeveral, known, namesIn, refreshBases } from "../bases.js";
import { Builds } from "../documents/builds.js";
import { uploadForm } from "../documents/upload.js";
import { announce, button, fill, h } from "../dom.js";
import { emptyNotice } from "../empty.js";
import { go, href } from "../route.js";
import { language, t } from "../strings.js";
import { introduction } from "./introduction.js";
import { modelNotice } from "./model.js";

/** The first page, for your own documents or the sample; starting a build leads to its questions. */
export function firstPage(root) {
  const progress = h("div");
  const started = async (build) => {
    announce(t("build.started"));
    const builds = new Builds(build.kb, async () => {
      await refreshBases();
      if (root.isConnected && known(build.kb)?.documents) go(href("ask", { kb: build.kb }));
    });
    fill(progress, builds.element);
    builds.add(build);
    progress.scrollIntoView({ block: "nearest" });
  };
  fill(
    root,
    h("div", { class: "column first" },
      h("h1", {}, t("first.title")),
      h("p", { class: "lead" }, t("first.lead")),
      uploadForm("", { fresh: true, started }),
      h("section", { class: "card" },
        h("h2", {}, t("first.sample")),
        h("p", {}, t("first.sample.about")),
        h("div", { class: "actions start" },
          button(t("first.sample.build"), async () => started(await post(`samples/${language()}`, {}))),
        ),
      ),
      progress,
      modelNotice(),
    ),
  );
}

/** What stands before the first question; `ask(question)` asks one of the examples. */
export function welcome(base, ask) {
  if (isSeveral(base)) {
    return h("div", { class: "welcome" }, h("p", { class: "lead" }, t("ask.several", { names: namesIn(base).join(", ") })));
  }
  return h("div", { class: "welcome" },
    known(base)?.documents
      ? introduction(base, ask)
      : emptyNotice(t("ask.empty"), href("documents", { kb: base }), t("documents.add")),
  );
}
