// The server's description of the REST API: every operation with its parameters and schemas.

import { get } from "../api.js";
import { copied } from "../copying.js";
import { button, fill, h } from "../dom.js";
import { href } from "../route.js";
import { t } from "../strings.js";
import { canBeTried, trying } from "./trying.js";

const DEEP = 4;

/** Show the view. */
export async function show(root, base) {
  const description = await get("openapi.json");
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? "";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push({ path, method, operation });
    }
  }
  const forms = description.components?.schemas ?? {};
  fill(
    root,
    h("div", { class: "column wide connect" },
      h("p", {}, h("a", { href: href("connect", { kb: base }) }, t("connect.title"))),
      h("h1", {}, t("api.title")),
      h("p", { class: "lead" }, t("api.lead")),
      [...groups].map(([tag, operations]) =>
        h("section", { class: "card" }, h("h2", {}, tag), operations.map((one) => operationView(one, forms))),
      ),
    ),
  );
}

function operationView(one, forms) {
  const { path, method, operation } = one;
  const parameters = operation.parameters ?? [];
  const body = Object.values(operation.requestBody?.content ?? {})[0];
  const answer = operation.responses?.["200"] ?? operation.responses?.["202"];
  const given = Object.values(answer?.content ?? {})[0];
  return h("details", { class: "operation" },
    h("summary", {},
      h("span", { class: `method ${method}` }, method.toUpperCase()),
      " ",
      h("code", {}, path),
      " ",
      h("span", { class: "soft" }, operation.description ?? operation.summary),
    ),
    canBeTried(one) && [h("h3", {}, t("api.try")), trying(one, forms)],
    parameters.length > 0 && [
      h("h3", {}, t("api.parameters")),
      h("ul", {},
        parameters.map((one) =>
          h("li", {},
            h("code", {}, one.name),
            " ",
            h("span", { class: "soft" }, told(one)),
          ),
        ),
      ),
    ],
    body && [h("h3", {}, t("api.body")), form(body.schema, forms, t("api.body"))],
    given?.schema && [h("h3", {}, t("api.answer")), form(given.schema, forms, t("api.answer"))],
    h("div", { class: "actions start" },
      button(t("api.curl"), () => copied(curl(path, method, body, forms)), { class: "small" }),
    ),
  );
}

const told = (one) => [one.in, one.required && t("api.required"), one.description].filter(Boolean).join(" · ");

const form = (schema, forms, label) =>
  h("pre", { tabindex: "0", role: "region", "aria-label": label },
    h("code", {}, JSON.stringify(shape(schema, forms), null, 2)),
  );

/** The shape of a value: each field with its type. */
function shape(schema, forms, depth = 0) {
  if (!schema || depth > DEEP) return "...";
  if (schema.$ref) return shape(forms[schema.$ref.split("/").at(-1)], forms, depth);
  const [choice] = (schema.anyOf ?? schema.oneOf ?? []).filter((one) => one.type !== "null");
  if (choice) return shape(choice, forms, depth);
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return [shape(schema.items, forms, depth + 1)];
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, shape(value, forms, depth + 1)]),
    );
  return schema.format ?? schema.type ?? schema.const ?? "any";
}

function curl(path, method, body, forms) {
  const lines = [`curl -X ${method.toUpperCase()} ${location.origin}${path}`];
  if (body) lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(shape(body.schema, forms))}'`);
  return lines.join(" \\\n     ");
}
