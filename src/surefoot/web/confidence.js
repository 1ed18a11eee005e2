// How sure an answer is, and what that rests on.

import { h, isolated, table } from "./dom.js";
import { isNumber, short, signed } from "./words.js";

const LEAST = 0.005;

export function sureness(answer) {
  if (answer.unjudged && answer.unjudged !== answer.because) return h("p", { class: "dim small" }, "No confidence: ", isolated(answer.unjudged), ".");
  if (!isNumber(answer.confidence)) return null;
  const word = answer.hedged || answer.refused ? "Unsure" : "Sure";
  const telling = (answer.factors ?? []).filter(({ adds }) => Math.abs(adds) >= LEAST).toSorted((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const headings = [{ name: "fact", head: true }, { name: "value", right: true }, { name: "adds", right: true }];
  const rows = telling.map(({ name, value, adds }) => [isolated(name), short(value), signed(adds)]);
  return h("details", { class: "plain sureness" }, h("summary", {}, `${word} · ${Math.round(answer.confidence * 100)} %`), table("What each fact adds to the log-odds that the answer is right, beside an average answer", headings, rows));
}
