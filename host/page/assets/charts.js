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

/** Draws a chart. @param {HTMLElement} node @param {() => Object} option @param {string} label What it shows, in a sentence. */
const chart = (node, option, label) => {
  node.classList.add("chart");
  node.setAttribute("role", "img");
  const instance = echarts.init(node, null, { renderer: "canvas", devicePixelRatio: Math.max(2, window.devicePixelRatio || 1) });
  const draw = () => {
    instance.setOption({
      // A report is read, not watched; nothing moves for those who prefer that, either.
      animation: false,
      backgroundColor: "transparent",
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colour("ink") },
      aria: { enabled: true, label: { description: label } },
      ...option(),
    }, true);
    instance.resize();
    // ECharts names the canvas' parent, but only with data; a chart that is empty keeps its sentence.
    node.setAttribute("aria-label", label);
  };
  draw();
  drawn.add(draw);
  new ResizeObserver(() => instance.resize()).observe(node);
  return { draw, instance, dispose: () => {
    drawn.delete(draw);
    instance.dispose();
  } };
};

/** A tooltip in the page's colours. @param {(parameters: any) => string} formatter */
const tooltip = (formatter) => ({
  renderMode: "richText", confine: true, backgroundColor: colour("raised"), borderColor: colour("line"),
  textStyle: { color: colour("ink"), fontSize: 12 }, formatter,
});

const redraw = () => drawn.forEach((draw) => draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
matchMedia("print").addEventListener("change", redraw);
