import assert from "node:assert/strict";
import { test } from "node:test";
import { inline, isAddress, parse } from "../../../src/nightrook/web/page/text/markdown.js";

const types = (text) => parse(text).map((block) => block.type);
const plain = (parts) => parts.map((part) => part.text ?? plain(part.parts)).join("");

test("blocks are told apart", () => {
  const text = "# A\n\ntext\nmore\n\n- one\n- two\n\n1. three\n\n> said\n\n---\n\n```py\nx = 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |";
  assert.deepEqual(types(text), ["heading", "paragraph", "list", "list", "quote", "rule", "code", "table"]);
});

test("code keeps every character, and ends at its own fence", () => {
  const [code, after] = parse("````\n```\n**not bold**\n````\nafter");
  assert.deepEqual(code, { type: "code", language: "", text: "```\n**not bold**" });
  assert.equal(plain(after.inline), "after");
});

test("code without an end reaches to the end", () => {
  assert.deepEqual(parse("```\na\nb"), [{ type: "code", language: "", text: "a\nb" }]);
});

test("lists nest, and remember what is done", () => {
  const [list] = parse("- [x] done\n- open\n  - inner\n");
  assert.equal(list.items[0].checked, true);
  assert.equal(list.items[1].checked, null);
  assert.equal(list.items[1].blocks[1].type, "list");
});

test("marks inside a paragraph nest", () => {
  const [strong, , code] = inline("**a *b* c** and `d*e*`");
  assert.equal(strong.type, "strong");
  assert.equal(strong.parts[1].type, "em");
  assert.deepEqual(code, { type: "code", text: "d*e*" });
});

test("names with underscores stay as they are", () => {
  assert.deepEqual(inline("snake_case_name and 2 * 3 * 4"), [{ type: "text", text: "snake_case_name and 2 * 3 * 4" }]);
});

test("only addresses that a browser may open become links", () => {
  assert.deepEqual(inline("[x](https://example.org/a)"), [{ type: "link", text: "x", address: "https://example.org/a" }]);
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "//evil", "https://user@host/", "vbscript:x", "JaVaScRiPt:x"]) {
    assert.equal(isAddress(bad), false, bad);
    assert.ok(inline(`[x](${bad})`).every((part) => part.type === "text"), bad);
  }
});

test("a picture is a link: nothing is loaded", () => {
  assert.equal(inline("![alt](https://example.org/a.png)")[0].type, "link");
});

test("no character of a text is lost", () => {
  const text = "a < b & c > d <script>alert(1)</script> &lt; **x** [broken](no";
  assert.equal(plain(inline(text)), text.replaceAll("**", ""));
});

test("hostile text is read in time that grows with its length", () => {
  const texts = ["*".repeat(19_000), "[".repeat(19_000), "`".repeat(19_000), "> ".repeat(5_000), "- ".repeat(5_000), "_a".repeat(9_000), "|".repeat(1_900) + "\n" + "-|".repeat(990), `${"a ".repeat(9_000)}\n`.repeat(50), "**a".repeat(6_000), "[a](".repeat(4_000)];
  for (const text of texts) {
    const before = process.cpuUsage();
    parse(text);
    const spent = process.cpuUsage(before).user / 1000; // CPU: a busy machine must not matter
    assert.ok(spent < 1_000, `${text.slice(0, 10)}… took ${spent} ms`);
  }
});
