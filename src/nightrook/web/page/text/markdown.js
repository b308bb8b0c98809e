// Reads Markdown into a tree of plain values. `parts/markdown_view.js` draws it; nothing here makes HTML.
//
// Blocks: heading, paragraph, code, list, quote, table, rule. Inline: text, code, strong, em, del, link.
// What an agent writes is hostile: every loop moves forward, and what is too deep stays plain text.

const DEEPEST = 8;
const LONGEST_INLINE = 20_000; // characters of one paragraph that are searched for marks

/** The blocks of a text. */
export function parse(text, depth = 0) {
  return new Blocks(text.replaceAll("\r\n", "\n").split("\n"), depth).read();
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

class Blocks {
  #lines;
  #depth;
  #at = 0;

  constructor(lines, depth) {
    this.#lines = lines;
    this.#depth = depth;
  }

  read() {
    const found = [];
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at];
      if (!line.trim()) this.#at += 1;
      else found.push(this.#block(line));
    }
    return found;
  }

  #block(line) {
    const fence = FENCE.exec(line);
    if (fence) return this.#code(fence);
    const heading = HEADING.exec(line);
    if (heading) return this.#take({ type: "heading", level: heading[1].length, inline: inline(heading[2]) });
    if (RULE.test(line)) return this.#take({ type: "rule" });
    if (this.#depth < DEEPEST && QUOTE.test(line)) return this.#quote();
    if (this.#depth < DEEPEST && ITEM.test(line)) return this.#list();
    if (this.#isTable()) return this.#table();
    return this.#paragraph();
  }

  #take(block) {
    this.#at += 1;
    return block;
  }

  #code([, mark, language]) {
    const lines = [];
    this.#at += 1;
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at];
      this.#at += 1;
      if (line.trim().startsWith(mark) && !line.trim().replaceAll(mark[0], "")) break;
      lines.push(line);
    }
    return { type: "code", language: language.trim(), text: lines.join("\n") };
  }

  #quote() {
    const lines = [];
    while (this.#at < this.#lines.length && QUOTE.test(this.#lines[this.#at])) {
      lines.push(QUOTE.exec(this.#lines[this.#at])[1]);
      this.#at += 1;
    }
    return { type: "quote", blocks: parse(lines.join("\n"), this.#depth + 1) };
  }

  #list() {
    const [, , bullet, number] = ITEM.exec(this.#lines[this.#at]);
    const items = [];
    while (this.#at < this.#lines.length) {
      const match = ITEM.exec(this.#lines[this.#at]);
      if (!match || Boolean(match[2]) !== Boolean(bullet)) break;
      items.push(this.#item(match));
    }
    return { type: "list", ordered: !bullet, start: bullet ? 1 : Number(number), items };
  }

  #item([, indent, , , first]) {
    const lines = [first];
    this.#at += 1;
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at];
      const deeper = line.length - line.trimStart().length > indent.length;
      if (!line.trim() ? !this.#continues(indent) : !deeper && (ITEM.test(line) || this.#interrupts(line, lines))) break;
      lines.push(deeper ? line.slice(Math.min(indent.length + 2, line.length - line.trimStart().length)) : line);
      this.#at += 1;
    }
    const done = /^\[([ xX])\]\s+/.exec(first);
    if (done) lines[0] = first.slice(done[0].length);
    return { checked: done ? done[1] !== " " : null, blocks: parse(lines.join("\n"), this.#depth + 1) };
  }

  /** Whether what follows a blank line still belongs to the list or its item. */
  #continues(indent) {
    const next = this.#lines[this.#at + 1];
    return next !== undefined && next.trim() !== "" && next.length - next.trimStart().length > indent.length;
  }

  #interrupts(line, lines) {
    return lines.at(-1).trim() === "" || FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || RULE.test(line);
  }

  #isTable() {
    const next = this.#lines[this.#at + 1];
    return this.#lines[this.#at].includes("|") && next !== undefined && next.includes("-") && next.length < 2000 && DIVIDER.test(next);
  }

  #table() {
    const rows = [cells(this.#lines[this.#at])];
    this.#at += 2;
    while (this.#at < this.#lines.length && this.#lines[this.#at].includes("|")) {
      rows.push(cells(this.#lines[this.#at]));
      this.#at += 1;
    }
    return { type: "table", head: rows[0], rows: rows.slice(1) };
  }

  #paragraph() {
    const lines = [];
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at];
      if (!line.trim() || (lines.length && (FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line)))) break;
      lines.push(line.trim());
      this.#at += 1;
    }
    return { type: "paragraph", inline: inline(lines.join("\n")) };
  }
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()));
}

