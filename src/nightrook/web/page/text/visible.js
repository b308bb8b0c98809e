// Makes hidden characters visible, where a person decides by every character of a text.

const MOST_BLANKS = 8; // more in a row are counted
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{1d159}\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;
const OTHER_BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
const BLANKS = new RegExp(`(?<=\\S) {${MOST_BLANKS + 1},}`, "g");

/** Text in which nothing is hidden: `␛` for a control character, `‹U+202E›` for other hidden ones. */
export function visible(text) {
  return text
    .replace(HIDDEN, shown) // guards: hidden-visible
    .replace(OTHER_BLANKS, code)
    .replace(BLANKS, (run) => `␠×${run.length}`);
}

const LINES_OF_A_PART = 10;
const LONGEST_PART = 500; // characters; on a phone they take half of the screen

/**
 * The lines to decide by, in parts that fit on a screen, so that each can be seen whole: lists of
 * `{text, ours, continued}`. Of blank lines at most three in a row are kept, more are counted.
 */
export function visibleParts(text) {
  const parts = [];
  let length = Infinity;
  for (const line of visibleLines(text)) {
    if (length + line.text.length > LONGEST_PART || parts.at(-1).length === LINES_OF_A_PART) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1).push(line);
    length += line.text.length;
  }
  return parts;
}

function visibleLines(text) {
  const lines = [];
  let blank = 0;
  for (const line of text.split("\n")) {
    blank = line.trim() ? 0 : blank + 1;
    if (blank > 3) {
      if (blank === 4) lines.splice(-3);
      else lines.pop();
      lines.push({ text: `… ${blank} blank lines`, ours: true });
      continue;
    }
    pieces(visible(line)).forEach((piece, at) => lines.push({ text: piece, continued: at > 0 }));
  }
  return lines;
}

function pieces(text) {
  const found = [];
  for (let at = 0; at < text.length || at === 0; at += LONGEST_PART) found.push(text.slice(at, at + LONGEST_PART));
  return found;
}

function shown(character) {
  const number = character.codePointAt(0);
  if (number === 0x7f) return "␡";
  return number < 0x20 ? String.fromCodePoint(0x2400 + number) : code(character);
}

function code(character) {
  return `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
}
