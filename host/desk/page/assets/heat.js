// Heat maps: regions by namespaces, then bindings by clusters. Each cell says why.

/** A cell of a heat map. @param {number} from @param {number} to @param {string} mode @param {number} most */
const heatCell = (from, to, mode, most) => {
  const change = replicasOf(to) - replicasOf(from);
  const isListed = from >= 0 || to >= 0;
  const counts = isListed ? `${orNone(from)} to ${orNone(to)}, ${signed(change)}` : "no replicas";
  if (mode === "change") {
    // A resource without replicas that comes or goes has no number, and still changes.
    const text = change !== 0 ? short(change, true) : from < 0 && to === 0 ? "new" : from === 0 && to < 0 ? "gone" : isListed ? "\u00b7" : "";
    return { text, label: counts, tone: toneOf(change), strength: Math.sqrt(Math.abs(change) / most) };
  }
  const text = to >= 0 ? short(to) : from >= 0 ? "\u2013" : "";
  return { text, label: counts, tone: to > 0 ? "amount" : "", strength: Math.sqrt(replicasOf(to) / most) };
};

/** The panel beside a heat map that says why. */
const panel = () => element("div", { class: "why", "aria-live": "polite" },
  element("p", { class: "empty" }, "Choose a cell, by mouse or with the arrow keys, to see why."));

/** @param {[string, string][]} facts */
const factList = (facts) => element("dl", { class: "facts" }, ...facts.map(([name, value]) =>
  element("div", {}, element("dt", {}, name), element("dd", {}, value))));

/** @param {string} title @param {[string, string][]} facts @param {...Node} more */
const explain = (where, title, facts, ...more) => where.replaceChildren(element("h3", {}, title), factList(facts), ...more);

const legend = (mode) => element("p", { class: "legend" },
  ...(mode === "change"
    ? [element("span", { class: "key loss" }, "\u2212 fewer"), element("span", { class: "key gain" }, "+ more"), element("span", {}, "\u00b7 the same")]
    : [element("span", { class: "key amount" }, "replicas: the darker, the more"), element("span", {}, "\u2013 none left")]));

const isMoving = (data) => data.cells.from.some((from, cell) => from !== data.cells.to[cell]) || data.matrix.from.some((from, cell) => from !== data.matrix.to[cell]);

/** Regions by namespaces. @param {Data} data */
const regionsSection = (data) => {
  const { matrix, states } = data;
  const node = section("regions", "Regions and namespaces", data.command === "headroom"
    ? "Replicas of all bindings of a namespace in a region. Each workload grows alone, so several cannot have their most at once."
    : "Replicas of all bindings of a namespace in a region.");
  const found = new Map(matrix.region.map((region, index) => [`${region},${matrix.namespace[index]}`, index]));
  const at = (region, namespace) => found.get(`${region},${namespace}`);
  let mode = isMoving(data) ? "change" : "amount";
  const most = (read) => Math.max(1, ...matrix.region.map((_, index) => Math.abs(read(index))));
  const changeOf = (index) => matrix.to[index] - matrix.from[index];
  const why = panel();
  const describe = (region, namespace) => {
    const index = at(region, namespace);
    const [from, to] = index === undefined ? [0, 0] : [matrix.from[index], matrix.to[index]];
    const { cells, clusters, bindings } = data;
    const parts = [];
    for (let cell = 0; cell < cells.binding.length; cell += 1) {
      const change = replicasOf(cells.to[cell]) - replicasOf(cells.from[cell]);
      if (change !== 0 && clusters.region[cells.cluster[cell]] === region && bindings.namespace[cells.binding[cell]] === namespace) parts.push([cell, change]);
    }
    parts.sort((left, right) => Math.abs(right[1]) - Math.abs(left[1]));
    const list = element("ul", {}, ...parts.slice(0, 5).map(([cell, change]) => {
      const [binding, cluster] = [cells.binding[cell], cells.cluster[cell]];
      return element("li", {}, `${bindings.key[binding]} on ${clusters.name[cluster]}: ${signed(change)} \u2013 ${reasonOf(data, binding, cluster)}`);
    }));
    explain(why, `${regionName(data, region)}, ${namespaceName(data, namespace)}`, [
      [states[0], plain(from)], [states[1], plain(to)], ["Change", signed(to - from)],
      ["Bindings that change", plain(index === undefined ? 0 : matrix.changed[index])],
    ], ...(parts.length > 0 ? [element("p", {}, parts.length > 5 ? "The largest changes:" : "The changes:"), list] : []));
  };
  const holder = element("div");
  const draw = () => {
    const scale = mode === "change" ? most(changeOf) : most((index) => matrix.to[index]);
    holder.replaceChildren(legend(mode), grid({
      label: "Replicas per region and namespace", corner: "Region",
      rows: data.regions.map((_, index) => regionName(data, index)), columns: data.namespaces.map((_, index) => namespaceName(data, index)),
      cell: (region, namespace) => {
        const index = at(region, namespace);
        return index === undefined ? heatCell(-1, -1, mode, scale) : heatCell(matrix.from[index], matrix.to[index], mode, scale);
      },
      describe,
    }));
    why.hidden = holder.querySelector(".grid") === null;
  };
  node.append(element("div", { class: "controls" }, modeChoice(mode, (value) => {
    mode = value;
    draw();
  })), holder, why);
  draw();
  const rows = matrix.region.map((_, index) => index);
  node.append(twin("Regions and namespaces as a table", () => table("Replicas per region and namespace", [
    { title: "Region", value: (index) => regionName(data, matrix.region[index]) },
    { title: "Namespace", value: (index) => namespaceName(data, matrix.namespace[index]) },
    { title: states[0], value: (index) => matrix.from[index], numeric: true },
    { title: states[1], value: (index) => matrix.to[index], numeric: true },
    { title: "Change", value: changeOf, text: (index) => signed(changeOf(index)), numeric: true, tone: (index) => toneOf(changeOf(index)) },
    { title: "Bindings that change", value: (index) => matrix.changed[index], numeric: true },
  ], rows, "No binding has replicas.")));
};

