// The schema in the user's language: labels of its elements, and the texts of the built-in schemas, which are English.

import { get, of } from "./api.js";
import { language, t } from "./strings.js";

let labels = new Map();
let seeds = null;

/** Load the labels of a knowledge base's schema; elements without labels are shown by their names. */
export async function learnNames(base) {
  labels = new Map();
  // The names of the built-in schemas are English, so there is nothing to fetch.
  if (!base || language() === "en") return;
  seeds ??= await seedTexts();
  const { schema } = await get(of(base, "/schema")).catch((error) => {
    if (error.status === 404 || error.status === 409) return { schema: {} };
    throw error;
  });
  for (const kind of ["entity_types", "relation_types", "attribute_types"]) {
    for (const { name, labels: said } of schema[kind] ?? []) if (said?.[language()]) labels.set(name, said[language()]);
  }
}

/** A readable name of a schema element: its label, or "born in" for `born_in`. */
export const spaced = (name) => labels.get(name) ?? name.replaceAll("_", " ");

/** What stands before and after a relation in a line of the graph: "<- born in: Ada", "Ada -born in (1815)-> London". */
const AROUND = [["<- ", ":"], ["-", "->"], ["-", "- "], ["-", " ("]];

/** A line of the graph as the server writes it, with the labels of relations; any other text as it is. */
export function factText(text) {
  let said = text;
  for (const [name, label] of labels) {
    const plain = name.replaceAll("_", " ");
    if (said.startsWith(`${plain} -> `)) said = label + said.slice(plain.length);
    for (const [before, after] of AROUND) {
      said = said.replaceAll(`${before}${plain}${after}`, `${before}${label}${after}`);
    }
  }
  return said;
}

/** Facts in a row, as the report of a community has them, with the labels of relations. */
export function factsText(text) {
  let said = text;
  for (const [name, label] of labels) {
    const plain = name.replaceAll("_", " ");
    said = said.replaceAll(` ${plain} `, ` ${label} `).replaceAll(` ${plain}: `, ` ${label}：`);
  }
  return said;
}

async function seedTexts() {
  const response = await fetch(`assets/seeds.${language()}.json`);
  if (!response.ok) throw new Error(`seeds.${language()}.json: ${response.status}`);
  return response.json();
}

/** The reason for a decision; of one by thresholds, in other languages than English, only what the evidence lacks. */
export function reasonText(why) {
  if (language() === "en") return why;
  const said = why.replace(/(?:^|: )mean confidence .*/s, "");
  return said.startsWith("also called ") ? t("entity.aliases", { names: said.slice(12) }) : seedText(said);
}

/** A text of a built-in schema in the user's language; other texts are returned unchanged. */
export const seedText = (text) => (language() === "en" ? text : (seeds?.[text] ?? text));
