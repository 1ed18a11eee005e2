// The plain Markdown of passages, answers and documents as elements: paragraphs, lists, tables, code, definitions and
// headings. The rules are those of surefoot.text.blocks, by which loaders write it; anything else stays as it is written.

import { address, h } from "./dom.js";
import { t } from "./language.js";

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)])\s+(?=\S)/;
const HEADING = /^(#{1,6})(?:\s+|$)/;
const RULE = /^\|(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?)?$/;
const WORDS = /`([^`\n]{1,400})`|\*\*([^*\n]{1,400})\*\*|!?\[([^\]\n]{1,400})\]\((https?:\/\/[^\s()<>]{1,2000})\)/g;
const LEAD = /^[ \t]*(?:(?:`{3,}|~{3,}).*|#{1,6}(?=[ \t])|[-*+•](?=[ \t])|:(?=[ \t]))/gm;
const LONGEST_LINE = 20000;

// The text with a NUL in place of each of its signs, so that offsets stay: for where plain words alone have room.
const erased = (signs) => "\0".repeat(signs.length);
export const unsigned = (text) =>
  text
    .replace(WORDS, (whole, code, strong, link) => {
      const words = code ?? strong ?? link;
      const start = whole.indexOf(words);
      return erased(whole.slice(0, start)) + words + erased(whole.slice(start + words.length));
    })
    .replace(/^[ \t]*\|.*$/gm, (row) => (RULE.test(row.trim()) ? erased(row) : row.replace(/^[ \t]*\||\|[ \t]*$/g, erased).replaceAll("|", "·")))
    .replace(LEAD, erased);

// Offsets of Python, which counts characters, as JavaScript's, which counts an emoji as two.
export function positions(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (place) => Math.max(0, Math.min(text.length, place));
  const starts = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) starts.push(at);
  starts.push(text.length);
  return (place) => starts[Math.max(0, Math.min(starts.length - 1, place))];
}

// The ranges of a passage that are worth a mark, in the offsets of JavaScript.
export function ranges(text, grade, strips) {
  const at = positions(text);
  const found = strips.map((strip) => ({ start: at(strip.start), end: at(strip.end), wrap: (words) => h(strip.kept ? "span" : "del", { class: strip.kept ? "kept" : null, title: strip.kept ? null : t("dropped", { reason: strip.reason }) }, words) }));
  if (grade?.span) found.push({ start: at(grade.span[0]), end: at(grade.span[1]), wrap: (words) => h("mark", {}, words) });
  return found;
}

// What writes a slice of the text: words within a range are wrapped as it says, the later ranges inside the earlier ones.
export function writer(text, ranges = []) {
  const known = ranges.filter(({ start, end }) => start < end).toSorted((a, b) => a.start - b.start);
  return (start, end, wrap = null) => {
    const near = known.filter((range) => range.start < end && range.end > start);
    const cuts = [...new Set([start, end, ...near.flatMap((range) => [range.start, range.end])])].filter((at) => at >= start && at <= end).toSorted((a, b) => a - b);
    return cuts.slice(1).map((to, n) => {
      const from = cuts[n];
      const words = wrap ? wrap(text.slice(from, to)) : text.slice(from, to);
      return ranges.reduceRight((inside, range) => (range.start <= from && to <= range.end ? range.wrap(inside, range) : inside), words);
    });
  };
}

// `ranges` are {start, end, wrap}, in JavaScript's offsets. `line` is the number of the first line of code, or null.
export function rendered(text, ranges = [], { line = null } = {}) {
  const write = writer(text, ranges);
  const lines = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    lines.push([at, end < 0 ? text.length : end]);
    at = end < 0 ? text.length : end + 1;
  }
  const slice = ([start, end]) => text.slice(start, end);
  const empty = (n) => n >= lines.length || !slice(lines[n]).trim();
  const begins = (words) => FENCE.test(words) || words.startsWith("|") || ITEM.test(words) || HEADING.test(words);
  const found = [];
  for (let n = 0; n < lines.length; ) {
    const words = slice(lines[n]);
    const fence = FENCE.exec(words)?.[1];
    let last = n + 1;
    if (!words.trim()) {
      n += 1;
      continue;
    }
    if (fence) {
      while (last < lines.length && !slice(lines[last]).trimStart().startsWith(fence)) last += 1;
      found.push(code(lines.slice(n + 1, last), write, line));
      n = last + 1;
      continue;
    }
    if (words.trimStart().startsWith("|")) {
      while (last < lines.length && slice(lines[last]).trimStart().startsWith("|")) last += 1;
      found.push(grid(text, lines.slice(n, last), write));
    } else if (ITEM.test(words)) {
      while (last < lines.length && (empty(last) ? last + 1 < lines.length && /^\s+\S/.test(slice(lines[last + 1])) : ITEM.test(slice(lines[last])) || (!begins(slice(lines[last])) && !empty(last - 1)) || /^\s/.test(slice(lines[last])))) last += 1;
      found.push(list(text, lines.slice(n, last), write));
    } else if (HEADING.test(words)) {
      found.push(h("p", { class: "heading", dir: "auto" }, sentence(text, lines[n][0] + HEADING.exec(words)[0].length, lines[n][1], write)));
    } else {
      const defines = last < lines.length && slice(lines[last]).startsWith(": ");
      while (last < lines.length && !empty(last) && (defines ? last === n + 1 || slice(lines[last]).startsWith("  ") : !begins(slice(lines[last])))) last += 1;
      if (defines) found.push(h("dl", { class: "definition" }, h("dt", { dir: "auto" }, sentence(text, ...lines[n], write)), h("dd", { dir: "auto" }, sentence(text, lines[n + 1][0] + 2, lines[last - 1][1], write))));
      else found.push(h("p", { dir: "auto" }, sentence(text, lines[n][0], lines[last - 1][1], write)));
    }
    n = last;
  }
  return found;
}

