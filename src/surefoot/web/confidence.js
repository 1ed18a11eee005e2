// How sure an answer is, and what that rests on.

import { h, isolated, table } from "./dom.js";
import { rich, t } from "./language.js";
import { isNumber, percentage, upper } from "./words.js";

const LEAST = 0.005;

const CERTAINTIES = { sure: t("sure"), likely: t("likely"), unsure: t("unsure"), "not found": t("not_found") };
// The facts that the server names.
const FACTORS = {
  "grade of the cited passage": t("factor_grade"),
  "words at which the evaluator points that it holds": t("factor_held"),
  "place of its passage in retrieval": t("factor_place"),
  "passages that point at the same words": t("factor_same"),
  "passages that point at other words": t("factor_others"),
  "words that no cited passage has": t("factor_outside"),
};

// The word of the trace for it; empty: an older trace.
export const wordOf = (answer) => answer.certainty ?? (isNumber(answer.confidence) ? (answer.hedged || answer.refused ? "unsure" : "sure") : "");

// In a word and a percentage. Of a refusal the percentage would be of what it withholds.
export function certaintyOf(answer) {
  const word = CERTAINTIES[wordOf(answer)] ?? wordOf(answer);
  return isNumber(answer.confidence) && !answer.refused ? t("certainty", { word, percent: percentage(Math.round(answer.confidence * 100) / 100) }) : word;
}

// What the certainty rests on, or why it has no percentage; null: nothing that the answer does not say itself.
export function factorsOf(answer) {
  if (answer.unjudged) return answer.unjudged === answer.because ? null : h("p", { class: "dim small" }, answer.certainty ? rich("no_percentage", { reason: isolated(answer.unjudged) }) : rich("no_confidence", { reason: isolated(answer.unjudged) }));
  if (!isNumber(answer.confidence)) return null;
  const telling = (answer.factors ?? []).filter(({ adds }) => Math.abs(adds) >= LEAST).toSorted((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const rows = telling.map(({ name, adds }) => [isolated(FACTORS[name] ?? name), effect(adds)]);
  return table(t("what_makes_sure"), [{ name: t("fact"), head: true }, { name: t("effect") }], rows);
}

export function sureness(answer) {
  const factors = factorsOf(answer);
  const words = certaintyOf({ ...answer, refused: false }).replace(", ", " · ");
  return factors && words ? h("details", { class: "plain sureness" }, h("summary", {}, upper(words)), factors) : factors;
}

function effect(adds) {
  if (Math.abs(adds) >= 1) return adds > 0 ? t("much_surer") : t("much_less_sure");
  if (Math.abs(adds) < 0.3) return adds > 0 ? t("little_surer") : t("little_less_sure");
  return adds > 0 ? t("surer") : t("less_sure");
}
