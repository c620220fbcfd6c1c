// The map of the exported page: search, neighbours, the way between two entities, and the year.

const MAP = JSON.parse(document.getElementById("map-data").textContent);
const shown = new Shown();
shown.add(MAP.nodes, MAP.edges, [], MAP.communities);
const byName = new Map(MAP.nodes.map((node) => [node.name, node]));
const place = (id) => document.getElementById(id);
const make = (tag, text, classes = "") => Object.assign(document.createElement(tag), { textContent: text, className: classes });
const relationOf = (edge) => edge.relation.replaceAll("_", " ");
let chosen = "";
let way = new Set();
let canvas = null;

function draw() {
  canvas.draw(shown, { chosen, evidence: way, members: new Set(), off: new Set(), at: year() });
  panel();
}

function choose(id) {
  chosen = id;
  way = new Set();
  place("map-to").value = "";
  place("map-found").value = shown.nodes.get(id).name;
  draw();
}

/** What is linked to the chosen entity, as text. */
function panel() {
  const node = shown.nodes.get(chosen);
  const list = make("ul", "");
  for (const edge of node ? shown.at(chosen) : []) {
    const out = edge.source === chosen;
    const other = shown.nodes.get(out ? edge.target : edge.source);
    const button = make("button", other.name);
    button.type = "button";
    button.addEventListener("click", () => choose(other.id));
    const item = make("li", "");
    const said = edge.kind === "sentence" ? "···" : out ? `${relationOf(edge)} →` : `← ${relationOf(edge)}`;
    item.append(make("span", `${said} `, "r"), button, edge.start ? make("span", ` ${edge.start}`, "y") : "");
    list.append(item);
  }
  place("map-panel").replaceChildren(...(node ? [make("strong", node.name), make("span", ` ${node.type}`, "y"), list] : []));
}

/** A shortest way between two entities along what is drawn, as ids of nodes and edges. */
function wayBetween(start, end) {
  const before = new Map([[start, null]]);
  for (const here of before.keys()) {
    for (const edge of shown.at(here)) {
      const next = edge.source === here ? edge.target : edge.source;
      if (!before.has(next)) before.set(next, { here, edge: edge.id });
    }
  }
  const found = new Set();
  for (let at = end; before.has(at); at = before.get(at).here) {
    found.add(at);
    if (at === start) return found;
    found.add(before.get(at).edge);
  }
  return new Set();
}

function year() {
  const value = Number(place("map-year").value);
  const all = value < Number(place("map-year").dataset.first);
  place("map-year-said").textContent = all ? "" : String(value);
  return all ? 0 : value;
}

function begin() {
  const section = place("map-section");
  section.hidden = !MAP.nodes.length;
  if (section.hidden) return;
  place("map-names").append(...MAP.nodes.map((node) => Object.assign(document.createElement("option"), { value: node.name })));
  const years = MAP.edges.flatMap((edge) => [edge.start, edge.end]).filter(Boolean).map((date) => Number(date.slice(0, 4)));
  const slider = place("map-year");
  const first = Math.min(...years);
  if (years.length) Object.assign(slider, { min: first - 1, max: Math.max(...years), value: first - 1 });
  slider.dataset.first = String(first);
  place("map-years").hidden = !years.length;
  const types = [...new Set(MAP.nodes.map((node) => node.type))];
  place("map-legend").append(
    ...types.flatMap((type) => [make("span", "", `dot type-${colourOf(type)}`), make("span", type.replaceAll("_", " "))]),
  );
  canvas = new Canvas(place("map"), { choose, expand: choose, fact: (edge) => choose(edge.source), label: relationOf, layout: "forces" });
  const named = (box) => byName.get(box.value.trim());
  place("map-found").addEventListener("change", (event) => named(event.target) && choose(named(event.target).id));
  place("map-to").addEventListener("change", (event) => {
    const other = named(event.target);
    way = other && chosen ? wayBetween(chosen, other.id) : new Set();
    draw();
    place("map-way").hidden = !other || !chosen || way.size > 0;
  });
  slider.addEventListener("input", () => canvas.date(year()));
  draw();
}

begin();
