// Labels that are cut, leave their box or cover one another, as a list of sentences. What can be scrolled into sight is not cut.
(() => {
  const found = new Set();
  const { innerWidth } = window;
  const say = (text, element, why) => {
    const path = [element, element.parentElement].map((node) => `${node.tagName.toLowerCase()}.${node.getAttribute("class") ?? ""}`).join(" in ");
    found.add(`${why}: "${text.trim().slice(0, 60)}" of ${path}`);
  };
  const styles = new Map();
  const style = (node) => {
    if (!styles.has(node)) styles.set(node, getComputedStyle(node));
    return styles.get(node);
  };
  const boxes = new Map();
  const box = (node) => {
    if (!boxes.has(node)) boxes.set(node, node.getBoundingClientRect());
    return boxes.get(node);
  };
  const isOutside = (rect, outer) =>
    rect.left < outer.left - 1 || rect.right > outer.right + 1 || rect.top < outer.top - 2 || rect.bottom > outer.bottom + 2;
  const labels = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const parent = text.parentElement;
    if (text.data.trim() === "" || parent.closest("script, style, noscript, option, .hidden, .skip")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0);
    if (rects.length === 0) continue;
    // The header of a heat map and its names stay while the cells scroll beneath them.
    const isScrolledCell = parent.closest(".grid .cell") !== null;
    let node = parent;
    while (style(node).display === "inline") node = node.parentElement;
    for (const rect of rects) {
      if (isOutside(rect, box(node))) say(text.data, parent, "leaves its box");
      let above = node;
      let scrolls = false;
      for (; above && above !== document.documentElement; above = above.parentElement) {
        const { overflowX, overflowY } = style(above);
        if (overflowX === "visible" && overflowY === "visible") continue;
        scrolls = overflowX === "auto" || overflowX === "scroll";
        if (scrolls) break;
        if (isOutside(rect, box(above))) say(text.data, parent, "is cut");
      }
      if (!scrolls && (rect.left < -1 || rect.right > innerWidth + 1)) say(text.data, parent, "leaves the page");
    }
    if (style(node).textOverflow === "ellipsis" && node.scrollWidth > node.clientWidth) say(text.data, parent, "ends in an ellipsis");
    const chart = parent.closest(".bars, .flow, .grid .head, .grid .line, .figures, .legend, .printed tr");
    if (chart && !isScrolledCell) labels.set(chart, [...(labels.get(chart) ?? []), ...rects.map((rect) => [rect, text.data, parent])]);
  }
  const isOver = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const isFixed = (node) => node.closest(".corner, .group") !== null;
  for (const all of labels.values()) {
    all.forEach(([rect, text, parent], index) => {
      for (const [other, more, its] of all.slice(index + 1)) {
        // Names of columns pass beneath the corner of a heat map.
        if (isFixed(parent) === isFixed(its) && isOver(rect, other)) say(`${text.trim()} / ${more.trim()}`, parent, "covers another");
      }
    });
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) found.add(`the page is ${document.documentElement.scrollWidth} pixels wide`);
  return [...found].slice(0, 20);
})()
