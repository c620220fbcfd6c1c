// A request of the REST API, to be filled in and sent from the page.

import { tried } from "../api.js";
import { failure, field, fill, h } from "../dom.js";
import { t } from "../strings.js";

const MOST_SHOWN = 100_000;
const EMPTY = { array: [], boolean: false, integer: 0, number: 0, object: {}, string: "" };

/** The fields of an operation's parameters and body, and what the server answers. */
export function trying({ path, method, operation }, forms) {
  const parameters = (operation.parameters ?? []).filter((one) => one.in !== "header");
  const inputs = parameters.map((one) => h("input", { type: "text", required: Boolean(one.required) }));
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body = schema && h("textarea", { rows: 4, spellcheck: "false" }, JSON.stringify(sample(schema, forms), null, 2));
  const answer = h("div", { role: "status" });
  async function send(event) {
    event.preventDefault();
    try {
      show(answer, await tried(method.toUpperCase(), filled(path, parameters, inputs), body?.value));
    } catch (error) {
      fill(answer, failure(error));
    }
  }
  return h("form", { class: "trying", on: { submit: send } },
    parameters.map((one, index) => field(one.name, inputs[index])),
    body && field(t("api.body"), body),
    h("div", { class: "actions start" }, h("button", { type: "submit", class: "small" }, t("api.send"))),
    answer,
  );
}

/** Whether an operation takes what can be typed: no files. */
export const canBeTried = ({ operation }) =>
  !operation.requestBody || "application/json" in operation.requestBody.content;

function filled(path, parameters, inputs) {
  const query = new URLSearchParams();
  let address = path;
  parameters.forEach((one, index) => {
    const value = inputs[index].value.trim();
    if (one.in === "path") address = address.replace(`{${one.name}}`, encodeURIComponent(value));
    else if (value) query.append(one.name, value);
  });
  return query.size ? `${address}?${query}` : address;
}

function show(answer, { status, text }) {
  fill(
    answer,
    h("p", {}, t("api.status", { status: String(status) })),
    h("pre", { tabindex: "0", role: "region", "aria-label": t("api.answer") }, h("code", {}, readable(text))),
  );
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, MOST_SHOWN);
  } catch {
    return text.slice(0, MOST_SHOWN);
  }
}

/** A value with the required fields of a schema, each empty. */
function sample(schema, forms) {
  if (schema.$ref) return sample(forms[schema.$ref.split("/").at(-1)], forms);
  const choice = (schema.anyOf ?? schema.oneOf ?? []).find((one) => one.type !== "null");
  if (choice) return sample(choice, forms);
  if (schema.enum) return schema.enum[0];
  if (!schema.properties) return EMPTY[schema.type] ?? null;
  return Object.fromEntries((schema.required ?? []).map((name) => [name, sample(schema.properties[name], forms)]));
}
