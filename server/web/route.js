// Where the person is: `#/view?kb=...&...`, so that every view can be linked to.

/** The view and parameters that the address names. */
export function route() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  return { view: path.replace(/^\//, ""), parameters: new URLSearchParams(query) };
}

/** The address of a view; empty parameters are left out, lists repeat their name. */
export function href(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "") query.append(name, String(one));
  }
  return `#/${view}${query.size ? `?${query}` : ""}`;
}

/** The address of where the person is, with other parameters; null takes one out. */
export function here(changes) {
  const { view, parameters } = route();
  const all = {};
  for (const name of new Set(parameters.keys())) all[name] = parameters.getAll(name);
  return href(view, { ...all, ...changes });
}

/** Go to an address; `replace`: without a step in the history. */
export function go(address, { replace = false } = {}) {
  if (replace) location.replace(address);
  else location.hash = address;
}
