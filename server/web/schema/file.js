// The schema as a file: save it, or replace the current schema with one.

import { of, put } from "../api.js";
import { dialog } from "../dialogs.js";
import { button, failure, field, fill, h } from "../dom.js";
import { spaced } from "../names.js";
import { saved } from "../saving.js";
import { t } from "../strings.js";
import { keep, reviewer } from "./review.js";

const ENDINGS = ".json,.yaml,.yml";

/** The section; `replaced(version)` is called with a new version. */
export function fileView(base, schema, replaced) {
  const input = h("input", { type: "file", accept: ENDINGS, id: "schema-file" });
  const trouble = h("div");
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    fill(trouble);
    try {
      const version = await replace(base, file.name, await file.text());
      if (version) await replaced(version);
    } catch (error) {
      fill(trouble, failure(error));
    }
  });
  const save = () =>
    saved(new Blob([JSON.stringify(schema, null, 2)], { type: "application/json" }), `${schema.name}.json`);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, t("schema.file")),
    h("p", { class: "soft" }, t("schema.file.about")),
    h(
      "div",
      { class: "actions start" },
      button(t("schema.file.save"), save),
      h("label", { for: "schema-file", class: "as-button" }, t("schema.file.replace")),
      input,
    ),
    trouble,
  );
}

/** Start a new knowledge base with your own schema. */
export const beginWith = async (base, file) =>
  put(of(base, "/schema"), { text: await file.text(), file: file.name, who: t("review.who.default") });

/** Show the changes and apply them after confirmation; return the new version, or nothing. */
async function replace(base, file, text) {
  const asked = { text, file, who: t("review.who.default"), dry_run: true };
  const { changes } = await put(of(base, "/schema"), asked);
  return dialog(t("schema.file.sure", { file }), (close) => {
    const who = reviewer();
    const told = h("div");
    const submit = async (event) => {
      event.preventDefault();
      keep(who);
      try {
        fill(told, h("p", { class: "soft", role: "status" }, t("edit.working")));
        close((await put(of(base, "/schema"), { text, file, who: who.value.trim() })).version);
      } catch (error) {
        fill(told, failure(error));
      }
    };
    return [
      h(
        "form",
        { on: { submit } },
        changes.length
          ? h("ul", { class: "changes" }, changes.map(changed))
          : h("p", { class: "notice" }, t("schema.file.same")),
        field(t("review.who"), who),
        told,
        h(
          "div",
          { class: "actions" },
          button(t("page.cancel"), () => close()),
          changes.length > 0 && h("button", { type: "submit", class: "primary" }, t("schema.file.do")),
        ),
      ),
    ];
  });
}

function changed({ change, kind, name, fields }) {
  const what = change === "changed" ? fields.map((one) => one.field.replaceAll("_", " ")).join(t("page.comma")) : "";
  return h(
    "li",
    {},
    `${t(`schema.${change}`)} ${t(`kind.${kind}`)} `,
    h("strong", {}, spaced(name)),
    what && h("span", { class: "soft" }, ` ${what}`),
  );
}
