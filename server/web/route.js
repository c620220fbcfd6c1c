// The current address: `#/view?kb=...&...`, so every view can be linked to.

/** The view and parameters in the address. */
export function route() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  return { view: path.replace(/^\//, ""), parameters: new URLSearchParams(query) };
}

/** The address of a view; empty parameters are omitted, lists repeat their name. */
export function href(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "") query.append(name, String(one));
  }
  return `#/${view}${query.size ? `?${query}` : ""}`;
}

/** The current address with other parameters; null removes one. */
export function here(changes) {
  const { view, parameters } = route();
  const all = {};
  for (const name of new Set(parameters.keys())) all[name] = parameters.getAll(name);
  return href(view, { ...all, ...changes });
}

/** Navigate to an address; `replace`: without a new history entry. */
export function go(address, { replace = false } = {}) {
  if (replace) location.replace(address);
  else location.hash = address;
}
