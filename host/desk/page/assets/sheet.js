// Pages of tables: one section per table, with bars above it where it says how full something is, or a line where one count grows with
// another.

/** Bars that are drawn. */
const BARS_MAX = 40;

/**
 * @typedef {Object} Sheet One table; `src/sheet.rs` writes it.
 * @property {string} title @property {string} remark
 * @property {{name: string, percent: number, detail: string}[]} bars
 * @property {{across: string, up: string, points: {x: number, y: number}[]}} [steps]
 * @property {{title: string, kind: "text" | "long" | "number" | "harm"}[]} columns
 * @property {(string | number)[][]} rows
 */

/** A line in steps: what each count from the left reaches upwards, until the next. The table below it has every number.
 * @param {string} label @param {{across: string, up: string, points: {x: number, y: number}[]}} steps */
const stepped = (label, { across, up, points }) => {
  const [furthest, highest] = [Math.max(1, ...points.map(({ x }) => x)), Math.max(1, ...points.map(({ y }) => y))];
  const [right, height] = [(x) => (x / furthest) * 400, (y) => 100 - (y / highest) * 100];
  const line = points.map(({ x, y }, index) => `${index === 0 ? "M" : "H"}${right(x)}${index === 0 ? " " : "V"}${height(y)}`).join("");
  const shape = (name, attributes) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    return node;
  };
  const drawing = shape("svg", { viewBox: "0 0 400 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  drawing.append(
    shape("path", { d: `${line}V100H${right(points[0]?.x ?? 0)}Z`, class: "steps-area" }),
    shape("path", { d: line, class: "steps-line", "vector-effect": "non-scaling-stroke" }),
  );
  const words = (count) => `${up}: ${plain(count)}`;
  return element("div", { class: "steps", role: "group", "aria-label": `${label}: ${words(highest)} at most, with ${plain(furthest)} on the scale of ${across}` },
    element("p", { class: "remark" }, words(highest)), drawing,
    element("p", { class: "remark steps-scale" }, element("span", {}, "0"), element("span", {}, `${across}: ${plain(furthest)}`)));
};

/** @param {Sheet} sheet @param {number} index */
const sheetSection = (sheet, index) => {
  const node = section(index === 0 ? "clusters" : `table-${index + 1}`, sheet.title, sheet.remark);
  const shown = sheet.bars.slice(0, BARS_MAX);
  if (shown.length > 0) {
    const bar = ({ name, percent: full, detail }) => ({
      name, detail, value: `${plain(full)}%`, isOver: full > 100,
      tracks: [[{ kind: "used", from: 0, to: full / 100 }, { kind: "free", from: Math.min(1, full / 100), to: 1 }]],
    });
    if (shown.length < sheet.bars.length) node.append(element("p", { class: "remark" }, `The first ${BARS_MAX} are drawn; the table has the other ${plain(sheet.bars.length - shown.length)} as well.`));
    node.append(barLegend([["used", "Used"], ["free", "Free"], ["over", "Above 100%"], ["line", "100%"]]), bars(sheet.title, [{ bars: shown.map(bar) }], true));
  }
  if (sheet.steps && sheet.steps.points.length > 1) node.append(stepped(sheet.title, sheet.steps));
  const isNumber = ({ kind }) => kind === "number" || kind === "harm";
  const columns = sheet.columns.map((column, place) => ({
    title: column.title, numeric: isNumber(column), long: column.kind === "long", value: (row) => row[place],
    text: (row) => (typeof row[place] === "number" ? plain(row[place]) : row[place]),
    tone: (row) => (column.kind === "harm" && row[place] > 0 ? "loss" : ""),
  }));
  node.append(table(sheet.title, columns, sheet.rows, "Nothing to show."));
};
