// The knowledge base as a whole: export, rename, delete.

import { download, get, of, put, remove } from "../api.js";
import { refreshBases } from "../bases.js";
import { confirmed, formDialog } from "../dialogs.js";
import { button, failure, field, fill, fold, h } from "../dom.js";
import { seedText } from "../names.js";
import { go, href } from "../route.js";
import { t } from "../strings.js";
import { toast } from "../toasts.js";

/** The ways in which a schema can grow. */
const GROWTH = ["auto", "review", "off"];
const FORMATS = ["json", "graphml", "cypher", "html", "wiki"];
/** Valid names of a knowledge base; the server checks them as well. */
const NAME = "[\\p{L}\\p{N}]([\\p{L}\\p{N}_\\-]{0,62}[\\p{L}\\p{N}])?";

/** The field for a knowledge base's name, validated while the user types. */
export function nameField(label, value = "") {
  const input = h("input", {
    required: true,
    maxlength: 64,
    pattern: NAME,
    value,
    autofocus: true,
    spellcheck: "false",
    autocomplete: "off",
  });
  const told = h("p", { class: "soft bad", role: "status" });
  input.addEventListener("input", () => {
    const wrong = input.validity.patternMismatch;
    input.setCustomValidity("");
    told.textContent = wrong ? t("base.name.wrong") : "";
    input.setAttribute("aria-invalid", String(wrong));
  });
  return { input, element: h("div", {}, field(label, input), told) };
}

/** The section. */
export function baseView(base) {
  const form = h("select", { "aria-label": t("base.export") },
    FORMATS.map((name) => h("option", { value: name }, t(`base.export.${name}`))),
  );
  const save = () => download(of(base, "/export"), { format: form.value }, `${base}.${form.value === "wiki" ? "zip" : form.value}`);
  const backUp = () => download(of(base, "/backup"), {}, `${base}.zip`);
  return h("section", { class: "card" },
    h("h2", {}, t("base.whole", { base })),
    h("div", { class: "actions start" },
      form,
      button(t("base.save"), save),
      button(t("base.backup"), backUp),
      button(t("base.rename"), () => rename(base)),
      button(t("base.drop"), () => drop(base), { class: "danger" }),
    ),
    h("p", { class: "soft" }, t("base.backup.why")),
    settingsView(base),
  );
}

/** The settings of its builds: how its schema grows, and whether names are resolved. */
const settingsView = (base) => fold(t("base.settings"), async () => settingsForm(base, await get(of(base, "/settings"))));

function settingsForm(base, set) {
  const growth = h("select", {},
    GROWTH.map((one) => h("option", { value: one }, t(`base.growth.${one}`))),
  );
  growth.value = set.growth;
  const resolve = h("input", { type: "checkbox", checked: set.resolve });
  const instructions = h("textarea", { rows: 3, maxlength: 4000 });
  instructions.value = set.instructions;
  const heeded = h("textarea", { rows: 5, maxlength: 4000 });
  heeded.value = set.extraction_instructions;
  const told = h("div", { role: "status" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      fill(told, h("p", { class: "soft" }, t("edit.working")));
      await put(of(base, "/settings"), {
        growth: growth.value,
        resolve: resolve.checked,
        instructions: instructions.value,
        extraction_instructions: heeded.value,
      });
      fill(told, h("p", { class: "soft" }, t("base.settings.saved")));
    } catch (error) {
      fill(told, failure(error));
    }
  };
  return h("form", { class: "settings", on: { submit } },
    field(t("base.growth"), growth),
    field(t("upload.resolve"), resolve),
    field(t("base.instructions"), instructions),
    h("p", { class: "soft" }, t("base.instructions.hint")),
    field(t("base.extraction"), heeded),
    h("p", { class: "soft" }, t("base.extraction.hint")),
    h("p", { class: "soft" }, t("base.settings.fixed", { embedding: set.embedding, seed: seedText(set.seed) })),
    h("div", { class: "actions start" }, h("button", { type: "submit" }, t("base.settings.save"))),
    told,
  );
}

async function rename(base) {
  const { input, element } = nameField(t("base.name"), base);
  const send = () => put(of(base), { name: input.value.trim() }, { method: "PATCH" });
  const { name } = (await formDialog(t("base.rename.title"), element, t("base.rename"), send)) ?? {};
  if (!name) return;
  await moveTo(name);
  toast(t("base.renamed", { name }), async () => {
    await put(of(name), { name: base }, { method: "PATCH" });
    await moveTo(base);
  });
}

/** Show a knowledge base under its new name. */
async function moveTo(name) {
  await refreshBases();
  go(href("documents", { kb: name }));
}

async function drop(base) {
  if (!(await confirmed(t("base.drop.title"), t("base.drop.sure", { base }), t("base.drop")))) return;
  await remove(of(base));
  localStorage.removeItem("banyan.base");
  history.replaceState(null, "", href("ask"));
  await refreshBases();
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  toast(t("base.dropped", { base }));
}
