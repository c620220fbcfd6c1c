// The model that answers, and replacing it while the server runs.

import { get, post, put } from "../api.js";
import { dialog } from "../dialogs.js";
import { button, failure, field, fill, h } from "../dom.js";
import { t } from "../strings.js";
import { toast } from "../toasts.js";

const LIKE = "http://127.0.0.1:11434/v1";

/** A line with the current model, and a button to change it. */
export function modelNotice() {
  const line = h("p", { class: "model" });
  const show = (model) => {
    fill(
      line,
      h("span", { class: "soft" }, said(model)),
      " ",
      button(t(model.reasoner === "llm" ? "model.change" : "model.set"), () => change(model), { class: "link" }),
    );
  };
  const change = async (model) => {
    const chosen = await chooseModel(model);
    if (chosen) show(chosen);
  };
  get("model").then(show, (error) => fill(line, failure(error)));
  return line;
}

/** Let a person look at the model that answers, and change it. */
export const checkModel = async () => chooseModel(await get("model"));

async function chooseModel(now) {
  const chosen = await askModel(now);
  if (chosen) toast(t("model.now", { what: said(chosen) }));
  return chosen;
}

const said = ({ reasoner, model, host, has_key: key }) =>
  reasoner === "rules" ? t("model.rules") : t(key ? "model.llm.key" : "model.llm", { model, host });

/** Ask for a model; return the model that now answers, or nothing. */
function askModel(now) {
  return dialog(t("model.title"), (close) => {
    const plain = { autocomplete: "off", spellcheck: "false", maxlength: 500 };
    const endpoint = h("input", { type: "url", placeholder: LIKE, value: now.endpoint, ...plain });
    const model = h("input", { value: now.model, required: true, ...plain });
    const key = h("input", { type: "password", placeholder: now.has_key ? t("model.key.kept") : null, ...plain });
    const told = h("div", { role: "status" });
    const values = () => ({ endpoint: endpoint.value.trim(), model: model.value.trim(), key: key.value.trim() });
    const attempt = async (step) => {
      try {
        await step();
      } catch (error) {
        fill(told, failure(error));
      }
    };
    const tryOut = () => {
      fill(told, h("p", { class: "soft" }, t("model.trying")));
      return post("model/try", values());
    };
    const test = () =>
      attempt(async () => {
        if (!form.reportValidity()) return;
        const { seconds } = await tryOut();
        fill(told, h("p", { class: "notice good" }, t("model.tried", { seconds })));
      });
    const use = (chosen) => attempt(async () => close(await put("model", chosen)));
    // A model that does not answer is used only if a person insists.
    const submit = async (event) => {
      event.preventDefault();
      try {
        await tryOut();
      } catch (error) {
        const anyway = button(t("model.use.anyway"), () => use(values()));
        fill(told, failure(error), h("p", {}, t("model.untested"), " ", anyway));
        return;
      }
      await use(values());
    };
    const form = h("form", { on: { submit } },
      h("p", {}, t("model.why")),
      field(t("model.endpoint"), endpoint),
      field(t("model.name"), model),
      field(t("model.key"), key),
      h("p", { class: "soft" }, t("model.kept")),
      told,
      h("div", { class: "actions" },
        now.reasoner === "llm" && button(t("model.rules.use"), () => use({}), { class: "quiet" }),
        button(t("page.cancel"), () => close()),
        button(t("model.try"), test),
        h("button", { type: "submit", class: "primary" }, t("model.use")),
      ),
    );
    return [form];
  });
}
