// The data: unpacked by the browser itself, then indexed by binding.

/**
 * @typedef {Object} Data Columns; `src/data/mod.rs` writes them. Names are indexes into lists, and −1 stands for an absent count.
 * @property {"schedule" | "diff" | "headroom"} command
 * @property {[string, string]} states Words for the two states.
 * @property {[string, string]} clusterStates The same for clusters.
 * @property {Record<string, number>} totals
 * @property {boolean} partial True if only some clusters are shown, so that no move can be followed.
 * @property {string[]} texts
 * @property {string[]} regions
 * @property {string[]} namespaces
 * @property {{name: string[], region: number[], exists: boolean[], from: number[], to: number[],
 *   usage: Record<string, {allocatable: number[], from: number[], to: number[]}>,
 *   cost?: {unit: string, from: string[], to: string[]}}} clusters Costs are texts, because their numbers are exact.
 * @property {Record<string, any[]>} bindings
 * @property {{binding: number[], cluster: number[], from: number[], to: number[], why: number[]}} cells
 * @property {number[][]} reasons Runs of three: first cluster, number of clusters, text.
 * @property {{region: number[], namespace: number[], from: number[], to: number[], changed: number[]}} matrix
 * @property {{regions: [number | string, number | string, number][], pairs: [number, number, number][], allPairs: number}} flows
 * @property {Record<string, any[]>} growth
 * @property {number[]} first Index of the first cell of each binding, and the number of cells at the end.
 */

/** Unpacks the data. @returns {Promise<Data>} */
const unpack = async () => {
  const packed = document.getElementById("data");
  const text = atob(packed.textContent.trim());
  packed.textContent = "";
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = await new Response(stream).json();
  if (data.command === "tables") return data;
  const first = new Array(data.bindings.key.length + 1).fill(0);
  for (const binding of data.cells.binding) first[binding + 1] += 1;
  for (let index = 1; index < first.length; index += 1) first[index] += first[index - 1];
  return { ...data, first };
};

/** Name of a region; clusters without one form a region of their own. @param {Data} data @param {number} region */
const regionName = (data, region) => data.regions[region] || "(no region)";

/** Name of a namespace. @param {Data} data @param {number} namespace */
const namespaceName = (data, namespace) => data.namespaces[namespace] || "(cluster-wide)";

/** Index of a cell, or −1: the cells of a binding are sorted by cluster. @param {Data} data */
const cellOf = (data, binding, cluster) => {
  let low = data.first[binding];
  let high = data.first[binding + 1] - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = data.cells.cluster[middle];
    if (found === cluster) return middle;
    if (found < cluster) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
};

/** The reason for the replicas of a binding on a cluster. @param {Data} data */
const reasonOf = (data, binding, cluster) => {
  const { bindings, cells, texts } = data;
  const cell = cellOf(data, binding, cluster);
  const message = texts[bindings.message[binding]];
  if (cell >= 0 && cells.why[cell] >= 0) return texts[cells.why[cell]];
  const list = bindings.reasons[binding];
  const runs = list >= 0 ? data.reasons[list] : [];
  for (let index = 0; index < runs.length; index += 3) {
    if (cluster >= runs[index] && cluster < runs[index] + runs[index + 1]) return texts[runs[index + 2]];
  }
  if (message) return message;
  const result = texts[bindings.result[binding]];
  if (result === "Satisfied" && cell >= 0) {
    return cells.from[cell] === cells.to[cell]
      ? "satisfied: the binding is not decided again and stays where it is"
      : "the cluster is gone; the binding is not decided again";
  }
  if (result === "Satisfied") return "satisfied: the binding is not decided again";
  if (!data.clusters.exists[cluster]) return "the cluster is gone";
  return "no reason recorded";
};

/** Replicas of a state, where an absent count is none. @param {number} value */
const replicasOf = (value) => Math.max(value, 0);
