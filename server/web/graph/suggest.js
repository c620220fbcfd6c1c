// A search field with suggestions (the combobox pattern of ARIA).

import { announce, fill, h } from "../dom.js";
import { t } from "../strings.js";

const WAIT = 150;
let fields = 0;

/**
  * The field; `find(text, signal)` gives items, `label(item)` their content, `pick(item)` takes one, `none` says that
  * there are none.
 */
export function suggestField(name, { find, label, pick, none = t("graph.search.none") }) {
  const id = `suggest-${(fields += 1)}`;
  const list = h("ul", { id, role: "listbox", "aria-label": name, hidden: true });
  const input = h("input", {
    type: "search",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: name,
    "aria-label": name,
  });
  const state = { items: [], active: -1, timer: 0, asked: null };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    state.active = -1;
  };
  const take = (item) => {
    close();
    input.value = "";
    pick(item);
  };
  const light = (place) => {
    state.active = place;
    [...list.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
    const option = list.children[place];
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    }
  };
  const look = async () => {
    state.asked?.abort();
    state.asked = new AbortController();
    const text = input.value.trim();
    if (!text) {
      close();
      return;
    }
    try {
      state.items = await find(text, state.asked.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      announce(error.message);
      state.items = [];
    }
    fill(
      list,
      state.items.map((item, number) =>
        h(
          "li",
          {
            role: "option",
            id: `${id}-${number}`,
            "aria-selected": "false",
            on: { mousedown: (event) => event.preventDefault(), click: () => take(item) },
          },
          ...label(item),
        ),
      ),
    );
    if (!state.items.length)
      fill(list, h("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, none));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    state.active = -1;
    announce(t("graph.search.found", { n: state.items.length }));
  };
  input.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(look, WAIT);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const last = state.items.length - 1;
    if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "ArrowDown" && last >= 0 && !list.hidden) light(state.active >= last ? 0 : state.active + 1);
    else if (event.key === "ArrowUp" && last >= 0 && !list.hidden) light(state.active <= 0 ? last : state.active - 1);
    else if (event.key === "Enter" && !list.hidden && last >= 0) take(state.items[Math.max(0, state.active)]);
    else return;
    event.preventDefault();
  });
  return h("div", { class: "suggest" }, input, list);
}