const MARKS = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const SPECIAL = /[`*_~\[<\\!h]/g;
const ADDRESS = /^https?:\/\/[^\s<>"'`]+/;

/** The inline parts of a paragraph. */
export function inline(text, depth = 0) {
  if (text.length > LONGEST_INLINE || depth > DEEPEST) return [{ type: "text", text }];
  return new Inline(text, depth).read();
}

class Inline {
  #text;
  #depth;
  #at = 0;
  #plain = "";
  #parts = [];
  #unclosed = new Set(); // marks without an end: they are not searched again

  constructor(text, depth) {
    this.#text = text;
    this.#depth = depth;
  }

  read() {
    while (this.#at < this.#text.length) {
      SPECIAL.lastIndex = this.#at;
      const special = SPECIAL.exec(this.#text);
      const next = special ? special.index : this.#text.length;
      this.#plain += this.#text.slice(this.#at, next);
      this.#at = next;
      if (special && !this.#special(special[0])) {
        this.#plain += special[0];
        this.#at += 1;
      }
    }
    this.#flush();
    return this.#parts;
  }

  #flush() {
    if (this.#plain) this.#parts.push({ type: "text", text: this.#plain });
    this.#plain = "";
  }

  #add(part, length) {
    this.#flush();
    this.#parts.push(part);
    this.#at += length;
    return true;
  }

  #special(character) {
    switch (character) {
      case "`":
        return this.#code();
      case "\\":
        return this.#escaped();
      case "[":
        return this.#link(this.#at);
      case "!":
        return this.#text[this.#at + 1] === "[" && this.#link(this.#at + 1);
      case "<":
        return this.#address(this.#at + 1, 1);
      case "h":
        return this.#address(this.#at, 0);
      default:
        return this.#marked();
    }
  }

  #escaped() {
    const next = this.#text[this.#at + 1] ?? "";
    if (!/[\\`*_~[\]()#<>!|.+-]/.test(next)) return false;
    this.#plain += next;
    this.#at += 2;
    return true;
  }

  #end(mark, from) {
    if (this.#unclosed.has(mark)) return -1;
    const end = this.#text.indexOf(mark, from);
    if (end < 0) this.#unclosed.add(mark);
    return end;
  }

  #code() {
    const mark = /^`+/.exec(this.#text.slice(this.#at, this.#at + 20))[0];
    const start = this.#at + mark.length;
    const end = this.#end(mark, start);
    if (end < 0) return false;
    return this.#add({ type: "code", text: this.#text.slice(start, end).trim() }, end + mark.length - this.#at);
  }

  #marked() {
    for (const [mark, type] of MARKS) {
      if (!this.#text.startsWith(mark, this.#at)) continue;
      const start = this.#at + mark.length;
      const inWord = mark[0] === "_" && /\w/.test(this.#text[this.#at - 1] ?? "");
      const end = inWord || /\s/.test(this.#text[start] ?? " ") ? -1 : this.#end(mark, start + 1);
      if (end < 0 || /\s/.test(this.#text[end - 1])) continue;
      if (mark[0] === "_" && /\w/.test(this.#text[end + mark.length] ?? "")) continue;
      const parts = inline(this.#text.slice(start, end), this.#depth + 1);
      return this.#add({ type, parts }, end + mark.length - this.#at);
    }
    return false;
  }

  /** `[text](address)`; a picture is a link, too: nothing is loaded. */
  #link(open) {
    const middle = this.#end("](", open + 1);
    const end = middle < 0 || middle - open > 1000 ? -1 : this.#text.indexOf(")", middle + 2);
    if (end < 0 || end - middle > 2000) return false;
    const address = this.#text.slice(middle + 2, end).trim().split(/\s/, 1)[0];
    const label = this.#text.slice(open + 1, middle);
    return this.#add(linked(label || address, address), end + 1 - this.#at);
  }

  #address(start, brackets) {
    const address = ADDRESS.exec(this.#text.slice(start, start + 2000))?.[0].replace(/[.,;:!?)\]]+$/, "");
    if (!address) return false;
    if (brackets && this.#text[start + address.length] !== ">") return false;
    return this.#add(linked(address, address), address.length + 2 * brackets);
  }
}

/** A link if its address is one that a browser may open; else its text with the address behind it. */
function linked(text, address) {
  if (!isAddress(address)) return { type: "text", text: text === address ? text : `${text} (${address})` };
  return { type: "link", text, address };
}

/** Whether an address may be opened: http and https only, with no user name in it. */
export function isAddress(address) {
  // guards: http-links-only
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return false;
  const url = new URL(address);
  return !url.username && !url.password;
}