// Words in backticks are code, between two stars they are strong; the signs themselves are left out. A link leads only to
// the web, and a picture is a link: nothing is loaded.
function sentence(text, start, end, write) {
  if (end - start > LONGEST_LINE) return write(start, end);
  const nodes = [];
  let last = start;
  for (const found of text.slice(start, end).matchAll(WORDS)) {
    const [whole, code, strong, link, target] = found;
    const at = start + found.index;
    const from = at + whole.indexOf(code ?? strong ?? link);
    const wrap = (words) => (target ? address(target, words) : h(code === undefined ? "strong" : "code", {}, words));
    nodes.push(write(last, at), write(from, from + (code ?? strong ?? link).length, wrap));
    last = at + whole.length;
  }
  return [...nodes, write(last, end)];
}

function code(lines, write, line) {
  const numbered = line === null ? null : { start: line };
  const shown = lines.map(([start, end], n) => [h("span", { class: "line", "data-line": numbered ? line + n : null }, write(start, end)), "\n"]);
  return h("pre", { class: numbered ? "code numbered" : "code", tabindex: "0", role: "group", "aria-label": t("code") }, h("code", { dir: "ltr" }, shown));
}

function grid(text, lines, write) {
  const cells = ([start, end]) => {
    const found = [];
    let from = text.indexOf("|", start) + 1;
    while (from < end) {
      const next = text.indexOf("|", from);
      const to = next < 0 || next > end ? end : next;
      const words = text.slice(from, to);
      const lead = words.length - words.trimStart().length;
      if (next >= 0 || words.trim()) found.push([from + lead, Math.max(from + lead, from + words.trimEnd().length)]);
      from = to + 1;
    }
    return found;
  };
  const headed = lines.length > 1 && RULE.test(text.slice(...lines[1]).trim());
  const row = (kind) => (line) => h("tr", {}, cells(line).map(([start, end]) => h(kind, { scope: kind === "th" ? "col" : null }, sentence(text, start, end, write))));
  const body = lines.slice(headed ? 2 : 0).filter((line) => !RULE.test(text.slice(...line).trim()));
  return h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": t("table") }, h("table", { dir: "auto" }, headed ? h("thead", {}, row("th")(lines[0])) : null, h("tbody", {}, body.map(row("td")))));
}

// Items by their indentation: what is indented more than an item is a list within it, or its further lines.
function list(text, lines, write) {
  const top = { indent: -1, kind: null, items: [] };
  const open = [top];
  for (const [start, end] of lines) {
    const found = ITEM.exec(text.slice(start, end));
    if (!found) {
      const from = start + text.slice(start, end).length - text.slice(start, end).trimStart().length;
      if (from < end) open.at(-1).items.at(-1).lines.push([from, end]);
      continue;
    }
    const indent = found[1].length;
    while (open.length > 1 && open.at(-1).indent > indent) open.pop();
    if (open.at(-1).indent < indent && open.length < 12) {
      const inner = { indent, kind: /\d/.test(found[2]) ? "ol" : "ul", from: parseInt(found[2], 10), items: [] };
      (open.at(-1).items.at(-1)?.lists ?? top.items).push(inner);
      open.push(inner);
    }
    open.at(-1).items.push({ lines: [[start + found[0].length, end]], lists: [] });
  }
  const drawn = ({ kind, from, items }) =>
    h(kind, { start: kind === "ol" && from > 1 ? from : null, dir: "auto" }, items.map((item) => h("li", {}, item.lines.map((line, n) => [n ? "\n" : "", sentence(text, ...line, write)]), item.lists.map(drawn))));
  return top.items.map(drawn);
}
