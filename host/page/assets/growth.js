// Growth: the tightest workloads as bars, all of them as a table.

/** Bars that are drawn. */
const TIGHTEST_MAX = 30;

/** @param {Data} data */
const growthSection = (data) => {
  const { growth, bindings, texts } = data;
  const node = section("growth", "Headroom", "The largest number of replicas that can be scheduled, for each workload alone. One more was tried as well.");
  const rows = growth.binding.map((_, index) => index);
  const bounded = rows.filter((row) => growth.headroom[row] !== null).sort((left, right) => growth.headroom[left] - growth.headroom[right]);
  const shown = bounded.slice(0, TIGHTEST_MAX);
  if (shown.length > 0) {
    if (bounded.length > shown.length) node.append(element("p", { class: "remark" }, `The ${TIGHTEST_MAX} with the least headroom are drawn.`));
    const holder = element("div");
    holder.style.height = `${shown.length * 30 + 70}px`;
    node.append(holder);
    const now = (row) => bindings.replicas[growth.binding[row]];
    chart(holder, () => {
      const series = (name, read, fill, decal) => ({
        name, type: "bar", stack: "one", barWidth: 14, data: shown.map(read), itemStyle: { color: colour(fill), decal },
      });
      return {
        grid: { left: 8, right: 8, top: 34, bottom: 8, containLabel: true },
        legend: { top: 0, left: 0, textStyle: { color: colour("ink") }, selectedMode: false },
        tooltip: { trigger: "item", ...tooltip(({ dataIndex }) => {
          const row = shown[dataIndex];
          return `${bindings.key[growth.binding[row]]}\nnow ${plain(now(row))}, at most ${plain(growth.most[row])}`;
        }) },
        xAxis: { type: "value", position: "top", axisLabel: { color: colour("muted"), hideOverlap: true }, splitLine: { lineStyle: { color: colour("line") } } },
        yAxis: [
          { type: "category", inverse: true, data: shown.map((row) => bindings.key[growth.binding[row]]), axisTick: { show: false },
            axisLine: { show: false }, axisLabel: { color: colour("ink"), width: Math.min(260, holder.clientWidth * 0.4), overflow: "truncate" } },
          { type: "category", inverse: true, position: "right", data: shown.map((row) => signed(growth.headroom[row])),
            axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: colour("ink") } },
        ],
        series: [
          series("Schedules", (row) => Math.min(now(row), growth.most[row]), "used", { symbol: "none" }),
          series("Headroom", (row) => Math.max(0, growth.headroom[row]), "gain", patterns.lines()),
          series("Too many", (row) => Math.max(0, -growth.headroom[row]), "gone", patterns.dots()),
        ],
      };
    }, `Bars of the ${counted(shown.length, "workload")} with the least headroom. The table below has all of them.`);
  } else {
    node.append(element("p", { class: "empty" }, "No workload has a bound."));
  }
  const room = (row) => (growth.unbounded[row] ? Infinity : growth.headroom[row] ?? -Infinity);
  node.append(twin("Headroom as a table", () => table("Headroom", [
    { title: "Binding", value: (row) => bindings.key[growth.binding[row]] },
    { title: "Strategy", value: (row) => texts[bindings.strategy[growth.binding[row]]] || "\u2013" },
    { title: "Replicas", value: (row) => bindings.replicas[growth.binding[row]], numeric: true },
    { title: "Most", value: (row) => (growth.unbounded[row] ? Infinity : growth.most[row] ?? -1), numeric: true,
      text: (row) => (growth.unbounded[row] ? "any" : growth.most[row] === null ? "none" : plain(growth.most[row])) },
    { title: "Headroom", value: room, numeric: true, tone: (row) => (growth.headroom[row] < 0 ? "loss" : ""),
      text: (row) => (growth.headroom[row] === null ? "\u2013" : signed(growth.headroom[row])) },
    ...(growth.unit ? [
      { title: `Cost now (${growth.unit} per hour)`, value: (row) => costValue(growth.costNow[row]), text: (row) => growth.costNow[row], numeric: true },
      { title: "Cost with the most replicas", value: (row) => costValue(growth.costMost[row]), numeric: true,
        text: (row) => growth.costMost[row] || "\u2013" },
    ] : []),
    { title: "Stopped by", value: (row) => texts[growth.stoppedBy[row]], long: true },
  ], rows)));
};
