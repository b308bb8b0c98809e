import assert from "node:assert/strict";
import { test } from "node:test";
import { visible, visibleParts } from "../../../src/nightrook/web/page/text/visible.js";

test("hidden characters are shown by their symbol or code", () => {
  assert.equal(visible("a\x1b[31mb\x7f"), "a␛[31mb␡");
  assert.equal(visible("a\u202eb\u200bc\u3164d\ufeffe\ud800"), "a‹U+202E›b‹U+200B›c‹U+3164›d‹U+FEFF›e‹U+D800›");
  assert.equal(visible("tag\u{e0041}"), "tag‹U+E0041›");
});

test("what people read stays as it is", () => {
  const text = "    grüße, 日本語, naïve\tx";
  assert.equal(visible(text), text);
});

test("many blanks in a line are counted, its indentation is kept", () => {
  assert.equal(visible(`ls${" ".repeat(2600)}; rm -rf ~`), "ls␠×2600; rm -rf ~");
  assert.equal(visible(`${" ".repeat(20)}x`), `${" ".repeat(20)}x`);
});

test("blank lines cannot push the end out of sight", () => {
  const lines = visibleParts(`echo a${"\n".repeat(500)}rm -rf ~`).flat();
  assert.deepEqual(lines.map((line) => line.text), ["echo a", "… 499 blank lines", "rm -rf ~"]);
});

test("every part fits on a screen, and all parts together are the whole text", () => {
  const text = Array.from({ length: 300 }, (_, at) => `line ${at} ${"x".repeat((at * 37) % 2000)}`).join("\n");
  const parts = visibleParts(text);
  for (const part of parts) {
    assert.ok(part.length <= 10);
    assert.ok(part.reduce((sum, line) => sum + line.text.length, 0) <= 500 || part.length === 1);
  }
  const again = parts.flat().reduce((whole, line) => whole + (line.continued || !whole ? "" : "\n") + line.text, "");
  assert.equal(again, text);
});
