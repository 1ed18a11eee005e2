// The decision as a picture: the evaluator's scale, parted at both thresholds, with a dot for each passage. Scores are of
// any scale, and are drawn, never written; what is written is the chance that a passage answers.

import { h } from "./dom.js";
import { t } from "./language.js";
import { isNumber, percentage } from "./words.js";

const FLOOR = 96; // pixels down to the axis
const DOT = 10;
const GAP = 16; // pixels between what is said of the ungraded passages and of the best

export const LABEL_WORDS = { correct: t("seems_to_answer"), ambiguous: t("may_answer"), incorrect: t("does_not_answer") };
const BRIEF = { correct: t("brief_correct"), ambiguous: t("brief_ambiguous"), incorrect: t("brief_incorrect") };

// A grade in brief: the chance that the passage answers, or a word where its evaluator gives no chances.
export const graded = (grade) => (grade ? (isNumber(grade.probability) ? percentage(grade.probability) : BRIEF[grade.label] ?? t("no_value")) : "…");

const actionOf = (score, { lower, upper }) => (score >= upper ? "correct" : score < lower ? "incorrect" : "ambiguous");

// A figure that is drawn again as the trace grows. Dots keep their passage, and move when it is graded.
export function scaleOf(thresholds, chosen = () => {}) {
  const dots = [];
  const zone = (action) => h("div", { class: `zone ${action}` }, h("span", {}, BRIEF[action]));
  const zones = ["incorrect", "ambiguous", "correct"].map(zone);
  const ticks = [h("div", { class: "tick" }), h("div", { class: "tick" })];
  const bracket = h("div", { class: "bracket" });
  const best = h("div", { class: "best" });
  const tray = h("div", { class: "tray" });
  const field = h("div", { class: "field" }, zones, ticks, bracket);
  const node = h("div", { class: "scale", role: "img", "aria-label": t("scale_empty") }, field, tray, best);
  let shown = { passages: [], grades: [], decision: null };

  const ends = (scores) => {
    const { lower, upper } = thresholds;
    const span = upper - lower || 1;
    const [least, most] = [Math.min(lower - 0.9 * span, ...scores), Math.max(upper + 0.55 * span, ...scores)];
    return [least - 0.04 * (most - least), most + 0.04 * (most - least)];
  };

  function layout() {
    const width = field.clientWidth || 640;
    const { passages, grades, decision } = shown;
    const [least, most] = ends(grades.map((grade) => grade.score).filter(isNumber));
    const x = (value) => ((value - least) / (most - least)) * width;
    const [low, high] = [x(thresholds.lower), x(thresholds.upper)];
    [[0, low], [low, high], [high, width]].forEach(([from, to], n) => Object.assign(zones[n].style, { left: `${from}px`, width: `${to - from}px` }));
    ticks.forEach((one, n) => (one.style.left = `${n ? high : low}px`));
    while (dots.length < passages.length) {
      const number = dots.length;
      dots.push(h("i", { class: "dot", click: () => chosen(shown.passages[number]) }));
      field.append(dots[number]);
    }
    const stacks = new Map();
    const order = passages.map((_, n) => n).toSorted((a, b) => (grades[b]?.score ?? -Infinity) - (grades[a]?.score ?? -Infinity));
    const ungraded = passages.filter((_, n) => !isNumber(grades[n]?.score)).length;
    const apart = Math.min(DOT + 3, (width - DOT) / Math.max(1, ungraded));
    let waiting = 0;
    let led = false;
    order.forEach((n) => {
      const score = grades[n]?.score;
      const outside = passages[n].source === "external" ? " outside" : "";
      let [left, top] = [0, 0];
      if (isNumber(score)) {
        const column = Math.round(x(score) / (DOT * 0.9));
        const below = stacks.get(column) ?? 0;
        stacks.set(column, below + 1);
        [left, top] = [x(score) - DOT / 2, FLOOR - DOT - 3 - Math.min(below * (DOT + 1), FLOOR - 40)];
        const leads = !led && decision !== null && score === decision.best;
        led ||= leads;
        dots[n].className = `dot ${actionOf(score, thresholds)}${outside}${leads ? " leader" : ""}`;
      } else {
        [left, top] = [waiting * apart, FLOOR + 36];
        waiting += 1;
        dots[n].className = `dot waiting${outside}`;
      }
      if (left > width - DOT) left = width - DOT;
      dots[n].style.translate = `${left.toFixed(1)}px ${top.toFixed(1)}px`;
      dots[n].title = `${isNumber(score) ? graded(grades[n]) : t("not_graded")} · ${passages[n].title || passages[n].id}`.slice(0, 200);
    });
    const known = waiting < passages.length;
    tray.textContent = waiting ? (known ? t("not_graded_n", { n: waiting }) : t("none_graded_yet", { n: waiting })) : "";
    Object.assign(tray.style, known ? { left: `${waiting * apart + 4}px`, top: "" } : { left: "0px", top: `${FLOOR + 6}px` });
    tell(x, width, waiting && known ? tray.offsetLeft + tray.offsetWidth + GAP : 0);
  }

  // `taken`: pixels from the left that the best's label cannot have.
  function tell(x, width, taken) {
    const { decision, passages, grades } = shown;
    const scores = grades.map((grade) => grade.score).filter(isNumber);
    const hangs = decision && isNumber(decision.best);
    bracket.hidden = !hangs || !isNumber(decision.margin);
    if (!hangs) {
      best.textContent = decision && passages.length ? t("none_gradable") : "";
      best.style.left = `${(width - best.offsetWidth) / 2}px`;
      node.classList.remove("crowded");
      node.setAttribute("aria-label", passages.length ? t("scale_graded", { n: passages.length, graded: scores.length }) : t("scale_nothing"));
      return;
    }
    const [from, to] = [x(nearest(decision)), x(decision.best)].toSorted((a, b) => a - b);
    Object.assign(bracket.style, { left: `${from}px`, width: `${Math.max(2, to - from)}px` });
    bracket.className = `bracket ${decision.action}`;
    const leader = grades.find((grade) => grade.score === decision.best);
    const means = LABEL_WORDS[decision.action] ?? "";
    const words = leader ? t("best", { chance: graded(leader), decision: means }) : means;
    best.replaceChildren(h("b", {}, words));
    const crowded = taken + best.offsetWidth > width; // then the words of the tray have a line of their own
    node.classList.toggle("crowded", crowded);
    best.style.left = `${Math.min(Math.max((from + to - best.offsetWidth) / 2, crowded ? 0 : taken), width - best.offsetWidth)}px`;
    node.setAttribute("aria-label", t("scale_decided", { n: scores.length, decision: words }));
  }

  // The threshold that the margin is measured from.
  const nearest = ({ best: score, upper, lower }) => (Math.abs(score - upper) <= Math.abs(score - lower) ? upper : lower);

  const watch = new ResizeObserver(() => {
    node.classList.add("still");
    layout();
    requestAnimationFrame(() => node.classList.remove("still"));
  });
  watch.observe(field);
  return {
    node,
    show(trace) {
      shown = { passages: [...trace.passages, ...trace.external], grades: trace.grades, decision: trace.decision };
      layout();
    },
  };
}
