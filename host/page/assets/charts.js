// Apache ECharts, set up for this page: colours of the style sheet, patterns beside colours, no markup in tooltips (they are drawn,
// because a Content Security Policy without inline styles forbids markup that has them).

/** The charts that exist, to be drawn anew when colours change. @type {Set<() => void>} */
const drawn = new Set();

/** A colour of the style sheet. @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Patterns: sign and kind must not rest on colour alone. */
const patterns = {
  lines: () => ({ symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4, color: colour("pattern") }),
  dots: () => ({ symbol: "circle", symbolSize: 0.7, dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [5, 0], color: colour("pattern") }),
  grid: () => ({ symbol: "rect", dashArrayX: [[1, 4]], dashArrayY: [1, 4], color: colour("pattern") }),
};

/** Functions to run when the library is loaded. @type {(() => void)[]} */
const waiting = [];

/** A chart. It is drawn when the library is there: the rows of the page do not wait for it.
 * @param {HTMLElement} node @param {() => Object} option @param {string} label A sentence that describes the chart. */
const chart = (node, option, label) => {
  node.classList.add("chart");
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", label);
  let instance = null;
  const draw = () => {
    if (!instance) return;
    instance.setOption({
      // A report is read, not watched; nothing moves for those who prefer that, either.
      animation: false,
      backgroundColor: "transparent",
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colour("ink") },
      aria: { enabled: true, label: { description: label } },
      ...option(),
    }, true);
    instance.resize();
  };
  waiting.push(() => {
    instance = echarts.init(node, null, { renderer: "canvas", devicePixelRatio: Math.max(2, window.devicePixelRatio || 1) });
    draw();
    drawn.add(draw);
    new ResizeObserver(() => instance.resize()).observe(node);
  });
  return { draw };
};

/** Runs the library, whose text the page holds, and draws the charts that wait. The page's policy knows the text by its hash. */
const drawWaiting = async () => {
  const holder = document.getElementById("charts");
  const library = document.createElement("script");
  library.textContent = holder.textContent;
  holder.remove();
  document.head.append(library);
  for (const begin of waiting.splice(0)) {
    begin();
    await breath();
  }
};

/** A tooltip in the page's colours. @param {(parameters: any) => string} formatter */
const tooltip = (formatter) => ({
  renderMode: "richText", confine: true, backgroundColor: colour("raised"), borderColor: colour("line"),
  textStyle: { color: colour("ink"), fontSize: 12 }, formatter,
});

const redraw = () => drawn.forEach((draw) => draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
matchMedia("print").addEventListener("change", redraw);
