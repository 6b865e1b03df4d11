// A heat map of any size. Only the cells in the window exist; the others are made as it scrolls. One cell is in the tab order,
// and the arrow keys move it, as in a spreadsheet.

// In pixels, for text of the usual size.
const CELL_WIDTH = 46;
const CELL_HEIGHT = 28;
const LINE_HEIGHT = 15;
/** Names of columns are written upwards, in up to three lines. */
const HEAD_HEIGHTS = [64, 90, 120, 150, 170];
const HEAD_LINES = 3;
const VIEW_HEIGHT = 560;

/** How a grid is printed, per grid. Those that are gone from the page are forgotten. @type {Map<HTMLElement, () => Node>} */
const printed = new Map();

/** Puts what is printed instead of each grid behind it. */
const printGrids = () => {
  for (const [view, make] of [...printed]) {
    if (!view.isConnected) printed.delete(view);
    else if (view.nextElementSibling?.className === "printed") view.nextElementSibling.replaceWith(make());
    else view.after(make());
  }
};

/** The largest part of a grid that is printed: rows, columns of one table, and tables. */
const PRINTED = { rows: 60, columns: 8, tables: 4 };

/** A grid as tables of a fixed size, which paper holds. @param {GridContent} content */
const printedGrid = ({ label, corner, rows, columns, groups, cell }) => {
  const height = Math.min(rows.length, PRINTED.rows);
  const width = Math.min(columns.length, PRINTED.columns * PRINTED.tables);
  const parts = [];
  for (let from = 0; from < width; from += PRINTED.columns) {
    const chosen = columns.slice(from, Math.min(from + PRINTED.columns, width)).map((name, index) => [name, from + index]);
    const head = element("tr", {}, element("th", { scope: "col" }, corner), ...chosen.map(([name, column]) =>
      element("th", { scope: "col" }, groups ? `${groups[column]}: ${name}` : name)));
    const body = rows.slice(0, height).map((name, row) => element("tr", {}, element("th", { scope: "row" }, name), ...chosen.map(([, column]) => {
      const { text, strength, tone } = cell(row, column);
      const level = tone === "" ? undefined : Math.max(1, Math.ceil(strength * 5));
      return element("td", { class: `number ${tone}`, "data-level": level }, text);
    })));
    const table = element("table", { "aria-label": label }, element("thead", {}, head), element("tbody", {}, ...body));
    table.style.width = `${11 + chosen.length * 5.2}rem`;
    head.firstElementChild.style.width = "11rem";
    parts.push(table);
  }
  const isCut = height < rows.length || width < columns.length;
  const remark = isCut
    ? [element("p", { class: "remark" }, `Printed: ${plain(height)} of ${plain(rows.length)} rows and ${plain(width)} of ${plain(columns.length)} columns.`)]
    : [];
  return element("div", { class: "printed" }, ...remark, ...parts);
};

/**
 * @typedef {Object} Cell
 * @property {string} text
 * @property {string} label For a screen reader, without the names of row and column.
 * @property {number} strength 0 to 1.
 * @property {"" | "gain" | "loss" | "amount"} tone
 */

/**
 * @typedef {Object} GridContent
 * @property {string} label
 * @property {string} corner
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string[]} [groups] Group of each column, named above its first column.
 * @property {(row: number, column: number) => Cell} cell
 * @property {(row: number, column: number) => void} describe Shows what is known about a cell.
 */

