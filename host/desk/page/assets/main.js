// Puts the page together: what is text first, then the charts.

const status = document.getElementById("status");

/** Opens the tables of charts for print, and closes them again. */
const printTables = () => {
  // A browser that only shows how print would look tells the query alone.
  addEventListener("beforeprint", printGrids);
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches) printGrids();
  });
  const opened = [];
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details.twin:not([open])").forEach((details) => {
      opened.push(details);
      details.fill();
      details.open = true;
    });
  });
  addEventListener("afterprint", () => {
    opened.splice(0).forEach((details) => {
      details.open = false;
    });
  });
};

/** Lets the browser draw what there is. */
const breath = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));

const start = async () => {
  if (typeof DecompressionStream === "undefined") {
    status.textContent = "This browser cannot unpack the data: the page needs Chrome 80, Firefox 113, Safari 16.4 or newer.";
    return;
  }
  const data = await unpack();
  if (data.command === "tables") data.tables.forEach(sheetSection);
  const sections = data.command === "tables" ? [] : [
    ...(data.command === "headroom" ? [growthSection] : []),
    clustersSection, regionsSection, bindingsSection,
    ...(data.command === "headroom" ? [] : [movesSection]),
  ];
  for (const make of sections) make(data);
  // A page of charts may have tables of its own below them.
  if (data.command !== "tables") data.tables?.forEach((sheet, index) => sheetSection(sheet, index + 1));
  status.hidden = true;
  performance.mark("divvy-rows");
  await breath();
  printTables();
  performance.mark("divvy-ready");
  document.documentElement.dataset.ready = "true";
};

start().catch((error) => {
  status.hidden = false;
  status.textContent = `The data of this page cannot be shown: ${error.message}`;
  throw error;
});
