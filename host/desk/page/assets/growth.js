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
    const now = (row) => bindings.replicas[growth.binding[row]];
    const bar = (row) => {
      const most = growth.most[row];
      // What has no room at all is above it everywhere.
      const fraction = most > 0 ? now(row) / most : now(row) > 0 ? BAR_END : 0;
      const tracks = most > 0 ? [[{ kind: "used", from: 0, to: fraction }, { kind: "gain", from: fraction, to: 1 }]] : [[{ kind: "over", from: 0, to: fraction }]];
      return {
        name: bindings.key[growth.binding[row]], tracks, isOver: growth.headroom[row] < 0,
        value: signed(growth.headroom[row]), detail: `now ${plain(now(row))}, at most ${plain(most)}`,
      };
    };
    node.append(barLegend([["used", "Replicas now"], ["gain", "Headroom"], ["over", "Above 100%: too many"], ["line", "100%: the most that can be scheduled"]]),
      bars(`The ${counted(shown.length, "workload")} with the least headroom`, [{ bars: shown.map(bar) }], true));
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
      { title: `Cost now (${growth.unit} per hour)`, value: (row) => costValue(growth.costNow[row]), text: (row) => costText(growth.costNow[row]), numeric: true },
      { title: "Cost with the most replicas", value: (row) => costValue(growth.costMost[row]), numeric: true,
        text: (row) => costText(growth.costMost[row]) || "\u2013" },
    ] : []),
    { title: "Stopped by", value: (row) => texts[growth.stoppedBy[row]], long: true },
  ], rows)));
};
