// Choosing files and build options, and sending them.

import { get, of, post, put } from "../api.js";
import { nameField } from "./base.js";
import { announce, button, failure, field, fill, h } from "../dom.js";
import { number, t } from "../strings.js";

/** The seed schemas for a new knowledge base; a test compares them with schemas/seeds. */
export const SEEDS = ["general", "biomedical", "encyclopedia", "finance", "literature", "open"];
/** The option for a schema that a model infers; without a model it is `general`. */
const AUTO = "auto";
/** The option for your own schema file. */
const OWN = "own";
/** Common file endings. */
const USUAL = ["pdf", "docx", "pptx", "xlsx", "html", "md", "txt", "csv", "json", "epub", "eml"];
const KB = 1024;

/**
  * The form. `base`: the knowledge base, or empty to ask for its name; `fresh`: the knowledge base is new and takes a
  * schema; `started(build)` is called with the build.
 */
export function uploadForm(base, { fresh, started }) {
  const chosen = new Map();
  const list = h("ul", { class: "plain files" });
  const input = h("input", { type: "file", multiple: true, id: "upload-files" });
  const send = h("button", { type: "submit", class: "primary", disabled: true }, t("upload.send.none"));
  const trouble = h("div");
  const options = choices(base, fresh);
  const name = base ? null : nameField(t("first.name"), t("first.name.default"));
  const show = () => {
    fill(
      list,
      [...chosen.values()].map((file) =>
        h("li", {},
          h("span", {}, file.name),
          h("span", { class: "soft" }, t("upload.size", { size: number(Math.max(1, Math.round(file.size / KB))) })),
          button(
            "×",
            () => {
              chosen.delete(file.name);
              show();
            },
            { class: "quiet small", "aria-label": t("upload.remove", { name: file.name }) },
          ),
        ),
      ),
    );
    send.disabled = chosen.size === 0;
    send.textContent = chosen.size ? t("upload.send", { n: chosen.size }) : t("upload.send.none");
  };
  const take = (files) => {
    for (const file of files) chosen.set(file.name, file);
    show();
    announce(t("upload.chosen", { n: chosen.size }));
  };
  input.addEventListener("change", () => {
    take(input.files);
    input.value = "";
  });
  const zone = h("div", { class: "dropzone" },
    h("label", { for: "upload-files", class: "as-button" }, t("upload.choose")),
    input,
    h("span", { class: "soft" }, t("upload.drop")),
  );
  followDrops(zone, take);
  const submit = async (event) => {
    event.preventDefault();
    send.disabled = true;
    fill(trouble);
    try {
      const wanted = base || name.input.value.trim();
      const own = options.ownSchema();
      if (own) await beginWith(wanted, own);
      const build = await startBuild(wanted, [...chosen.values()], options.values());
      chosen.clear();
      started(build);
    } catch (error) {
      fill(trouble, failure(error));
    }
    show();
  };
  return h("form", { class: "card upload", on: { submit } },
    h("h2", {}, base ? t(fresh ? "upload.title.new" : "upload.title", { base }) : t("first.own")),
    name?.element,
    zone,
    formats(),
    list,
    options.element,
    trouble,
    h("div", { class: "actions start" }, send),
  );
}

/** The supported file endings, from the server. */
function formats() {
  const line = h("div", { class: "soft formats" });
  get("formats").then(
    ({ items }) => {
      const endings = items.map((one) => one.slice(1));
      const named = (some) => some.join(t("page.comma"));
      const others = endings.filter((one) => !USUAL.includes(one));
      const all = h("details", {}, h("summary", {}, t("upload.formats.others", { n: others.length })), named(others));
      fill(line, t("upload.formats", { endings: named(USUAL.filter((one) => endings.includes(one))) }), all);
    },
    (error) => fill(line, failure(error)),
  );
  return line;
}

/** Start a build. */
export function startBuild(base, files, values) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  for (const [name, value] of Object.entries(values)) form.append(name, String(value));
  return post(of(base, "/builds"), form);
}

/** Start a new knowledge base with your own schema. */
const beginWith = async (base, file) =>
  put(of(base, "/schema"), { text: await file.text(), file: file.name, who: t("review.who.default") });

function choices(base, fresh) {
  const schema = h("select", {},
    [AUTO, ...SEEDS, OWN].map((name) => h("option", { value: name }, t(`seed.${name}`))),
  );
  const file = h("input", { type: "file", accept: ".json" });
  const fileField = field(t("upload.schema.file"), file, { hidden: true });
  schema.addEventListener("change", () => {
    fileField.hidden = schema.value !== OWN;
    file.required = schema.value === OWN;
  });
  const box = (checked) => h("input", { type: "checkbox", checked });
  const [review, evolve, resolve] = [box(false), box(true), box(true)];
  const tokens = h("input", { type: "number", min: 1, inputmode: "numeric", placeholder: t("upload.unlimited") });
  const element = h("div", { class: "upload-options" },
    fresh && [field(t("upload.schema"), schema), fileField],
    field(t("upload.review"), review),
    h("details", {},
      h("summary", {}, t("upload.more")),
      field(t("upload.evolve"), evolve),
      field(t("upload.resolve"), resolve),
      field(t("upload.tokens"), tokens),
    ),
  );
  if (!fresh) {
    // The settings of the last build, or those that the user saved.
    get(of(base, "/settings")).then((set) => {
      [review.checked, evolve.checked] = [set.growth === "review", set.growth !== "off"];
      resolve.checked = set.resolve;
    }, (error) => announce(error.message));
  }
  const ownSchema = () => (fresh && schema.value === OWN ? file.files[0] : null);
  const values = () => ({
    ...(fresh && schema.value !== OWN ? { schema: schema.value } : {}),
    review: review.checked,
    evolve: evolve.checked,
    resolve: resolve.checked,
    ...(tokens.value ? { max_tokens: tokens.value } : {}),
  });
  return { element, values, ownSchema };
}

function followDrops(zone, take) {
  const lit = (on) => (event) => {
    event.preventDefault();
    zone.classList.toggle("over", on);
  };
  zone.addEventListener("dragover", lit(true));
  zone.addEventListener("dragleave", lit(false));
  zone.addEventListener("drop", (event) => {
    lit(false)(event);
    take(event.dataTransfer.files);
  });
}
