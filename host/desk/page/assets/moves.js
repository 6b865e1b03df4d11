// Moves: from region to region as a flow, and the largest pairs of clusters.

const GOALS = { added: "Added", removed: "Removed", lost: "Lost", waiting: "Waiting", stranded: "Stranded" };

/** @param {Data} data */
const movesSection = (data) => {
  const { flows, clusters } = data;
  const node = section("moves", "Moves");
  if (flows.regions.length === 0) {
    const reason = data.partial ? "Moves are left out, because only some clusters are shown." : "Nothing moves.";
    node.append(element("p", { class: "empty" }, reason));
    return;
  }
  node.append(element("p", { class: "remark" },
    element("strong", {}, "Attribution, not observation: "),
    "a decision says how many replicas each cluster has, not which replica went where. Within each binding, losses are matched to gains in proportion."));
  const nameOf = (place) => (typeof place === "string" ? GOALS[place] : regionName(data, place));
  const links = flows.regions.map(([from, to, count]) => ({ from: nameOf(from), to: nameOf(to), count }));
  node.append(flow(folded(links), `Flow of replicas from region to region: ${links.slice(0, 12).map((link) => `${link.from} to ${link.to} ${plain(link.count)}`).join("; ")}. The tables below have all figures.`));
  node.append(
    twin("Moves between regions as a table", () => table("Replicas moved between regions, attributed", [
      { title: "From", value: (link) => link.from },
      { title: "To", value: (link) => link.to },
      { title: "Replicas", value: (link) => link.count, numeric: true },
    ], links)),
  );
  const title = flows.allPairs > flows.pairs.length
    ? `The ${plain(flows.pairs.length)} largest of ${plain(flows.allPairs)} pairs of clusters, attributed`
    : "Pairs of clusters, attributed";
  node.append(element("h3", {}, "From cluster to cluster"), table(title, [
    { title: "From", value: ([from]) => clusters.name[from] },
    { title: "Region", value: ([from]) => regionName(data, clusters.region[from]) },
    { title: "To", value: ([, to]) => clusters.name[to] },
    { title: "Its region", value: ([, to]) => regionName(data, clusters.region[to]) },
    { title: "Replicas", value: ([, , count]) => count, numeric: true },
  ], flows.pairs, "No replica moves from one cluster to another."));
};

const GOALS_OUT = new Set(["Removed", "Lost", "Waiting", "Stranded"]);

/** Regions on each side of a flow; the others are drawn together. */
const ENDS_MAX = 12;

/** Links with the regions beyond the largest ones taken together. @param {{from: string, to: string, count: number}[]} links */
const folded = (links) => {
  const side = (read) => {
    const sums = new Map();
    for (const link of links) sums.set(read(link), (sums.get(read(link)) ?? 0) + link.count);
    const isWord = (name) => Object.values(GOALS).includes(name);
    const places = [...sums.keys()].filter((name) => !isWord(name)).sort((left, right) => sums.get(right) - sums.get(left));
    if (places.length <= ENDS_MAX) return (name) => name;
    const kept = new Set(places.slice(0, ENDS_MAX - 1));
    const rest = `${plain(places.length - kept.size)} other regions`;
    return (name) => (kept.has(name) || isWord(name) ? name : rest);
  };
  const [from, to] = [side((link) => link.from), side((link) => link.to)];
  const sums = new Map();
  for (const link of links) {
    const ends = [from(link.from), to(link.to)];
    const key = JSON.stringify(ends);
    const known = sums.get(key) ?? { from: ends[0], to: ends[1], count: 0 };
    known.count += link.count;
    sums.set(key, known);
  }
  return [...sums.values()];
};

const SVG = "http://www.w3.org/2000/svg";

/** A flow from the left to the right. The names are laid out as text, and the ribbons between them are drawn afterwards.
 * @param {{from: string, to: string, count: number}[]} links @param {string} label A sentence that describes it. */
