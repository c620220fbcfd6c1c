// The knowledge bases, and the selected one.

import { get } from "./api.js";
import { formDialog } from "./dialogs.js";
import { nameField } from "./documents/base.js";
import { fill, h } from "./dom.js";
import { go, href, route } from "./route.js";
import { t } from "./strings.js";

const KEPT = "banyan.base";
const NEW = " new";
const SEVERAL = " several";
const BETWEEN = ",";

let items = [];

/** The knowledge bases on the server, as last fetched. */
export const known = (name) => items.find((one) => one.name === name);

/** The names of the knowledge bases that are read as one. */
export const namesIn = (base) => base.split(BETWEEN);

/** Whether several knowledge bases are read as one. */
export const isSeveral = (base) => base.includes(BETWEEN);

/** The knowledge base in the address, else the last selected one, else the first. */
export function base() {
  const named = route().parameters.get("kb");
  if (named) return named;
  const last = localStorage.getItem(KEPT);
  return known(last) ? last : (items[0]?.name ?? "");
}

/** Fetch the knowledge bases from the server, and show them in the picker. */
export async function refreshBases() {
  items = (await get("knowledge-bases")).items;
  showBases();
}

/** Show the picker, including a name that is not built yet. */
export function showBases() {
  const picker = document.getElementById("base");
  const now = base();
  if (now) localStorage.setItem(KEPT, now);
  const names = items.map((one) => one.name);
  if (now && !names.includes(now)) names.push(now);
  fill(
    picker,
    names.map((name) => h("option", { value: name }, namesIn(name).join(" + "))),
    items.length > 1 && h("option", { value: SEVERAL }, t("base.several")),
    h("option", { value: NEW }, t("base.new")),
  );
  if (!names.length) picker.prepend(h("option", { value: "" }, t("base.none")));
  picker.value = now;
}

/** React to a selection in the picker. */
export function followPicker() {
  document.getElementById("base").addEventListener("change", async (event) => {
    const chosen = event.target.value === SEVERAL ? await askSeveral() : event.target.value;
    if (!chosen) {
      showBases();
      return;
    }
    if (chosen !== NEW) {
      go(href(route().view || "ask", { kb: chosen }));
      return;
    }
    const name = await askName();
    if (name) go(href("documents", { kb: name }));
    else showBases();
  });
}

/** Ask which knowledge bases are to be read as one; nothing if none is chosen. */
async function askSeveral() {
  const now = namesIn(base());
  const boxes = items.map(({ name }) => h("input", { type: "checkbox", value: name, checked: now.includes(name) }));
  const content = [
    h("p", {}, t("base.several.how")),
    boxes.map((box) => h("label", { class: "check" }, box, " ", box.value)),
  ];
  const checked = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const chosen = await formDialog(t("base.several.title"), content, t("base.several.go"), checked);
  return chosen?.join(BETWEEN);
}

/** Ask for the name of a new knowledge base. */
export function askName() {
  const { input, element } = nameField(t("base.name"));
  const content = [h("p", {}, t("base.new.why")), element];
  return formDialog(t("base.new.title"), content, t("base.go"), () => input.value.trim());
}
