// Clusters: what is used, given and free, before and after, by region.

/** Bars of single clusters up to this number; beyond it, of regions until one is chosen. */
const SINGLE_MAX = 40;
const REPLICAS = "replicas";

/** @param {Data} data */
const clustersSection = (data) => {
  const { clusters, regions, clusterStates: states } = data;
  const node = section("clusters", "Clusters",
    "Two bars each, before and after. Used: what the cluster reports. Given and given up: what the decisions add and take away. Free: the rest.");
  const total = (resource) => clusters.usage[resource].allocatable.filter((value) => value > 0).length;
  const resources = Object.keys(clusters.usage).filter((name) => total(name) > 0);
  const preferred = ["cpu", "memory", "pods"];
  resources.sort((left, right) => {
    const rank = (name) => (preferred.indexOf(name) + 1 || preferred.length + 1);
    return rank(left) - rank(right) || left.localeCompare(right, "en");
  });
  let resource = resources[0] ?? REPLICAS;
  let region = "all";
  const everyone = clusters.name.map((_, index) => index);
  const isLarge = everyone.length > SINGLE_MAX;

  /** One bar pair: a cluster, or several together. */
  const measure = (name, members, isTitle = false) => {
    const usage = clusters.usage[resource];
    const sum = (column) => members.reduce((all, index) => all + (usage && usage.allocatable[index] < 0 ? 0 : column[index]), 0);
    if (!usage) return { name, isTitle, before: sum(clusters.from), after: sum(clusters.to), whole: 0 };
    return { name, isTitle, before: sum(usage.from), after: sum(usage.to), whole: sum(usage.allocatable) };
  };
  const members = (index) => everyone.filter((cluster) => clusters.region[cluster] === index);
  const fullness = (index) => {
    const usage = clusters.usage[resource];
    return usage ? usage.to[index] / Math.max(1, usage.allocatable[index]) : clusters.to[index];
  };
  let cut = 0;
  const bars = () => {
    cut = 0;
    if (region === "regions") return regions.map((_, index) => measure(regionName(data, index), members(index)));
    const chosen = region === "all" ? regions.map((_, index) => index) : [Number(region)];
    return chosen.flatMap((index) => {
      const all = members(index).sort((left, right) => fullness(right) - fullness(left));
      const shown = all.slice(0, SINGLE_MAX).sort((left, right) => left - right);
      cut += all.length - shown.length;
      const title = measure(`${regionName(data, index)} \u00b7 ${counted(all.length, "cluster")}`, [], true);
      return [title, ...shown.map((cluster) => measure(clusters.name[cluster], [cluster]))];
    });
  };

  const show = (value) => (resource === REPLICAS ? plain(value) : quantity(resource, value));
  const options = () => {
    const rows = bars();
    holder.style.height = `${Math.max(150, rows.length * 38 + 64)}px`;
    remark.textContent = cut > 0 ? `The ${SINGLE_MAX} fullest clusters are drawn; the table has the other ${plain(cut)} as well.` : "";
    // A length of zero is not drawn, not even as a border.
    const part = (read) => rows.map((row) => (row.isTitle || read(row) === 0 ? "-" : read(row)));
    const series = (name, stack, read, fill, decal, border) => ({
      name, type: "bar", stack, barWidth: 11, barGap: "25%", data: part(read),
      itemStyle: { color: colour(fill), decal, borderColor: border ? colour(border) : undefined, borderWidth: border ? 1 : 0 },
    });
    const free = (row, used) => Math.max(0, row.whole - used);
    const list = [
      series("Used", "before", (row) => Math.max(0, row.before), "used", { symbol: "none" }),
      series("Free", "before", (row) => free(row, row.before), "free", { symbol: "none" }, "line"),
      series("Used", "after", (row) => Math.max(0, Math.min(row.before, row.after)), "used", { symbol: "none" }),
      series("Given", "after", (row) => Math.max(0, row.after - row.before), "gain", patterns.lines()),
      series("Given up", "after", (row) => Math.max(0, row.before - row.after), "gone", patterns.dots(), "loss"),
      series("Free", "after", (row) => free(row, Math.max(row.before, row.after)), "free", { symbol: "none" }, "line"),
    ];
    const over = (row) => (row.after > row.whole ? " over" : "");
    const text = (row) => row.whole > 0 ? `${percent(row.before, row.whole)} \u2192 ${percent(row.after, row.whole)}${over(row)}`
      : `${plain(row.before)} \u2192 ${plain(row.after)}`;
    return {
      grid: { left: 8, right: 8, top: 34, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, data: ["Used", "Given", "Given up", "Free"], textStyle: { color: colour("ink") }, itemWidth: 18, selectedMode: false },
      tooltip: { trigger: "item", ...tooltip(({ dataIndex }) => {
        const row = rows[dataIndex];
        if (row.isTitle) return row.name;
        const whole = row.whole > 0 ? `\nallocatable ${show(row.whole)}\nfree ${show(row.whole - row.before)} \u2192 ${show(row.whole - row.after)}` : "";
        return `${row.name}\n${resource} ${show(row.before)} \u2192 ${show(row.after)} (${text(row)})${whole}`;
      }) },
      xAxis: {
        type: "value", position: "top", axisLabel: { color: colour("muted"), hideOverlap: true, formatter: (value) => show(value) },
        splitLine: { lineStyle: { color: colour("line") } }
      },
      yAxis: [
        {
          type: "category", inverse: true, data: rows.map((row) => row.name), axisTick: { show: false }, axisLine: { show: false },
          axisLabel: {
            color: colour("ink"), width: Math.min(190, holder.clientWidth * 0.34), overflow: "truncate",
            formatter: (name, index) => (rows[index].isTitle ? `{title|${name}}` : name),
            rich: { title: { fontWeight: "bold", color: colour("ink"), fontSize: 13 } },
          },
        },
        {
          type: "category", inverse: true, data: rows.map((row) => (row.isTitle ? "" : text(row))), position: "right",
          axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: colour("ink"), fontSize: 12 },
        },
      ],
      series: list,
    };
  };

  const update = () => {
    drawing.draw();
    const wasOpen = tables.firstElementChild.open;
    tables.replaceChildren(clusterTable());
    tables.firstElementChild.open = wasOpen;
  };
  const clusterTable = () => {
    const usage = clusters.usage[resource];
    const change = (index) => clusters.to[index] - clusters.from[index];
    const columns = [
      { title: "Cluster", value: (index) => clusters.name[index] },
      { title: "Region", value: (index) => regionName(data, clusters.region[index]) },
      { title: `Replicas ${states[0].toLowerCase()}`, value: (index) => clusters.from[index], numeric: true },
      { title: `Replicas ${states[1].toLowerCase()}`, value: (index) => clusters.to[index], numeric: true },
      { title: "Change", value: change, text: (index) => signed(change(index)), numeric: true, tone: (index) => toneOf(change(index)) },
    ];
    if (clusters.cost) {
      const of = (title, texts) => ({
        title: `Cost ${title} (${clusters.cost.unit} per hour)`, value: (index) => costValue(texts[index]), text: (index) => texts[index], numeric: true,
      });
      columns.push(of("before", clusters.cost.from), of("after", clusters.cost.to));
    }
    if (usage) {
      const of = (title, read) => ({
        title, value: read, text: (index) => (usage.allocatable[index] < 0 ? "\u2013" : quantity(resource, read(index))), numeric: true,
      });
      columns.push(
        of(`${resource} before`, (index) => usage.from[index]), of(`${resource} after`, (index) => usage.to[index]),
        of("Allocatable", (index) => usage.allocatable[index]), of("Free after", (index) => usage.allocatable[index] - usage.to[index]),
        { title: "Full", value: (index) => (usage.allocatable[index] > 0 ? usage.to[index] / usage.allocatable[index] : -1),
          text: (index) => percent(usage.to[index], usage.allocatable[index]), numeric: true },
      );
    }
    return twin("Clusters as a table", () => table(`Clusters: replicas and ${resource}`, columns, everyone, "No cluster."));
  };

  const controls = element("div", { class: "controls" });
  controls.append(choice("Resource", [...resources, REPLICAS].map((name) => [name, name]), (value) => {
    resource = value;
    update();
  }));
  const places = regions.map((_, index) => [String(index), regionName(data, index)]);
  const all = isLarge ? [["regions", "All, summed by region"]] : [["all", "All"], ["regions", "All, summed by region"]];
  region = all[0][0];
  controls.append(choice("Region", [...all, ...places], (value) => {
    region = value;
    update();
  }));
  const remark = element("p", { class: "remark", role: "status" });
  const holder = element("div");
  const tables = element("div");
  node.append(controls, holder, remark, tables);
  // The space is reserved before the chart is drawn, so that nothing below it jumps.
  holder.style.height = `${Math.max(150, bars().length * 38 + 64)}px`;
  const drawing = chart(holder, options,
    `Bars of ${counted(everyone.length, "cluster")} by region: used, given, given up and free, before and after. The table below has the same figures.`);
  tables.append(clusterTable());
};
