// Bars as elements: their labels are text, which wraps, grows with the reader's letters and is printed as letters.

/** Bars end here, at this many times the whole; the figures beside them do not. */
const BAR_END = 2;

/**
 * @typedef {Object} Part
 * @property {"used" | "gain" | "gone" | "free" | "over"} kind
 * @property {number} from @property {number} to As parts of the whole: 1 is 100%.
 *
 * @typedef {Object} Bar
 * @property {string} name
 * @property {Part[][]} tracks One or two, each with its parts from left to right.
 * @property {string} value
 * @property {string} [detail]
 * @property {boolean} [isOver] True if something is above 100%.
 *
 * @typedef {{title?: string, bars: Bar[]}} BarGroup
 */

/** Splits parts at 100%: what is used or given beyond it is `over`. @param {Part[]} parts @returns {Part[]} */
const splitAtFull = (parts) => parts.flatMap((part) => {
  if (part.to <= 1 || (part.kind !== "used" && part.kind !== "gain")) return [part];
  return [{ ...part, to: Math.max(part.from, 1) }, { ...part, kind: "over", from: Math.max(part.from, 1) }];
});

/** The legend of bars. @param {[string, string][]} keys Kind and word. */
const barLegend = (keys) => element("p", { class: "legend" }, ...keys.map(([kind, word]) =>
  element("span", {}, element("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), word)));

/** Bars with one scale. @param {string} label @param {BarGroup[]} groups @param {boolean} hasWhole True if 1 means 100%. */
const bars = (label, groups, hasWhole) => {
  const all = groups.flatMap((group) => group.bars);
  const furthest = Math.max(1, ...all.flatMap((bar) => bar.tracks.flat().map((part) => part.to)));
  const end = hasWhole ? Math.min(BAR_END, Math.ceil(furthest * 4) / 4) : furthest;
  const place = (value) => `${(Math.min(value, end) / end) * 100}%`;
  const track = (parts) => {
    const line = element("div", { class: "track" });
    for (const part of parts) {
      if (part.to <= part.from || part.from >= end) continue;
      const node = element("i", { class: `part ${part.kind}` });
      node.style.left = place(part.from);
      node.style.width = `${((Math.min(part.to, end) - part.from) / end) * 100}%`;
      line.append(node);
    }
    if (hasWhole) {
      const full = element("i", { class: "full" });
      full.style.left = place(1);
      line.append(full);
    }
    return line;
  };
  const bar = ({ name, tracks, value, detail, isOver }) => element("li", { class: "bar" },
    element("span", { class: "bar-name" }, name),
    element("div", { class: "tracks", "aria-hidden": "true" }, ...tracks.map((parts) => track(hasWhole ? splitAtFull(parts) : parts))),
    element("span", { class: "bar-value" }, element("b", { class: isOver ? "is-over" : undefined }, value, isOver ? " over" : ""),
      detail ? element("span", { class: "bar-detail" }, ` ${detail}`) : null));
  const scale = element("div", { class: "bar scale", "aria-hidden": "true" });
  if (hasWhole) {
    const ticks = element("div", { class: "ticks" });
    for (let tick = 0; tick <= end; tick += 0.5) {
      const text = element("span", { class: tick === 0 ? "at-start" : tick === end ? "at-end" : "" }, `${tick * 100}%`);
      text.style.left = place(tick);
      ticks.append(text);
    }
    scale.append(element("span"), ticks, element("span"));
  }
  return element("div", { class: "bars" }, scale, ...groups.flatMap(({ title, bars: members }) => [
    title ? element("h3", {}, title) : null,
    element("ul", { "aria-label": title ? `${label}: ${title}` : label }, ...members.map(bar)),
  ]).filter((node) => node !== null));
};
