// Requests to the server's own API, with the user's key if the server needs one.

import { askKey } from "./key.js";
import { saved } from "./saving.js";
import { events } from "./sse.js";
import { language, t } from "./strings.js";

const KEPT = "banyan.key";
/** Statuses that have their own message. */
const STATUSES = [403, 404, 409, 413, 422, 429, 503, 504];

/** An error from the server, with its message. */
export class ApiError extends Error {
  constructor(status, message, type = "") {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** The address of a resource of a knowledge base; every part is encoded. */
export const of = (base, path = "") => `knowledge-bases/${encodeURIComponent(base)}${path}`;

const send = (path, options) => sendTo(`api/${path}`, options);

async function sendTo(target, options) {
  let refused = false;
  for (;;) {
    const key = sessionStorage.getItem(KEPT);
    const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
    const response = await reached(target, { ...options, headers });
    if (response.status !== 401) return response;
    const given = await askKey(refused || Boolean(key));
    if (!given) throw new ApiError(401, t("key.needed"));
    refused = true;
    sessionStorage.setItem(KEPT, given);
  }
}

async function reached(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, t("page.unreachable"));
  }
}

async function checked(response) {
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const own = said.error?.message ?? t("page.refused", { status: String(response.status) });
  throw new ApiError(response.status, inLanguage(response.status, own), said.error?.type);
}

/** The server's messages are in English; in other languages, a sentence in the page's language precedes them. */
function inLanguage(status, message) {
  if (language() === "en") return message;
  const kind = STATUSES.includes(status) ? status : "other";
  return `${t(`status.${kind}`)} (${message})`;
}

function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  return query.size ? `${path}?${query}` : path;
}

const asJson = (body) => ({ body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

/** Read a resource. */
export async function get(path, parameters, signal) {
  return (await checked(await send(address(path, parameters), { signal }))).json();
}

/** Send JSON, or a form with files. */
export async function post(path, body) {
  const content = body instanceof FormData ? { body } : asJson(body);
  const response = await checked(await send(path, { method: "POST", ...content }));
  return response.status === 204 ? null : response.json();
}

/** Replace a resource with JSON, or change a part of it with another `method`. */
export async function put(path, body, { method = "PUT", parameters = {} } = {}) {
  return (await checked(await send(address(path, parameters), { method, ...asJson(body) }))).json();
}

/** Send any request; returns the status and the text of the response, also of one that was refused. */
export async function tried(method, path, body) {
  const content = body ? { body, headers: { "Content-Type": "application/json" } } : {};
  const response = await sendTo(path.replace(/^\//, ""), { method, ...content });
  return { status: response.status, text: await response.text() };
}

/** Delete a resource. */
export async function remove(path, parameters) {
  await checked(await send(address(path, parameters), { method: "DELETE" }));
}

/** Read a resource that is a file. */
export async function getBlob(path, parameters, signal) {
  return (await checked(await send(address(path, parameters), { signal }))).blob();
}

/** Save a resource as a file. */
export async function download(path, parameters, name) {
  saved(await getBlob(path, parameters), name);
}

/** The events that answer a request; `body`, if given, is posted. */
export async function* stream(path, { body, signal } = {}) {
  const content = body === undefined ? {} : { method: "POST", ...asJson(body) };
  yield* events(await checked(await send(path, { ...content, signal })));
}