const flow = (links, label) => {
  const total = links.reduce((sum, link) => sum + link.count, 0);
  const ends = (read) => [...new Set(links.map(read))].map((name) => ({
    name, count: links.reduce((sum, link) => sum + (read(link) === name ? link.count : 0), 0), node: null,
  }));
  const [sources, targets] = [ends((link) => link.from), ends((link) => link.to)];
  // The height of all that flows, so that the thinnest ribbons can be seen among many.
  const height = 120 + 26 * Math.max(sources.length, targets.length);
  const kind = (name) => (name === "Added" ? "gain" : GOALS_OUT.has(name) ? "loss" : "flow");
  const column = (list, side) => element("div", { class: `ends ${side}` }, ...list.map((end) => {
    end.node = element("div", { class: "end" }, element("span", { class: "end-name" }, end.name), " ", element("b", {}, plain(end.count)));
    return end.node;
  }));
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("aria-hidden", "true");
  const middle = element("div", { class: "ribbons", "aria-hidden": "true" }, drawing);
  const view = element("div", { class: "flow", role: "group", "aria-label": label }, column(sources, "left"), middle, column(targets, "right"));
  const shape = (name, attributes, title) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    if (title) {
      const text = document.createElementNS(SVG, "title");
      text.textContent = title;
      node.append(text);
    }
    return node;
  };
  const draw = () => {
    const scale = zoom();
    const thick = (count) => Math.max(1, (count / total) * height * scale);
    for (const { node, count } of [...sources, ...targets]) {
      node.style.height = "";
      node.style.minHeight = `${thick(count)}px`;
    }
    const whole = view.clientHeight;
    if (whole === 0) return;
    const start = view.getBoundingClientRect().top;
    const bars = [];
    // Where the next ribbon of each end begins.
    const next = new Map();
    for (const [list, x] of [[sources, 0], [targets, 985]]) {
      for (const end of list) {
        const box = end.node.getBoundingClientRect();
        const y = box.top - start + (box.height - thick(end.count)) / 2;
        next.set(end, y);
        const fill = kind(end.name) === "flow" ? "used" : kind(end.name);
        bars.push(shape("rect", { x, y, width: 15, height: thick(end.count), class: fill }, `${end.name}: ${counted(end.count, "replica")}`));
      }
    }
    // Kept, so that print, which breaks lines elsewhere, does not part the names from their ribbons.
    for (const { node } of [...sources, ...targets]) node.style.height = `${node.getBoundingClientRect().height}px`;
    const find = (list, name) => list.find((end) => end.name === name);
    const numbers = [];
    const order = (list, name) => list.findIndex((end) => end.name === name);
    const sorted = links.slice().sort((left, right) => order(sources, left.from) - order(sources, right.from) || order(targets, left.to) - order(targets, right.to));
    const ribbons = sorted.map((link) => {
      const [source, target] = [find(sources, link.from), find(targets, link.to)];
      const [y, z] = [next.get(source), next.get(target)];
      const wide = (link.count / total) * height * scale;
      next.set(source, y + wide);
      next.set(target, z + wide);
      if (wide >= 18 * scale) {
        const number = element("span", { class: "ribbon-number" }, short(link.count));
        number.style.top = `${y + wide / 2}px`;
        numbers.push(number);
      }
      const path = `M15 ${y}C500 ${y} 500 ${z} 985 ${z}V${z + wide}C500 ${z + wide} 500 ${y + wide} 15 ${y + wide}Z`;
      const tone = link.from === "Added" ? "gain" : kind(link.to);
      return shape("path", { d: path, class: tone }, `${link.from} \u2192 ${link.to}: ${counted(link.count, "replica")}`);
    });
    drawing.setAttribute("viewBox", `0 0 1000 ${whole}`);
    drawing.replaceChildren(...ribbons, ...bars);
    middle.replaceChildren(drawing, ...numbers);
  };
  let last = 0;
  new ResizeObserver(() => {
    // Its own height changes as it is drawn.
    if (view.clientWidth === last || matchMedia("print").matches) return;
    last = view.clientWidth;
    draw();
  }).observe(view);
  return view;
};
