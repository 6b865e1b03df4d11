// A heat map of any size. Only the cells in the window exist; the others are made as it scrolls. One cell is in the tab order,
// and the arrow keys move it, as in a spreadsheet.

const CELL_WIDTH = 46;
const CELL_HEIGHT = 28;
/** Room for a name that is written upwards. @param {number} length */
const headHeight = (length) => Math.min(170, Math.max(64, length * 7.3 + 16));

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
  const longest = rows.reduce((most, name) => Math.max(most, name.length), content.corner.length);
  const wide = window.innerWidth < 600 ? 130 : 330;
  const side = Math.min(wide, Math.max(90, longest * 7.4 + 16));
  const names = headHeight(columns.reduce((most, name) => Math.max(most, name.length), 0));
  const head = names + (groups ? 20 : 0);
  let focused = [0, 0];
  const view = element("div", {
    class: "grid", role: "grid", "aria-label": content.label,
    "aria-rowcount": rows.length + 1, "aria-colcount": columns.length + 1,
  });
  const space = element("div", { class: "space", role: "presentation" });
  space.style.width = `${side + columns.length * CELL_WIDTH}px`;
  space.style.height = `${head + rows.length * CELL_HEIGHT}px`;
  const top = element("div", { class: "head", role: "row", "aria-rowindex": 1 });
  top.style.height = `${head}px`;
  const layer = element("div", { role: "presentation" });
  space.append(top, layer);
  view.append(space);
  view.style.height = `${Math.min(head + rows.length * CELL_HEIGHT + 18, 560)}px`;

  const makeCell = (row, column) => {
    const { text, label, strength, tone } = content.cell(row, column);
    const isFocused = row === focused[0] && column === focused[1];
    const node = element("div", {
      class: `cell ${tone}`, role: "gridcell", tabindex: isFocused ? "0" : "-1", "aria-colindex": column + 2,
      "aria-label": `${rows[row]}, ${columns[column]}: ${label}`,
    }, element("span", {}, text));
    node.dataset.row = String(row);
    node.dataset.column = String(column);
    node.style.left = `${side + column * CELL_WIDTH}px`;
    if (tone !== "") node.dataset.level = String(Math.max(1, Math.ceil(strength * 5)));
    return node;
  };

  let drawn = "";
  const draw = (force = false) => {
    const height = view.clientHeight || 560;
    const width = view.clientWidth || 900;
    const fromRow = Math.max(0, Math.floor(view.scrollTop / CELL_HEIGHT) - 3);
    const toRow = Math.min(rows.length, Math.ceil((view.scrollTop + height - head) / CELL_HEIGHT) + 3);
    const fromColumn = Math.max(0, Math.floor(view.scrollLeft / CELL_WIDTH) - 2);
    const toColumn = Math.min(columns.length, Math.ceil((view.scrollLeft + width - side) / CELL_WIDTH) + 2);
    const window_ = [fromRow, toRow, fromColumn, toColumn].join();
    if (window_ === drawn && !force) return;
    drawn = window_;
    const active = document.activeElement;
    const hadFocus = layer.contains(active);
    const corner = element("div", { class: "corner", role: "columnheader", "aria-colindex": 1 }, content.corner);
    corner.style.width = `${side}px`;
    corner.style.height = `${head}px`;
    const heads = [corner];
    for (let column = fromColumn; column < toColumn; column += 1) {
      const left = side + column * CELL_WIDTH;
      if (groups && (column === 0 || groups[column] !== groups[column - 1])) {
        const group = element("div", { class: "group", "aria-hidden": "true", title: groups[column] }, groups[column]);
        let end = column + 1;
        while (end < columns.length && groups[end] === groups[column]) end += 1;
        group.style.left = `${left}px`;
        group.style.width = `${(end - column) * CELL_WIDTH - 4}px`;
        heads.push(group);
      }
      const name = element("div", { class: "name", role: "columnheader", "aria-colindex": column + 2, title: columns[column] },
        element("span", {}, columns[column]));
      name.style.left = `${left}px`;
      name.style.height = `${names}px`;
      heads.push(name);
    }
    top.replaceChildren(...heads);
    const lines = [];
    for (let row = fromRow; row < toRow; row += 1) {
      const name = element("div", { class: "name", role: "rowheader", "aria-colindex": 1, title: rows[row] }, rows[row]);
      name.style.width = `${side}px`;
      const line = element("div", { class: "line", role: "row", "aria-rowindex": row + 2 }, name);
      line.style.top = `${head + row * CELL_HEIGHT}px`;
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
    const [y, x] = [focused[0] * CELL_HEIGHT, focused[1] * CELL_WIDTH];
    const [roomY, roomX] = [view.clientHeight - head - CELL_HEIGHT, view.clientWidth - side - CELL_WIDTH];
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
    const pageful = Math.max(1, Math.floor((view.clientHeight - head) / CELL_HEIGHT) - 1);
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
  draw();
  return view;
};
