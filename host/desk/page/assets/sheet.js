// Pages of tables: one section per table, with bars above it where it says how full something is.

/** Bars that are drawn. */
const BARS_MAX = 40;

/**
 * @typedef {Object} Sheet One table; `src/sheet.rs` writes it.
 * @property {string} title @property {string} remark
 * @property {{name: string, percent: number, detail: string}[]} bars
 * @property {{title: string, kind: "text" | "long" | "number" | "harm"}[]} columns
 * @property {(string | number)[][]} rows
 */

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
  const isNumber = ({ kind }) => kind === "number" || kind === "harm";
  const columns = sheet.columns.map((column, place) => ({
    title: column.title, numeric: isNumber(column), long: column.kind === "long", value: (row) => row[place],
    text: (row) => (typeof row[place] === "number" ? plain(row[place]) : row[place]),
    tone: (row) => (column.kind === "harm" && row[place] > 0 ? "loss" : ""),
  }));
  node.append(table(sheet.title, columns, sheet.rows, "Nothing to show."));
};