const modeChoice = (mode, chosen) => {
  const options = [["change", "Changes"], ["amount", "Replicas after"]];
  if (mode === "amount") options.reverse();
  return choice("Show", options, chosen);
};

/** Up to this number of bindings and clusters, they are ordered by name. */
const ORDERED_MAX = 40;

/** Indexes of the regions, by name. @param {Data} data */
const regions = (data) => data.regions.map((_, index) => index)
  .sort((left, right) => regionName(data, left).localeCompare(regionName(data, right), "en"));

/** Bindings by clusters. @param {Data} data */
const bindingsSection = (data) => {
  const { bindings, cells, clusters, texts, states } = data;
  const node = section("bindings", "Bindings and clusters",
    "One row per binding, one column per cluster, grouped by region. Ctrl with an arrow key goes to the next cell that has replicas.");
  const isChanged = (binding) => {
    for (let cell = data.first[binding]; cell < data.first[binding + 1]; cell += 1) if (cells.from[cell] !== cells.to[cell]) return true;
    return bindings.from[binding] !== bindings.to[binding] || bindings.newlyUnschedulable[binding];
  };
  const all = bindings.key.map((_, index) => index);
  const changed = all.filter(isChanged);
  let mode = changed.length > 0 ? "change" : "amount";
  let only = changed.length > 0 && changed.length < all.length;
  let needle = "";
  let byChange = all.length > ORDERED_MAX || clusters.name.length > ORDERED_MAX;
  let region = "all";
  let most = { change: 1, amount: 1 };
  const weight = { rows: new Float64Array(all.length), columns: new Float64Array(clusters.name.length) };
  for (let cell = 0; cell < cells.binding.length; cell += 1) {
    const [from, to] = [replicasOf(cells.from[cell]), replicasOf(cells.to[cell])];
    most = { change: Math.max(most.change, Math.abs(to - from)), amount: Math.max(most.amount, to) };
    // A change weighs more than any unchanged count, however large.
    const size = Math.abs(to - from) + Math.max(from, to) / 1e9;
    weight.rows[cells.binding[cell]] += size;
    weight.columns[cells.cluster[cell]] += size;
  }
  const names = regions(data);
  const ofRegion = new Float64Array(data.regions.length);
  weight.columns.forEach((size, cluster) => {
    ofRegion[clusters.region[cluster]] += size;
  });
  /** The clusters that the shown bindings touch, or all. */
  const columnsOf = (rows) => {
    let chosen = clusters.name.map((_, index) => index);
    if (region !== "all") chosen = chosen.filter((cluster) => clusters.region[cluster] === Number(region));
    if (only || needle !== "") {
      const touched = new Set();
      for (const row of rows) for (let cell = data.first[row]; cell < data.first[row + 1]; cell += 1) touched.add(cells.cluster[cell]);
      chosen = chosen.filter((cluster) => touched.has(cluster));
    }
    const order = byChange ? names.slice().sort((left, right) => ofRegion[right] - ofRegion[left]) : names;
    const rank = (cluster) => order.indexOf(clusters.region[cluster]);
    return chosen.sort((left, right) =>
      rank(left) - rank(right) || (byChange ? weight.columns[right] - weight.columns[left] : 0) || left - right);
  };
  const why = panel();
  const count = element("p", { class: "remark", role: "status" });
  const holder = element("div");
  const isMeant = (index) => needle === "" || bindings.key[index].toLowerCase().includes(needle);
  const draw = () => {
    const pool = only ? changed : all;
    const rows = pool.filter(isMeant);
    if (byChange) rows.sort((left, right) => weight.rows[right] - weight.rows[left] || left - right);
    const columns = columnsOf(rows);
    const others = rows.length === 0 && only ? all.filter(isMeant).length : 0;
    const hint = others > 0 ? ` ${counted(others, "binding")} of this name ${others === 1 ? "does" : "do"} not change.` : "";
    count.textContent = `${counted(rows.length, "binding")} of ${plain(all.length)}, ${counted(columns.length, "cluster")} of ${plain(clusters.name.length)}.${hint}`;
    holder.replaceChildren(legend(mode), grid({
      label: "Replicas per binding and cluster", corner: "Binding",
      rows: rows.map((index) => bindings.key[index]), columns: columns.map((index) => clusters.name[index]),
      groups: columns.map((index) => regionName(data, clusters.region[index])),
      cell: (row, column) => {
        const cell = cellOf(data, rows[row], columns[column]);
        return cell < 0 ? heatCell(-1, -1, mode, 1) : heatCell(cells.from[cell], cells.to[cell], mode, most[mode]);
      },
      describe: (row, column) => describeCell(data, why, rows[row], columns[column]),
    }));
    why.hidden = holder.querySelector(".grid") === null;
  };
  node.append(
    element("div", { class: "controls" },
      modeChoice(mode, (value) => {
        mode = value;
        draw();
      }),
      choice("Order", byChange ? [["change", "Largest change first"], ["name", "By name"]] : [["name", "By name"], ["change", "Largest change first"]], (value) => {
        byChange = value === "change";
        draw();
      }),
      choice("Region", [["all", "All"], ...names.map((index) => [String(index), regionName(data, index)])], (value) => {
        region = value;
        draw();
      }),
      search("Filter bindings", (text) => {
        needle = text;
        draw();
        tables.forEach((table) => table.refresh());
      }),
      changed.length > 0 && changed.length < all.length ? tick("Only what changes", only, (checked) => {
        only = checked;
        draw();
      }) : null),
    count, holder, why,
  );
  draw();
  const change = (index) => bindings.to[index] - bindings.from[index];
  // The tables follow the filter, too.
  const tables = [
    twin("Bindings as a table", () => table("Bindings", [
      { title: "Binding", value: (index) => bindings.key[index] },
      { title: "Strategy", value: (index) => texts[bindings.strategy[index]] || "\u2013" },
      { title: "Result", value: (index) => texts[bindings.result[index]], tone: (index) => (isRefused(data, index) ? "loss" : "") },
      { title: "Asked for", value: (index) => bindings.replicas[index], numeric: true },
      { title: states[0], value: (index) => bindings.from[index], numeric: true },
      { title: states[1], value: (index) => bindings.to[index], numeric: true },
      { title: "Change", value: change, text: (index) => signed(change(index)), numeric: true, tone: (index) => toneOf(change(index)) },
      { title: "Moved", value: (index) => bindings.moved[index], numeric: true },
      { title: "Lost", value: (index) => bindings.lost[index] + bindings.stranded[index], numeric: true },
      { title: "Message", value: (index) => texts[bindings.message[index]], long: true },
    ], all.filter(isMeant), "No binding.")),
    twin("Bindings and clusters as a table", () => {
      const cellChange = (cell) => replicasOf(cells.to[cell]) - replicasOf(cells.from[cell]);
      return table("Replicas per binding and cluster", [
        { title: "Binding", value: (cell) => bindings.key[cells.binding[cell]] },
        { title: "Cluster", value: (cell) => clusters.name[cells.cluster[cell]] },
        { title: "Region", value: (cell) => regionName(data, clusters.region[cells.cluster[cell]]) },
        { title: states[0], value: (cell) => cells.from[cell], text: (cell) => orNone(cells.from[cell]), numeric: true },
        { title: states[1], value: (cell) => cells.to[cell], text: (cell) => orNone(cells.to[cell]), numeric: true },
        { title: "Change", value: cellChange, text: (cell) => signed(cellChange(cell)), numeric: true, tone: (cell) => toneOf(cellChange(cell)) },
        { title: "Why", value: (cell) => reasonOf(data, cells.binding[cell], cells.cluster[cell]), long: true },
      ], cells.binding.map((_, index) => index).filter((cell) => isMeant(cells.binding[cell])), "No binding has replicas.");
    }),
  ];
  node.append(...tables);
};

/** True if a binding could not be scheduled. @param {Data} data */
const isRefused = (data, binding) => ["NoClusterFit", "Unschedulable", "Error"].includes(data.texts[data.bindings.result[binding]]);

/** Shows everything about a binding on a cluster. @param {Data} data */
const describeCell = (data, where, binding, cluster) => {
  const { bindings, cells, clusters, texts, states } = data;
  const cell = cellOf(data, binding, cluster);
  const [from, to] = cell < 0 ? [-1, -1] : [cells.from[cell], cells.to[cell]];
  const facts = [
    [states[0], orNone(from)], [states[1], orNone(to)], ["Change", signed(replicasOf(to) - replicasOf(from))],
    ["Why", reasonOf(data, binding, cluster)],
    ["Binding", [texts[bindings.strategy[binding]], texts[bindings.result[binding]], `${plain(bindings.replicas[binding])} requested`].filter(Boolean).join(", ")],
  ];
  const message = texts[bindings.message[binding]];
  if (message) facts.push(["Message", message]);
  explain(where, `${bindings.key[binding]} on ${clusters.name[cluster]}`, facts);
};
