// Names in lines, so that none is cut: a name that is wider than its place is broken, after a hyphen or a slash where it has one.

/** The width of a character of the root's text in pixels is this much of 16: 1, unless the reader chose larger text. */
const zoom = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** Kerning and tabular figures, which a canvas does not know. */
const SLACK = 1.04;

/** Widths of single characters in a font. @param {string} font As in CSS. @returns {(character: string) => number} */
const widths = (font) => {
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = font;
  const known = new Map();
  return (character) => {
    let width = known.get(character);
    if (width === undefined) {
      width = ruler.measureText(character).width * SLACK;
      known.set(character, width);
    }
    return width;
  };
};

/** Breaks a name into lines. @param {string} name @param {number} room In pixels. @param {(character: string) => number} widthOf */
const broken = (name, room, widthOf) => {
  const lines = [];
  let start = 0;
  let width = 0;
  /** After the last character at which the line may end, and the width until there. */
  let stop = 0;
  let stopWidth = 0;
  let index = 0;
  for (const character of name) {
    const own = widthOf(character);
    if (width + own > room && index > start) {
      // A short line is worse than a word in two.
      const isGood = stop > start && stopWidth > room / 3;
      const end = isGood ? stop : index;
      lines.push(name.slice(start, end));
      width = isGood ? width - stopWidth : 0;
      start = end;
      stop = end;
    }
    width += own;
    index += character.length;
    if ("-/._ ".includes(character)) {
      stop = index;
      stopWidth = width;
    }
  }
  lines.push(name.slice(start));
  return lines;
};

/** A name in lines as an element. @param {string[]} lines */
const inLines = (lines) => element("span", {}, ...lines.flatMap((line, index) => (index === 0 ? [line] : [element("br"), line])));
