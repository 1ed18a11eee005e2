// How sure an answer is, and what that rests on.

import { h, isolated, table } from "./dom.js";
import { isNumber, upper } from "./words.js";

const LEAST = 0.005;

// In a word and a percentage; empty: an older trace. Of a refusal the percentage would be of what it withholds.
export function certaintyOf(answer) {
  const word = answer.certainty ?? (isNumber(answer.confidence) ? (answer.hedged || answer.refused ? "unsure" : "sure") : "");
  return isNumber(answer.confidence) && !answer.refused ? `${word}, ${Math.round(answer.confidence * 100)} %` : word;
}

// What the certainty rests on, or why it has no percentage; null: nothing that the answer does not say itself.
export function factorsOf(answer) {
  if (answer.unjudged) return answer.unjudged === answer.because ? null : h("p", { class: "dim small" }, answer.certainty ? "No percentage: " : "No confidence: ", isolated(answer.unjudged), ".");
  if (!isNumber(answer.confidence)) return null;
  const telling = (answer.factors ?? []).filter(({ adds }) => Math.abs(adds) >= LEAST).toSorted((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const rows = telling.map(({ name, adds }) => [isolated(name), effect(adds)]);
  return table("What makes it surer or less sure than an average answer", [{ name: "fact", head: true }, { name: "effect" }], rows);
}

export function sureness(answer) {
  const factors = factorsOf(answer);
  const words = certaintyOf({ ...answer, refused: false }).replace(", ", " · ");
  return factors && words ? h("details", { class: "plain sureness" }, h("summary", {}, upper(words)), factors) : factors;
}

function effect(adds) {
  const degree = Math.abs(adds) >= 1 ? "much " : Math.abs(adds) < 0.3 ? "a little " : "";
  return `${degree}${adds > 0 ? "surer" : "less sure"}`;
}
