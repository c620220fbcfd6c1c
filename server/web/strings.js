// The interface's texts in each language: strings/en.json and strings/zh.json have the same keys.

export const LANGUAGES = ["en", "zh"];
const KEPT = "banyan.language";

let current = "en";
let texts = {};
let plural = new Intl.PluralRules("en");

/** The language in use. */
export const language = () => current;

/** Load the user's language: the one chosen before, else the browser's, else English. */
export async function loadStrings(chosen) {
  if (chosen) localStorage.setItem(KEPT, chosen);
  const wished = [localStorage.getItem(KEPT), ...navigator.languages].map((one) =>
    (one ?? "").slice(0, 2).toLowerCase(),
  );
  current = wished.find((one) => LANGUAGES.includes(one)) ?? "en";
  const response = await fetch(`assets/strings/${current}.json`);
  if (!response.ok) throw new Error(`strings/${current}.json: ${response.status}`);
  texts = await response.json();
  plural = new Intl.PluralRules(current);
  document.documentElement.lang = current === "zh" ? "zh-CN" : current;
}

/** A text with `{name}` replaced; `n` selects the singular or plural form, if there are forms. */
export function t(key, values = {}) {
  const found = texts[key];
  if (found === undefined) throw new Error(`there is no text ${key}`);
  const text = typeof found === "string" ? found : (found[plural.select(values.n)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : String(value);
  });
}

/** A number in the format of the language. */
export const number = (value) => new Intl.NumberFormat(current).format(value);

/** A share from 0 to 1 as a percentage. */
export const percent = (value) =>
  new Intl.NumberFormat(current, { style: "percent", maximumFractionDigits: 0 }).format(value);

/** A date and time in the format of the language; other text is returned unchanged. */
export function moment(value) {
  const date = new Date(value);
  return Number.isNaN(date.getTime())
    ? String(value ?? "")
    : new Intl.DateTimeFormat(current, { dateStyle: "medium", timeStyle: "short" }).format(date);
}

/** Set the texts of the page's own elements. */
export function translate(root) {
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]"))
    element.setAttribute("aria-label", t(element.dataset.label));
}
