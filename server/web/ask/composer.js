// The composer: the field for a question, who answers and from which documents, and the options behind a button.

import { button, field, fill, h } from "../dom.js";
import { route } from "../route.js";
import { t } from "../strings.js";
import { modelNotice } from "./model.js";
import { scopeInput, scopeText } from "./scope.js";

/** The options for answering, as the server takes them. */
export const OPTIONS = { mode: "reject", agent: true };

/** The composer; `ask(question)` asks, `stop()` stops the running answer. */
export function composer(base, { ask, stop }) {
  const question = h("textarea", {
    rows: 1,
    maxlength: 10000,
    required: true,
    placeholder: t("ask.placeholder"),
    value: route().parameters.get("q") ?? "",
    "aria-label": t("ask.question"),
  });
  const parts = {
    send: h("button", { type: "submit", class: "primary" }, t("ask.send")),
    stop: button(t("ask.stop"), stop, { class: "danger", hidden: true }),
  };
  const element = h("form", { class: "composer" },
    question,
    h("div", { class: "actions" }, parts.stop, parts.send),
    foot(base),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = question.value.trim();
    if (!asked || parts.send.disabled) return;
    question.value = "";
    ask(asked);
  });
  question.addEventListener("keydown", (event) => {
    // While an input method composes (Chinese, Japanese), Enter accepts a word and must not send.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      element.requestSubmit();
    }
  });
  queueMicrotask(() => question.focus({ preventScroll: true }));
  return { element, ...parts };
}

/** What always shows: the model and the scope; the options that change the scope unfold. */
function foot(base) {
  const scope = h("span", { class: "scope" });
  const show = () => {
    const mode = OPTIONS.mode !== "reject" && t(`ask.mode.${OPTIONS.mode}`);
    fill(scope, [scopeText(base), mode].filter(Boolean).join(" · "));
  };
  const fields = options(base, show);
  const open = button(
    t("ask.options"),
    () => {
      fields.hidden = !fields.hidden;
      open.setAttribute("aria-expanded", String(!fields.hidden));
    },
    { class: "small", "aria-expanded": "false", "aria-controls": fields.id },
  );
  show();
  return [h("div", { class: "composer-foot" }, modelNotice(), scope, open), fields];
}

function options(base, changed) {
  const modes = ["reject", "strict", "open"].map((value) => h("option", { value }, t(`ask.mode.${value}`)));
  const mode = h("select", {}, modes);
  mode.value = OPTIONS.mode;
  mode.addEventListener("change", () => {
    OPTIONS.mode = mode.value;
    changed();
  });
  const agent = h("input", { type: "checkbox", checked: OPTIONS.agent });
  agent.addEventListener("change", () => {
    OPTIONS.agent = agent.checked;
  });
  return h("div", { class: "options", id: "composer-options", hidden: true },
    field(t("ask.mode"), mode, { class: "inline" }),
    field(t("ask.agent"), agent),
    field(t("ask.in"), scopeInput(base, changed), { class: "inline" }),
  );
}
