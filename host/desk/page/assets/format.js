// Numbers and quantities as text, and the one function that makes elements. Nothing here or elsewhere parses markup: every text
// from the data becomes a text node, whatever it holds.

const numbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** A number with thousands separators. @param {number} value */
const plain = (value) => (value < 0 ? "\u2212" : "") + numbers.format(Math.abs(value));

/** A change with its sign. @param {number} change */
const signed = (change) => (change > 0 ? "+" : "") + plain(change);

const shortNumbers = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 2 });
const wholeNumbers = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 0 });

/** A number for a narrow cell, in at most five characters: from a thousand on it is rounded. @param {number} value @param {boolean} [hasSign] */
const short = (value, hasSign = false) => {
  if (Math.abs(value) < 1000) return hasSign ? signed(value) : plain(value);
  // Two digits of 1,234, and all three of 123,456.
  const rounded = /^\d{3}/.test(wholeNumbers.format(Math.abs(value))) ? wholeNumbers : shortNumbers;
  return (value < 0 ? "\u2212" : hasSign ? "+" : "") + rounded.format(Math.abs(value));
};

/** `1 replica`, `1,200 replicas`. @param {number} count @param {string} thing */
const counted = (count, thing) => `${plain(count)} ${thing}${count === 1 ? "" : "s"}`;

/** The number in a cost, for sorting: `12.3400`, `\u2265 12.3400`, or −1 if nothing is known. @param {string} text */
const costValue = (text) => {
  const number = Number.parseFloat(text.replace(/^\u2265 /, ""));
  return Number.isNaN(number) ? -1 : number;
};

/** A cost with thousands separators, digit for digit. @param {string} text */
const costText = (text) => text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

/** A count that may be absent. @param {number} value */
const orNone = (value) => (value < 0 ? "\u2013" : plain(value));

/** A quantity of a resource with its unit: thousandths of cores, bytes, or a plain number.
 * @param {string} resource @param {number} value */
const quantity = (resource, value) => {
  if (resource === "cpu") return `${plain(value / 1000)} cores`;
  if (/memory|storage|hugepages/.test(resource)) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let rest = Math.abs(value);
    let unit = 0;
    while (rest >= 1024 && unit < units.length - 1) {
      rest /= 1024;
      unit += 1;
    }
    return `${value < 0 ? "\u2212" : ""}${plain(rest)} ${units[unit]}`;
  }
  return plain(value);
};

/** @param {number} part @param {number} whole */
const percent = (part, whole) => (whole > 0 ? `${plain(Math.floor((part * 100) / whole))}%` : "\u2013");

/** Makes an element.
 * @param {string} name @param {Record<string, any>} [attributes] Listeners begin with `on`; a boolean sets or omits.
 * @param {...(Node | string | null | undefined)} children */
const element = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};

let serial = 0;
/** An id that no other element has. @param {string} stem */
const unique = (stem) => `${stem}-${(serial += 1)}`;

/** A section with its heading, added to the page. @param {string} id @param {string} title @param {string} [remark] */
const section = (id, title, remark) => {
  const heading = element("h2", { id: `${id}-title` }, title);
  const node = element("section", { id, "aria-labelledby": `${id}-title` }, heading);
  if (remark) node.append(element("p", { class: "remark" }, remark));
  document.getElementById("sections").append(node);
  return node;
};

/** A labelled list of choices. @param {string} label @param {[string, string][]} options @param {(value: string) => void} chosen */
const choice = (label, options, chosen) => {
  const id = unique("choice");
  const select = element("select", { id }, ...options.map(([value, text]) => element("option", { value }, text)));
  select.addEventListener("change", () => chosen(select.value));
  return element("span", { class: "control" }, element("label", { for: id }, label), select);
};

/** A labelled field for a text to search for; calls back when typing pauses.
 * @param {string} label @param {(text: string) => void} changed */
const search = (label, changed) => {
  const id = unique("search");
  const input = element("input", { id, type: "search", autocomplete: "off", spellcheck: "false" });
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => changed(input.value.trim().toLowerCase()), 120);
  });
  return element("span", { class: "control" }, element("label", { for: id }, label), input);
};

/** A labelled box to tick. @param {string} label @param {boolean} checked @param {(checked: boolean) => void} changed */
const tick = (label, checked, changed) => {
  const id = unique("tick");
  const input = element("input", { id, type: "checkbox", checked });
  input.addEventListener("change", () => changed(input.checked));
  return element("span", { class: "control" }, input, element("label", { for: id }, label));
};
