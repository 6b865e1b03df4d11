// Moves: from region to region as a flow, and the largest pairs of clusters.

const GOALS = { added: "Added", removed: "Removed", lost: "Lost", stranded: "Stranded" };

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
  // A name may be on both sides; an invisible mark distinguishes the nodes.
  const left = (name) => `${name}\u200b`;
  const right = (name) => `\u200b${name}`;
  const holder = element("div");
  node.append(holder);
  const sources = [...new Set(links.map((link) => link.from))];
  const targets = [...new Set(links.map((link) => link.to))];
  const rows = Math.max(sources.length, targets.length);
  holder.style.height = `${Math.min(900, 90 + rows * 62)}px`;
  const palette = (name) => ({ Added: "gain", Removed: "loss", Lost: "loss", Stranded: "loss" })[name] ?? "used";
  chart(holder, () => {
    const item = (name, position, identity) => ({
      name: identity, itemStyle: { color: colour(palette(name)), borderColor: colour("line") },
      label: { position, color: colour("ink"), fontSize: 13, formatter: ({ value }) => `${name}  ${plain(value)}` },
      depth: position === "right" ? 0 : 1,
    });
    return {
      tooltip: { trigger: "item", ...tooltip(({ data: hovered, name, value }) => (hovered.source
        ? `${hovered.source.replaceAll("\u200b", "")} \u2192 ${hovered.target.replaceAll("\u200b", "")}\n${counted(hovered.value, "replica")}`
        : `${name.replaceAll("\u200b", "")}\n${counted(value, "replica")}`)) },
      series: [{
        type: "sankey", left: 8, right: 8, top: 12, bottom: 12, nodeWidth: 16, nodeGap: 18, draggable: false,
        emphasis: { focus: "adjacency" }, layoutIterations: 64,
        data: [...sources.map((name) => item(name, "right", left(name))), ...targets.map((name) => item(name, "left", right(name)))],
        links: links.map((link) => ({
          source: left(link.from), target: right(link.to), value: link.count,
          lineStyle: { color: colour(link.from === "Added" ? "gain" : GOALS_OUT.has(link.to) ? "loss" : "flow"), opacity: 0.42 },
        })),
        edgeLabel: { show: links.length <= 10, color: colour("ink"), fontSize: 11, formatter: ({ value }) => plain(value) },
      }],
    };
  }, `Flow of replicas from region to region: ${links.slice(0, 12).map((link) => `${link.from} to ${link.to} ${plain(link.count)}`).join("; ")}. The tables below have all figures.`);
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

const GOALS_OUT = new Set(["Removed", "Lost", "Stranded"]);
