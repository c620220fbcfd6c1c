// A small chart of a grouped result: bars, or a line if its keys are dates or many numbers.

import { svg } from "../icons.js";
import { plainNumber } from "./cells.js";

const [WIDTH, HEIGHT, MARGIN] = [640, 200, 24];
/** Of bars: the height, the widths of labels and numbers, and the longest label. */
const [BAR, LABEL, VALUE, CUT] = [22, 180, 90, 22];
const [MOST_BARS, FEWEST_POINTS] = [30, 8];

/** The chart of a result's first column and its first numbers beside it; nothing if it has no such. */
export function chart({ columns, kinds, rows }) {
  const of = kinds.findIndex((kind, place) => place > 0 && kind === "number");
  const keyed = rows.filter((row) => row[0] !== null && typeof row[of] === "number");
  if (of < 0 || keyed.length < 2 || new Set(keyed.map(([key]) => String(key))).size < keyed.length) return null;
  const points = keyed.map((row) => ({ key: row[0], value: row[of] }));
  const isLine = kinds[0] === "date" || (kinds[0] === "number" && points.length >= FEWEST_POINTS);
  if (!isLine && points.length > MOST_BARS) return null;
  return (isLine ? line : bars)(points, `${columns[of]}, ${columns[0]}`);
}

const drawing = (label, height, parts) =>
  svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, parts);

const words = (x, y, said, anchor) => svg("text", { x, y, "text-anchor": anchor }, said);

function bars(points, label) {
  const least = Math.min(0, ...points.map(({ value }) => value));
  const scale = (WIDTH - LABEL - VALUE) / (Math.max(0, ...points.map(({ value }) => value)) - least || 1);
  const parts = points.map(({ key, value }, row) => {
    const from = LABEL + (Math.min(0, value) - least) * scale;
    const width = Math.max(1, Math.abs(value) * scale);
    const said = String(key);
    return [
      words(LABEL - 8, row * BAR + 15, said.length > CUT ? `${said.slice(0, CUT)}…` : said, "end"),
      svg("rect", { x: from, y: row * BAR + 3, width, height: BAR - 6 }),
      words(from + width + 6, row * BAR + 15, plainNumber(value), "start"),
    ];
  });
  return drawing(label, points.length * BAR, parts.flat());
}

function line(points, label) {
  const at = ({ key }) => (typeof key === "number" ? key : Date.parse(key));
  const ordered = points.filter((one) => Number.isFinite(at(one))).toSorted((one, other) => at(one) - at(other));
  if (ordered.length < 2) return null;
  const [first, last] = [ordered[0], ordered.at(-1)];
  const values = ordered.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (one) => MARGIN + ((at(one) - at(first)) / (at(last) - at(first) || 1)) * (WIDTH - 2 * MARGIN);
  const y = ({ value }) => HEIGHT - MARGIN - ((value - least) / (most - least || 1)) * (HEIGHT - 2 * MARGIN);
  return drawing(label, HEIGHT, [
    svg("polyline", { points: ordered.map((one) => `${x(one).toFixed(1)},${y(one).toFixed(1)}`).join(" ") }),
    words(MARGIN, HEIGHT - 6, String(first.key), "start"),
    words(WIDTH - MARGIN, HEIGHT - 6, String(last.key), "end"),
    words(MARGIN, 14, `${plainNumber(least)} – ${plainNumber(most)}`, "start"),
  ]);
}
