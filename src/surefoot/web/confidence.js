// How sure an answer is, and what that rests on.

import { h, isolated, table } from "./dom.js";
import { isNumber } from "./words.js";

const LEAST = 0.005;

export function sureness(answer) {
  if (answer.unjudged && answer.unjudged !== answer.because) return h("p", { class: "dim small" }, "No confidence: ", isolated(answer.unjudged), ".");
  if (!isNumber(answer.confidence)) return null;
  const certainty = answer.certainty ?? (answer.hedged || answer.refused ? "unsure" : "sure");
  const word = certainty[0].toUpperCase() + certainty.slice(1);
  const telling = (answer.factors ?? []).filter(({ adds }) => Math.abs(adds) >= LEAST).toSorted((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const rows = telling.map(({ name, adds }) => [isolated(name), effect(adds)]);
  return h("details", { class: "plain sureness" }, h("summary", {}, `${word} · ${Math.round(answer.confidence * 100)} %`), table("What makes it surer or less sure than an average answer", [{ name: "fact", head: true }, { name: "effect" }], rows));
}

function effect(adds) {
  const degree = Math.abs(adds) >= 1 ? "much " : Math.abs(adds) < 0.3 ? "a little " : "";
  return `${degree}${adds > 0 ? "surer" : "less sure"}`;
}
