// Clusters: what is used, given and free, before and after, by region.

/** Bars of single clusters up to this number; beyond it, of regions until one is chosen. */
const SINGLE_MAX = 40;
const REPLICAS = "replicas";

/** @param {Data} data */
const clustersSection = (data) => {
  const { clusters, regions, clusterStates: states } = data;
  const node = section("clusters", "Clusters",
    "Two bars each, before and after. Used: what the cluster reports. Given and given up: what the decisions add and take away. Free: the rest, up to the line at 100%.");
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
  const measure = (name, members) => {
    const usage = clusters.usage[resource];
    const sum = (column) => members.reduce((all, index) => all + (usage && usage.allocatable[index] < 0 ? 0 : column[index]), 0);
    if (!usage) return { name, before: sum(clusters.from), after: sum(clusters.to), whole: 0 };
    return { name, before: sum(usage.from), after: sum(usage.to), whole: sum(usage.allocatable) };
  };
  const members = (index) => everyone.filter((cluster) => clusters.region[cluster] === index);
  const fullness = (index) => {
    const usage = clusters.usage[resource];
    return usage ? usage.to[index] / Math.max(1, usage.allocatable[index]) : clusters.to[index];
  };
  let cut = 0;
  const groupsOf = () => {
    cut = 0;
    if (region === "regions") return [{ rows: regions.map((_, index) => measure(regionName(data, index), members(index))) }];
    const chosen = region === "all" ? regions.map((_, index) => index) : [Number(region)];
    return chosen.map((index) => {
      const all = members(index).sort((left, right) => fullness(right) - fullness(left));
      const shown = all.slice(0, SINGLE_MAX).sort((left, right) => left - right);
      cut += all.length - shown.length;
      return {
        title: `${regionName(data, index)} \u00b7 ${counted(all.length, "cluster")}`,
        rows: shown.map((cluster) => measure(clusters.name[cluster], [cluster])),
      };
    });
  };

  const usageOf = () => clusters.usage[resource];
  const show = (value) => (resource === REPLICAS ? plain(value) : quantity(resource, value));
  /** `3 of 5 cores`: a unit that both have is written once. @param {string} part @param {string} whole */
  const ofWhole = (part, whole) => {
    const unit = whole.slice(whole.indexOf(" ") + 1);
    return `${part.endsWith(` ${unit}`) ? part.slice(0, -unit.length - 1) : part} of ${whole}`;
  };
  /** The tracks of a row, as parts of what is allocatable or, without that, of the largest count. */
  const tracks = ({ before, after }, whole) => {
    const [from, to] = [Math.max(0, before) / whole, Math.max(0, after) / whole];
    const least = Math.min(from, to);
    const free = (value) => ({ kind: "free", from: value, to: usageOf() ? 1 : value });
    return [
      [{ kind: "used", from: 0, to: from }, free(from)],
      [{ kind: "used", from: 0, to: least }, { kind: "gain", from: least, to }, { kind: "gone", from: to, to: from }, free(Math.max(from, to))],
    ];
  };
  const draw = () => {
    const groups = groupsOf();
    remark.textContent = cut > 0 ? `The ${SINGLE_MAX} fullest clusters are drawn; the table has the other ${plain(cut)} as well.` : "";
    const largest = Math.max(1, ...groups.flatMap((group) => group.rows).map((row) => Math.max(row.before, row.after)));
    const hasWhole = Boolean(usageOf());
    const bar = (row) => {
      if (!hasWhole) return { name: row.name, tracks: tracks(row, largest), value: `${show(row.before)} \u2192 ${show(row.after)}` };
      if (row.whole > 0) {
        return {
          name: row.name, isOver: row.after > row.whole, tracks: tracks(row, row.whole), detail: ofWhole(show(row.after), show(row.whole)),
          value: `${percent(row.before, row.whole)} \u2192 ${percent(row.after, row.whole)}`,
        };
      }
      // Without any allocatable quantity, whatever is used is too much.
      const over = (value) => (value > 0 ? [{ kind: "over", from: 0, to: BAR_END }] : []);
      const isUsed = row.before > 0 || row.after > 0;
      return {
        name: row.name, isOver: row.after > 0, tracks: [over(row.before), over(row.after)],
        value: isUsed ? `${show(row.before)} \u2192 ${show(row.after)}` : "nothing allocatable", detail: isUsed ? "nothing allocatable" : "",
      };
    };
    const keys = [["used", "Used"], ["gain", "Given"], ["gone", "Given up"]];
    if (hasWhole) keys.push(["free", "Free"], ["over", "Above 100%"], ["line", "100%"]);
    const label = `${resource} of ${counted(everyone.length, "cluster")}, before and after`;
    holder.replaceChildren(barLegend(keys), bars(label, groups.map(({ title, rows }) => ({ title, bars: rows.map(bar) })), hasWhole));
  };

  const update = () => {
    draw();
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
        title: `Cost ${title} (${clusters.cost.unit} per hour)`, value: (index) => costValue(texts[index]), text: (index) => costText(texts[index]), numeric: true,
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
  draw();
  tables.append(clusterTable());
};