/** A heat map. @param {GridContent} content */
const grid = (content) => {
  const { rows, columns, groups } = content;
  if (rows.length === 0 || columns.length === 0) return element("p", { class: "empty" }, "Nothing to show.");
  let focused = [0, 0];
  const view = element("div", {
    class: "grid", role: "grid", "aria-label": content.label,
    "aria-rowcount": rows.length + 1, "aria-colcount": columns.length + 1,
  });
  const space = element("div", { class: "space", role: "presentation" });
  const top = element("div", { class: "head", role: "row", "aria-rowindex": 1 });
  const layer = element("div", { role: "presentation" });
  space.append(top, layer);
  view.append(space);
  /** Sizes, from the width of the window and the size of its text. */
  let at = { scale: 0, window: 0 };
  const arrange = () => {
    const scale = zoom();
    if (at.scale === scale && at.window === window.innerWidth) return false;
    const { fontFamily } = getComputedStyle(document.body);
    const font = (weight) => widths(`${weight} ${12.5 * scale}px ${fontFamily}`);
    const [normal, bold] = [font(400), font(600)];
    const width = CELL_WIDTH * scale;
    const widest = (names, widthOf) => names.reduce((most, name) => {
      let all = 0;
      for (const character of name) all += widthOf(character);
      return Math.max(most, all);
    }, 0);
    const padding = 22 * scale;
    const wide = Math.min(330 * scale, window.innerWidth * (window.innerWidth < 600 * scale ? 0.36 : 0.3));
    const side = Math.min(wide, Math.max(90 * scale, widest(rows, normal) + padding, widest([content.corner], bold) + padding));
    const names = rows.map((name) => broken(name, side - padding, normal));
    const offsets = new Float64Array(rows.length + 1);
    names.forEach((lines, row) => {
      offsets[row + 1] = offsets[row] + Math.max(CELL_HEIGHT, lines.length * LINE_HEIGHT + 12) * scale;
    });
    // The lowest head that has room for all names; if none has, as high as it takes.
    const fits = (height, most) => columns.every((name) => broken(name, height - 14 * scale, normal).length <= most);
    let tall = 0;
    for (let most = 1; most <= HEAD_LINES && tall === 0; most += 1) tall = HEAD_HEIGHTS.map((height) => height * scale).find((height) => fits(height, most)) ?? 0;
    for (let height = 200 * scale; tall === 0; height *= 1.2) if (fits(height, HEAD_LINES)) tall = height;
    const heads = columns.map((name) => broken(name, tall - 14 * scale, normal));
    const spans = [];
    for (let column = 0; groups && column < columns.length; column += 1) {
      if (column > 0 && groups[column] === groups[column - 1]) spans.at(-1).end = column + 1;
      else spans.push({ name: groups[column], start: column, end: column + 1 });
    }
    for (const span of spans) span.lines = broken(span.name, (span.end - span.start) * width - 14 * scale, bold);
    const band = groups ? spans.reduce((most, span) => Math.max(most, span.lines.length), 1) * LINE_HEIGHT * scale + 7 * scale : 0;
    at = { scale, window: window.innerWidth, width, side, names, offsets, tall, heads, spans, head: tall + band };
    const whole = offsets[rows.length];
    space.style.width = `${side + columns.length * width}px`;
    space.style.height = `${at.head + whole}px`;
    top.style.height = `${at.head}px`;
    view.style.height = `${Math.min(at.head + whole + 18, Math.max(VIEW_HEIGHT * Math.min(scale, 1.3), at.head + Math.min(whole, 200 * scale)))}px`;
    return true;
  };
  /** The row at a height. @param {number} y */
  const rowAt = (y) => {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at.offsets[middle + 1] <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const makeCell = (row, column) => {
    const { text, label, strength, tone } = content.cell(row, column);
    const isFocused = row === focused[0] && column === focused[1];
    const node = element("div", {
      class: `cell ${tone}`, role: "gridcell", tabindex: isFocused ? "0" : "-1", "aria-colindex": column + 2,
      "aria-label": `${rows[row]}, ${columns[column]}: ${label}`,
    }, element("span", {}, text));
    node.dataset.row = String(row);
    node.dataset.column = String(column);
    node.style.left = `${at.side + column * at.width}px`;
    if (tone !== "") node.dataset.level = String(Math.max(1, Math.ceil(strength * 5)));
    return node;
  };

  let drawn = "";
  const draw = (force = false) => {
    const isNew = arrange();
    const { width: cellWidth, side, head, tall, offsets } = at;
    const height = view.clientHeight || VIEW_HEIGHT;
    const width = view.clientWidth || 900;
    const fromRow = Math.max(0, rowAt(view.scrollTop) - 3);
    const toRow = Math.min(rows.length, rowAt(view.scrollTop + height - head) + 4);
    const fromColumn = Math.max(0, Math.floor(view.scrollLeft / cellWidth) - 2);
    const toColumn = Math.min(columns.length, Math.ceil((view.scrollLeft + width - side) / cellWidth) + 2);
    const window_ = [fromRow, toRow, fromColumn, toColumn].join();
    if (window_ === drawn && !force && !isNew) return;
    drawn = window_;
    const active = document.activeElement;
    const hadFocus = layer.contains(active);
    const corner = element("div", { class: "corner", role: "columnheader", "aria-colindex": 1 }, content.corner);
    corner.style.width = `${side}px`;
    corner.style.height = `${head}px`;
    const heads = [corner];
    for (const { name, start, end, lines } of at.spans) {
      if (end <= fromColumn || start >= toColumn) continue;
      const label = inLines(lines);
      const group = element("div", { class: "group", "aria-hidden": "true", title: name }, label);
      // The name stays in sight while a part of its group is.
      label.style.left = `${side + 4}px`;
      group.style.left = `${side + start * cellWidth}px`;
      group.style.width = `${(end - start) * cellWidth - 4}px`;
      group.style.height = `${head - tall}px`;
      heads.push(group);
    }
    for (let column = fromColumn; column < toColumn; column += 1) {
      const name = element("div", { class: "name", role: "columnheader", "aria-colindex": column + 2, title: columns[column] },
        inLines(at.heads[column]));
      name.style.left = `${side + column * cellWidth}px`;
      name.style.width = `${cellWidth}px`;
      name.style.height = `${tall}px`;
      heads.push(name);
    }
    top.replaceChildren(...heads);
    const lines = [];
    for (let row = fromRow; row < toRow; row += 1) {
      const name = element("div", { class: "name", role: "rowheader", "aria-colindex": 1, title: rows[row] }, inLines(at.names[row]));
      name.style.width = `${side}px`;
      const line = element("div", { class: "line", role: "row", "aria-rowindex": row + 2 }, name);
      line.style.top = `${head + offsets[row]}px`;
      line.style.height = `${offsets[row + 1] - offsets[row]}px`;
      for (let column = fromColumn; column < toColumn; column += 1) line.append(makeCell(row, column));
      lines.push(line);
    }
    layer.replaceChildren(...lines);
    if (hadFocus) nodeAt(...focused)?.focus({ preventScroll: true });
  };
  const nodeAt = (row, column) => layer.querySelector(`[data-row="${row}"][data-column="${column}"]`);

  /** Scrolls a cell out from under the headers and moves the focus to it. */
  const go = (row, column) => {
    focused = [Math.min(Math.max(row, 0), rows.length - 1), Math.min(Math.max(column, 0), columns.length - 1)];
    const [y, x] = [at.offsets[focused[0]], focused[1] * at.width];
    const roomY = view.clientHeight - at.head - (at.offsets[focused[0] + 1] - y);
    const roomX = view.clientWidth - at.side - at.width;
    if (y < view.scrollTop) view.scrollTop = y;
    else if (y > view.scrollTop + roomY) view.scrollTop = y - roomY;
    if (x < view.scrollLeft) view.scrollLeft = x;
    else if (x > view.scrollLeft + roomX) view.scrollLeft = x - roomX;
    draw(true);
    nodeAt(...focused)?.focus({ preventScroll: true });
    content.describe(...focused);
  };
  /** The next cell in a direction that shows something. */
  const nextFilled = (row, column, key) => {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
    for (let y = row + down, x = column + right; y >= 0 && y < rows.length && x >= 0 && x < columns.length; y += down, x += right) {
      if (content.cell(y, x).text !== "") return [y, x];
    }
    return null;
  };
  view.addEventListener("scroll", () => requestAnimationFrame(() => draw()), { passive: true });
  view.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) go(Number(cell.dataset.row), Number(cell.dataset.column));
  });
  view.addEventListener("focusin", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) content.describe(Number(cell.dataset.row), Number(cell.dataset.column));
  });
  view.addEventListener("keydown", (event) => {
    const [row, column] = focused;
    const pageful = Math.max(1, Math.floor((view.clientHeight - at.head) / (CELL_HEIGHT * at.scale)) - 1);
    const all = event.ctrlKey || event.metaKey;
    if (all && event.key.startsWith("Arrow")) {
      event.preventDefault();
      const found = nextFilled(row, column, event.key);
      if (found) go(...found);
      return;
    }
    const target = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [row - pageful, column], PageDown: [row + pageful, column],
      Home: [all ? 0 : row, 0], End: [all ? rows.length - 1 : row, columns.length - 1],
    }[event.key];
    if (!target) return;
    event.preventDefault();
    go(...target);
  });
  new ResizeObserver(() => draw()).observe(view);
  const resized = () => {
    if (view.isConnected) draw();
    else removeEventListener("resize", resized);
  };
  addEventListener("resize", resized);
  printed.set(view, () => printedGrid(content));
  draw();
  return view;
};
