// Tables that sort by any column, a page of rows at a time. Every chart has one with the same data.

const ROWS = 25;

/**
 * @typedef {Object} Column
 * @property {string} title
 * @property {(row: any) => string | number} value The value to sort by.
 * @property {(row: any) => string} [text] The displayed text, if it is not the value.
 * @property {boolean} [numeric] True for numbers: right-aligned, and sorted from the largest.
 * @property {(row: any) => string} [tone] `gain`, `loss` or nothing.
 * @property {boolean} [long] True for sentences, which wrap.
 */

/** A table. @param {string} caption @param {Column[]} columns @param {any[]} rows @param {string} [empty] Text for a table without rows. */
const table = (caption, columns, rows, empty = "Nothing to show.") => {
  if (rows.length === 0) return element("p", { class: "empty" }, empty);
  let sorted = rows;
  let by = -1;
  let ascending = true;
  let page = 0;
  let needle = "";
  const body = element("tbody");
  const position = element("span", { role: "status" });
  const show = (column, row) => (column.text ? column.text(row) : column.numeric ? plain(column.value(row)) : String(column.value(row)));

  const draw = () => {
    const pages = Math.max(1, Math.ceil(sorted.length / ROWS));
    page = Math.min(Math.max(page, 0), pages - 1);
    const start = page * ROWS;
    const shown = sorted.slice(start, start + ROWS);
    body.replaceChildren(
      ...shown.map((row) =>
        element("tr", {}, ...columns.map((column, index) => {
          const text = show(column, row);
          const tone = column.tone ? column.tone(row) : "";
          const kind = [column.numeric ? "number" : "", column.long ? "long" : "", tone].filter(Boolean).join(" ");
          // In a narrow window the title of its column stands before each value.
          const attributes = { class: kind || undefined, title: !column.long && text.length > 34 ? text : undefined, "data-title": column.title };
          return index === 0 ? element("th", { scope: "row", ...attributes }, text) : element("td", attributes, text);
        })),
      ),
    );
    const end = Math.min(start + ROWS, sorted.length);
    position.textContent = sorted.length === 0 ? "no row" : `${plain(start + 1)}\u2013${plain(end)} of ${plain(sorted.length)}`;
    previous.disabled = page === 0;
    next.disabled = page >= pages - 1;
  };

  const arrange = () => {
    sorted = needle === "" ? rows.slice() : rows.filter((row) => columns.some((column) => show(column, row).toLowerCase().includes(needle)));
    if (by >= 0) {
      const { value } = columns[by];
      const sign = ascending ? 1 : -1;
      sorted.sort((left, right) => {
        const [a, b] = [value(left), value(right)];
        return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en"));
      });
    }
    draw();
  };

  const turn = (change) => {
    page += change;
    draw();
  };
  const previous = element("button", { type: "button", onclick: () => turn(-1) }, "Previous");
  const next = element("button", { type: "button", onclick: () => turn(1) }, "Next");
  const headers = columns.map((column, index) => {
    const sort = () => {
      ascending = by === index ? !ascending : !column.numeric;
      by = index;
      page = 0;
      headers.forEach((header, other) => header.setAttribute("aria-sort", other !== by ? "none" : ascending ? "ascending" : "descending"));
      arrange();
    };
    const button = element("button", { type: "button", onclick: sort }, column.title, element("span", { class: "arrow", "aria-hidden": "true" }));
    return element("th", { scope: "col", "aria-sort": "none", class: column.numeric ? "number" : undefined }, button);
  });
  const tabled = element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...headers)), body);
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${caption}` }, tabled);
  const parts = [scroll];
  if (rows.length > ROWS) {
    const find = search("Search", (text) => {
      needle = text;
      page = 0;
      arrange();
    });
    parts.unshift(element("div", { class: "controls" }, find));
    parts.push(element("div", { class: "pager" }, previous, next, position));
  }
  draw();
  return element("div", { class: "tabled" }, ...parts);
};

/** The table of a chart: closed, and made when it is opened first. @param {string} title @param {() => HTMLElement} make */
const twin = (title, make) => {
  const details = element("details", { class: "twin" }, element("summary", {}, title));
  // Print opens it and does not wait for the event.
  details.fill = () => {
    if (details.children.length === 1) details.append(make());
  };
  /** Makes it anew from other rows, if it was made. */
  details.refresh = () => {
    if (details.children.length > 1) details.lastElementChild.replaceWith(make());
  };
  details.addEventListener("toggle", () => {
    if (details.open) details.fill();
  });
  return details;
};

/** Class of a change. @param {number} change */
const toneOf = (change) => (change > 0 ? "gain" : change < 0 ? "loss" : "");
