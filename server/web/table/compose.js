// The SELECT that a table's filters, grouping and order make.

/** The signs of a filter that take no value. */
export const WITHOUT_VALUE = ["none", "some"];

/** What a grouping computes; of a column of numbers, beside the number of rows. */
export const CALCULATIONS = { sum: "sum", mean: "avg", median: "median", smallest: "min", largest: "max" };

const text = (value) => `'${value.replaceAll("'", "''")}'`;

/** The statement; `columns` are those of the table. */
export function selectOf({ table, where, by, sort, do: calculation }, columns) {
  const conditions = where.map((one) => condition(one, columns)).filter(Boolean);
  const from = `FROM ${table}${conditions.length ? ` WHERE ${conditions.join(" AND ")}` : ""}`;
  if (!by) return `SELECT * ${from}${sort ? ` ORDER BY ${order(sort)}` : ""}`;
  const [figure, of] = calculation.split(" ");
  const computed = of ? `${CALCULATIONS[figure]}(${of}) AS ${figure}, count(*) AS number` : "count(*) AS number";
  // DuckDB groups by the items of a list only where they are rows already.
  const items = of ? `${by}, ${of}` : by;
  const rows = kindOf(by, columns) === "list" ? `FROM (SELECT ${items.replace(by, `unnest(${by}) AS ${by}`)} ${from}) AS items` : from;
  return `SELECT ${by}, ${computed} ${rows} GROUP BY ${by} ORDER BY ${sort ? order(sort) : `${of ? figure : "number"} DESC`}, ${by}`;
}

const kindOf = (name, columns) => columns.find((one) => one.name === name)?.kind;

const order = (sort) => (sort.startsWith("-") ? `${sort.slice(1)} DESC` : sort);

function condition({ column, sign, value }, columns) {
  const kind = kindOf(column, columns);
  if (!kind) return "";
  if (sign === "none") return `${column} IS NULL`;
  if (sign === "some") return `${column} IS NOT NULL`;
  const isPlain = kind === "boolean" || (kind === "number" && value.trim() !== "" && Number.isFinite(Number(value)));
  const written = isPlain ? value.trim() : text(value);
  const words = kind === "text" ? column : `CAST(${column} AS VARCHAR)`;
  if (sign === "has") return `contains(lower(${words}), ${text(value.toLowerCase())})`;
  if (kind === "list") return `${sign === "not" ? "NOT " : ""}list_contains(${column}, ${written})`;
  return `${column} ${{ is: "=", not: "<>", from: ">=", to: "<=" }[sign]} ${written}`;
}
