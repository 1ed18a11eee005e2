// How sure an answer is, and what that rests on.

import { h, isolated, table } from "./dom.js";
import { isNumber, upper } from "./words.js";

const LEAST = 0.005;

export function sureness(answer) {
  if (answer.unjudged && answer.unjudged !== answer.because) {
    const why = [answer.certainty ? "No percentage: " : "No confidence: ", isolated(answer.unjudged), "."];
    return answer.certainty ? h("details", { class: "plain sureness" }, h("summary", {}, upper(answer.certainty)), h("p", { class: "dim small" }, why)) : h("p", { class: "dim small" }, why);
  }
  if (!isNumber(answer.confidence)) return null;
  const certainty = answer.certainty ?? (answer.hedged || answer.refused ? "unsure" : "sure");
  const telling = (answer.factors ?? []).filter(({ adds }) => Math.abs(adds) >= LEAST).toSorted((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const rows = telling.map(({ name, adds }) => [isolated(name), effect(adds)]);
  return h("details", { class: "plain sureness" }, h("summary", {}, `${upper(certainty)} · ${Math.round(answer.confidence * 100)} %`), table("What makes it surer or less sure than an average answer", [{ name: "fact", head: true }, { name: "effect" }], rows));
}

function effect(adds) {
  const degree = Math.abs(adds) >= 1 ? "much " : Math.abs(adds) < 0.3 ? "a little " : "";
  return `${degree}${adds > 0 ? "surer" : "less sure"}`;
}
