// How numbers, names and texts are put.

import { h, unseen } from "./dom.js";
import { counted, rounded, t } from "./language.js";

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
export const many = (count, one, several = `${one}s`) => `${counted(count)} ${count === 1 ? one : several}`;
// A score is a share of the best there is.
export const percentage = (value, digits = 0) => (isNumber(value) ? t("percent", { n: (100 * value).toFixed(digits) }) : "–");
export const points = (value) => (isNumber(value) ? `${value > 0 ? "+" : ""}${(100 * value).toFixed(1).replace("-", "−")} points` : "–");
export const interval = (low, high) => (isNumber(low) && isNumber(high) ? `${(100 * low).toFixed(0)} to ${percentage(high)}` : "");
export const levelOf = (value) => (value < 0.5 ? "low" : value < 0.9 ? "moderate" : "high");
// A mean that rounding would carry over the border of its level keeps a digit more.
export const meanOf = (one) => percentage(one.mean, isNumber(one.mean) && one.level && levelOf(Number(one.mean.toFixed(2))) !== one.level ? 1 : 0);
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
export const seconds = (value) => (isNumber(value) ? (value < 1 ? `${rounded(value * 1000)} ms` : `${rounded(value)} s`) : "–");

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

const LEVELS = { low: t("low"), moderate: t("moderate"), high: t("high") };

export function level(name) {
  return Object.hasOwn(SIGNS, name ?? "") ? h("span", { class: `level ${name}` }, h("span", { "aria-hidden": "true" }, `${SIGNS[name]} `), LEVELS[name]) : "–";
}

export function valueOf(value) {
  if (isNumber(value)) return h("span", { class: `value ${levelOf(value)}` }, percentage(value));
  return h("span", { class: "value none" }, value === "n/a" ? "n/a" : value === "unscored" ? h("span", {}, "?", unseen(" unscored")) : "–");
}

export function gainOf(gain) {
  return [`${points(gain.difference)} `, h("span", { class: "dim" }, `(${points(gain.low)} to ${points(gain.high)}), p ${gain.p < 0.001 ? "< 0.001" : `= ${short(gain.p)}`}, ${many(gain.questions, "question")}`)];
}

export const json = (value) => h("pre", {}, h("code", { dir: "auto" }, JSON.stringify(value, null, 2)));

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
