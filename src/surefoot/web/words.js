// How numbers, names and texts are put.

import { h, unseen } from "./dom.js";

export const SIGNS = { low: "▼", moderate: "◆", high: "▲" };
const LONG = 6000;

export const spaced = (name) => name.replaceAll("_", " ");
export const upper = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
export const fixed = (value, digits = 2) => (isNumber(value) ? value.toFixed(digits).replace("-", "−") : "–");
export const short = (value) => (isNumber(value) ? String(Number(value.toPrecision(3))).replace("-", "−") : "–");
// A score as the evaluator gives it: two digits, and more where these would say 0.
export const scored = (value) => (isNumber(value) && value && Math.abs(value) < 0.005 ? short(value) : fixed(value));
export const signed = (value) => (isNumber(value) ? (value > 0 ? "+" : "") + fixed(value) : "–");
export const counted = (value) => (isNumber(value) ? value.toLocaleString("en") : "–");
export const many = (count, one, several = `${one}s`) => `${counted(count)} ${count === 1 ? one : several}`;
export const interval = (low, high) => (isNumber(low) && isNumber(high) ? `[${fixed(low)}, ${fixed(high)}]` : "");
export const levelOf = (value) => (value < 0.5 ? "low" : value < 0.9 ? "moderate" : "high");
// A mean that rounding would carry over the border of its level keeps a digit more.
export const meanOf = (one) => fixed(one.mean, isNumber(one.mean) && one.level && levelOf(Number(fixed(one.mean))) !== one.level ? 3 : 2);
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
export const seconds = (value) => (isNumber(value) ? (value < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`) : "–");

// Part of an address, as it was before it was escaped.
export const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// All that was found: what the answer cites, the rest by its score, what is graded incorrect last.
export function ranked(trace) {
  const cited = new Set((trace.answer?.citations ?? []).map((one) => one.strip?.passage_id));
  const trust = ({ passage, grade }) => (cited.has(passage.id) ? 2 : grade?.label === "incorrect" ? 0 : 1);
  const every = [...trace.passages, ...trace.external].map((passage, n) => ({ passage, grade: trace.grades[n], rank: n + 1 }));
  return every.toSorted((a, b) => trust(b) - trust(a) || (b.grade?.score ?? -Infinity) - (a.grade?.score ?? -Infinity) || a.rank - b.rank);
}

export function level(name) {
  return Object.hasOwn(SIGNS, name ?? "") ? h("span", { class: `level ${name}` }, h("span", { "aria-hidden": "true" }, `${SIGNS[name]} `), name) : "–";
}

export function valueOf(value) {
  if (isNumber(value)) return h("span", { class: `value ${levelOf(value)}` }, fixed(value));
  return h("span", { class: "value none" }, value === "n/a" ? "n/a" : value === "unscored" ? h("span", {}, "?", unseen(" unscored")) : "–");
}

export function gainOf(gain) {
  return [`${signed(gain.difference)} `, h("span", { class: "dim" }, `${interval(gain.low, gain.high)}, p ${gain.p < 0.001 ? "< 0.001" : `= ${short(gain.p)}`}, ${many(gain.questions, "question")}`)];
}

export const json = (value) => h("pre", {}, h("code", { dir: "auto" }, JSON.stringify(value, null, 2)));

// Offsets count characters, as Python does; JavaScript counts an emoji as two.
export function slicer(text) {
  const points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  return { length: points ? points.length : text.length, slice: (start, end) => (points ? points.slice(start, end).join("") : text.slice(start, end)) };
}

// A text in full, or its beginning and a button for the rest.
export function long(text, render = (shown) => [shown]) {
  if (text.length <= LONG) return h("div", { class: "text", dir: "auto" }, render(text));
  const box = h("div", { class: "text", dir: "auto" }, render(text.slice(0, LONG)), "… ");
  box.append(h("button", { type: "button", click: () => {
    box.replaceChildren(...render(text).flat());
    box.tabIndex = -1;
    box.focus();
  } }, `Show all ${counted(text.length)} characters`));
  return box;
}

// Markdown of a diagnosis: paragraphs, lists, code, bold and italics; anything else stays as it is written.
export function markdown(text) {
  const blocks = [];
  let block = null;
  const open = (kind, fresh) => {
    if (fresh || block?.kind !== kind) blocks.push((block = { kind, lines: [] }));
    return block.lines;
  };
  for (const line of String(text ?? "").split(/\r\n?|\n/)) {
    const item = /^\s*(?:([-*•])|\d{1,3}[.)])\s+(.*)$/.exec(line);
    if (/^\s*```/.test(line)) block?.kind === "pre" ? (block = null) : open("pre", true);
    else if (block?.kind === "pre") block.lines.push(line);
    else if (item) open(item[1] ? "ul" : "ol").push(item[2]);
    else if (!line.trim()) block = null;
    else if (block && block.kind !== "p" && /^\s/.test(line)) block.lines[block.lines.length - 1] += ` ${line.trim()}`;
    else open("p").push(line);
  }
  return blocks.map(({ kind, lines }) => {
    if (kind === "pre") return h("pre", {}, h("code", { dir: "auto" }, lines.join("\n")));
    if (kind === "p") return h("p", { dir: "auto" }, inline(lines.join(" ")));
    return h(kind, {}, lines.map((line) => h("li", { dir: "auto" }, inline(line))));
  });
}

const MARKED = /`([^`]+)`|\*\*([^*]+(?:\*[^*]+\*[^*]*)*)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|(?<!\w)_([^_\s](?:[^_]*[^_\s])?)_(?!\w)/g;

function inline(text) {
  if (text.length > 20000) return [text];
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(MARKED)) {
    const [whole, code, bold, star, line] = found;
    nodes.push(text.slice(last, found.index));
    nodes.push(code ? h("code", {}, code) : bold ? h("strong", {}, inline(bold)) : h("em", {}, star ?? line));
    last = found.index + whole.length;
  }
  return [...nodes, text.slice(last)];
}
