// The first page: without a knowledge base, ways to create one; otherwise example questions.

import { get, of, post } from "../api.js";
import { known, refreshBases } from "../bases.js";
import { Builds, lastUnreadFiles } from "../documents/builds.js";
import { uploadForm } from "../documents/upload.js";
import { announce, button, failure, fill, h } from "../dom.js";
import { emptyNotice } from "../empty.js";
import { go, href } from "../route.js";
import { language, t } from "../strings.js";
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
    h(
      "div",
      { class: "column first" },
      h("h1", {}, t("first.title")),
      h("p", { class: "lead" }, t("first.lead")),
      uploadForm("", { fresh: true, started }),
      h(
        "section",
        { class: "card" },
        h("h2", {}, t("first.sample")),
        h("p", {}, t("first.sample.about")),
        h(
          "div",
          { class: "actions start" },
          button(t("first.sample.build"), async () => started(await post(`samples/${language()}`, {}))),
        ),
      ),
      progress,
      modelNotice(),
    ),
  );
}

/** The welcome text before the first question; `ask(question)` asks one of the examples. */
export function welcome(base, ask) {
  const found = known(base);
  const examples = h("div", { class: "suggestions" });
  const unread = h("div");
  lastUnreadFiles(base).then(
    (notice) => fill(unread, notice),
    (error) => fill(unread, failure(error)),
  );
  if (found?.documents) {
    // Trying them takes seconds, in which the user may go elsewhere and delete the knowledge base.
    const left = new AbortController();
    window.addEventListener("hashchange", () => left.abort(), { once: true });
    get(of(base, "/questions"), {}, left.signal).then(
      ({ items }) => fill(examples, suggestions(t("ask.examples"), items, ask)),
      (error) => error.name !== "AbortError" && fill(examples, failure(error)),
    );
  }
  return h(
    "div",
    { class: "welcome" },
    found?.documents
      ? h("p", {}, t("ask.welcome", { n: found.documents, base }))
      : emptyNotice(t("ask.empty"), href("documents", { kb: base }), t("documents.add")),
    unread,
    examples,
  );
}

/** A list of questions under a heading; nothing if the list is empty. */
export function suggestions(heading, questions, ask) {
  if (!questions.length) return null;
  return [
    h("h3", {}, heading),
    h(
      "ul",
      {},
      questions.map((question) => h("li", {}, button(question, () => ask(question), { class: "suggestion" }))),
    ),
  ];
}
