// Pictures, each beside a table or a text that says the same.

import { h, svg } from "./dom.js";
import { counted } from "./language.js";
import { isNumber, many, short } from "./words.js";

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

// How many records score how much: a bar for each tenth, with its count on it and in words.
export function histogram(counts) {
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, n) => {
    const height = count ? Math.max(2, (30 * count) / most) : 0;
    const words = svg("title", {}, `${10 * n} to ${10 * n + 10} %: ${many(count, "record")}`);
    return svg("g", {}, words, svg("rect", { class: "hover", x: 16 * n, y: 0, width: 16, height: 32 }), svg("rect", { class: n < 5 ? "low" : n < 9 ? "moderate" : "high", x: 16 * n + 1.5, y: 31 - height, width: 13, height }));
  });
  return svg("svg", { class: "histogram", viewBox: "0 0 160 32", "aria-hidden": "true" }, svg("line", { class: "axis", x1: 0, y1: 31.5, x2: 160, y2: 31.5 }), bars);
}

// From question to answer: what passed each step, and what was lost there; every part opens its records.
export function funnel({ steps, undecided }, records) {
  const decided = records - undecided;
  const link = (outcome, ...words) => h("a", { href: `#/records?outcome=${outcome}` }, words);
  let left = decided;
  const row = ({ name, lost }) => {
    const here = Object.values(lost).reduce((sum, count) => sum + count, 0);
    const before = left;
    left -= here;
    const share = (count) => (decided ? (100 * count) / decided : 0);
    const bar = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "rest", width: share(before), height: 10 }), svg("rect", { class: "passed", width: share(left), height: 10 }));
    const stages = Object.entries(lost).toSorted(([, a], [, b]) => b - a);
    const words = stages.length > 1 ? stages.map(([stage, count]) => `${counted(count)} by ${stage}`).join(", ") : stages.map(([stage]) => `by ${stage}`).join();
    return h("li", {}, h("span", { class: "step" }, link(`passed:${name}`, name, bar)), h("span", { class: "figure" }, `${counted(left)} of ${counted(decided)}`), h("span", { class: "lost" }, here ? [link(`at:${name}`, `✗ ${counted(here)} lost here`), h("span", { class: "dim" }, ` ${words}`)] : null));
  };
  return [
    h("ol", { class: "funnel" }, steps.map(row)),
    undecided ? h("p", { class: "small" }, link("undecided", `? ${many(undecided, "answer is", "answers are")} undecided`), h("span", { class: "dim" }, " and in no bar: neither a reference answer nor a score tells if they are good.")) : null,
    h("p", { class: "dim small" }, "An answer is lost at the first step at which the rules find a fault; that it passed a step says that none was found there."),
  ];
}
