// Pictures, each beside a table or a text that says the same.

import { svg } from "./dom.js";
import { isNumber, short } from "./words.js";

// A mean with its interval and the bounds, between 0 and 1; the ticks are where a level ends.
export function whisker(one) {
  const x = (value) => 6 + 148 * Math.min(Math.max(value, 0), 1);
  const bar = (kind, low, high) => isNumber(low) && isNumber(high) && svg("line", { class: kind, x1: x(low), y1: 11, x2: x(high), y2: 11 });
  return svg(
    "svg",
    { class: `whisker ${one.level ?? "none"}`, viewBox: "0 0 160 22", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: x(0), y1: 11, x2: x(1), y2: 11 }),
    [0, 0.5, 0.9, 1].map((tick) => svg("line", { class: "axis", x1: x(tick), y1: 6, x2: x(tick), y2: 16 })),
    bar("bounds", one.least, one.most),
    bar("interval", one.low, one.high),
    isNumber(one.mean) && svg("circle", { class: "mean", cx: x(one.mean), cy: 11, r: 5 }),
  );
}

// The scores of a record's passages on a line, with the thresholds of the decision.
export function scale(decision, grades) {
  const scores = grades.map((grade) => grade.score).filter(isNumber);
  const every = [...scores, decision.upper, decision.lower].filter(isNumber);
  if (!scores.length || every.length < 3) return null;
  const [low, high] = [Math.min(...every), Math.max(...every)];
  const x = (value) => 76 + (488 * (value - low)) / (high - low || 1); // a label stands around its place
  const threshold = (name, value) => [
    svg("line", { class: "threshold", x1: x(value), y1: 22, x2: x(value), y2: 56 }),
    svg("text", { x: x(value), y: 15 }, `${name} ${short(value)}`),
  ];
  const words = `Scores of the passages: ${scores.map(short).join(", ")}; correct from ${short(decision.upper)}, incorrect below ${short(decision.lower)}.`;
  return svg(
    "svg",
    { class: "scale", viewBox: "0 0 640 80", role: "img", "aria-label": words },
    svg("line", { class: "axis", x1: 76, y1: 39, x2: 564, y2: 39 }),
    threshold("incorrect below", decision.lower),
    threshold("correct from", decision.upper),
    scores.map((score) => svg("circle", { class: score === decision.best ? "best" : "other", cx: x(score), cy: 39, r: score === decision.best ? 7 : 4.5 })),
    isNumber(decision.best) && svg("text", { x: x(decision.best), y: 74 }, `best ${short(decision.best)}`),
  );
}
