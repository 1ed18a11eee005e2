// What a trace and its explanations are drawn with, wherever they are shown.

import { h, more, part, isolated, svg, table } from "./dom.js";
import { counted, t } from "./language.js";
import { isNumber, percentage, short, signed, upper } from "./words.js";

export const checked = (is, words, why) => h("span", { class: is ? "yes" : "no" }, h("span", { "aria-hidden": "true" }, is ? "✓ " : "✗ "), words, why ? [": ", isolated(why)] : null);

const DEGREES = [0.15, 0.4, 0.7];
const SIDES = { question: t("side_question"), title: t("side_title"), text: t("side_text"), passage: t("side_passage") };

// `plain`: for a person who asks, not for one who measures: effects as shares, and no scores.
export function attributionPart(found, plain = false) {
  const most = Math.max(...found.values.map(Math.abs), 0);
  const strength = (value) => (most ? DEGREES.filter((least) => Math.abs(value) >= least * most).length : 0);
  const word = (unit, n) => {
    const value = found.values[n];
    const degree = strength(value);
    const signs = (value > 0 ? "+" : "−").repeat(degree);
    return [h("span", { class: degree ? `${value > 0 ? "up" : "down"}${degree}` : null, title: plain ? effect(value) : `${signed(value)} ± ${short(found.errors[n])}` }, isolated(unit.words), signs ? h("sup", {}, signs) : null), " "];
  };
  const sides = Object.keys(SIDES).filter((side) => found.units.some((unit) => unit.side === side));
  const order = found.values.map((_, n) => n).toSorted((a, b) => Math.abs(found.values[b]) - Math.abs(found.values[a]));
  const total = found.values.reduce((sum, value) => sum + Math.abs(value), 0) || 1;
  const portion = (value) => ({ percent: percentage(Math.abs(value) / total) });
  const effect = (value) => (value < 0 ? t("lowers", portion(value)) : t("raises", portion(value)));
  const rows = order.slice(0, 400).map((n) => [isolated(found.units[n].words), SIDES[found.units[n].side], ...(plain ? [effect(found.values[n])] : [signed(found.values[n]), short(found.errors[n])])]);
  return part(
    t("words_that_moved"),
    2,
    plain ? null : h("p", {}, isolated(upper(found.of)), `: from ${short(found.base)} without words to ${short(found.full)}.`),
    h("p", { class: "dim small" }, t("signs")),
    h("dl", { class: "words" }, sides.map((side) => h("div", {}, h("dt", {}, SIDES[side]), h("dd", {}, found.units.map((unit, n) => (unit.side === side ? word(unit, n) : null)))))),
    more(plain ? t("all_words") : "All values", plain ? table(t("share_of_words"), [{ name: t("word"), head: true }, { name: t("of") }, { name: t("effect"), right: true }], rows) : table("The Shapley value of each word", [{ name: "word", head: true }, { name: "of" }, { name: "value", right: true }, { name: "± standard error", right: true }], rows)),
    plain ? null : h("p", { class: "dim small" }, `${found.method}${found.baseline ? `, baseline ${found.baseline}` : ""}; ${counted(found.evaluations)} texts graded; gap ${short(found.gap)}; seed ${found.seed}${found.reached ? "" : "; the tolerance was not reached"}.`, (found.notes ?? []).map((note) => [" ", isolated(note), "."])),
  );
}

export const share = (value, total) => svg("svg", { class: "share", viewBox: "0 0 100 10", "aria-hidden": "true", preserveAspectRatio: "none" }, svg("rect", { x: 0, y: 0, width: total ? (100 * (value || 0)) / total : 0, height: 10 }));
