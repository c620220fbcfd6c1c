// What the schema's elements are called in the person's language; their own names are English or as found.

import { get, of } from "./api.js";
import { language } from "./strings.js";

let labels = new Map();

/** Learn the labels of a knowledge base's schema; without any, its elements go by their own names. */
export async function learnNames(base) {
  labels = new Map();
  // Names are English where the schema is one of ours: then there is nothing to fetch.
  if (!base || language() === "en") return;
  const { schema } = await get(of(base, "/schema")).catch((error) => {
    if (error.status === 404 || error.status === 409) return { schema: {} };
    throw error;
  });
  for (const kind of ["entity_types", "relation_types", "attribute_types"]) {
    for (const { name, labels: said } of schema[kind] ?? []) if (said?.[language()]) labels.set(name, said[language()]);
  }
}

/** A name of the schema for people: its label, or `born_in` as "born in". */
export const spaced = (name) => labels.get(name) ?? name.replaceAll("_", " ");
