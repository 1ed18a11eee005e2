// Pictures, each beside a table or a text that says the same.

const NODES = ["question", "context", "answer", "ground truth"];
const ENDS = { answer_relevancy: [0, 2], context_relevancy: [0, 1], context_adherence: [1, 2], factuality: [3, 2], context_recall: [3, 1], grading_note: [0, 2] };
const WIDE = {
  size: [600, 430],
  node: [130, 42],
  label: [154, 47],
  nodes: [[300, 34], [72, 215], [528, 215], [300, 396]],
  labels: { answer_relevancy: [386, 140], context_relevancy: [166, 124], context_adherence: [300, 215], factuality: [434, 304], context_recall: [166, 304], grading_note: [514, 78] },
  arc: [365, 30, 556, 24, 556, 194],
};
const NARROW = {
  size: [340, 470],
  node: [106, 36],
  label: [124, 44],
  nodes: [[170, 28], [56, 235], [284, 235], [170, 442]],
  labels: { answer_relevancy: [216, 158], context_relevancy: [72, 128], context_adherence: [170, 282], factuality: [262, 348], context_recall: [78, 348], grading_note: [274, 88] },
  arc: [223, 26, 318, 26, 312, 217],
};

function diamond(summaries, { size, node, label, nodes, labels, arc }) {
  const known = Object.fromEntries((summaries ?? []).map((one) => [one.metric, one]));
  const lines = DIAMOND.map((metric) => {
    const kind = `edge ${known[metric]?.level ?? "none"}`;
    const [from, to] = ENDS[metric].map((n) => nodes[n]);
    if (metric === "grading_note") return svg("path", { class: kind, d: `M${arc[0]} ${arc[1]} Q${arc[2]} ${arc[3]} ${arc[4]} ${arc[5]}` });
    return svg("line", { class: kind, x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
  });
  const corners = NODES.map((name, n) => [
    svg("rect", { class: "node", x: nodes[n][0] - node[0] / 2, y: nodes[n][1] - node[1] / 2, width: node[0], height: node[1], rx: 9 }),
    svg("text", { class: "name", x: nodes[n][0], y: nodes[n][1] + 5 }, upper(name)),
  ]);
  const words = DIAMOND.map((metric) => {
    const [x, y] = labels[metric];
    const one = known[metric];
    const score = isNumber(one?.mean) ? `${SIGNS[one.level] ?? ""} ${meanOf(one)}` : "not scored";
    return svg(
      "g",
      { class: `label ${one?.level ?? "none"}`, click: () => one && (location.hash = `#/records?sort=${encodeURIComponent(metric)}`) },
      svg("rect", { x: x - label[0] / 2, y: y - label[1] / 2, width: label[0], height: label[1], rx: 7 }),
      svg("text", { class: "metric", x, y: y - 5 }, called(metric)),
      svg("text", { class: "score", x, y: y + 14 }, score, svg("tspan", { class: "interval" }, ` ${interval(one?.low, one?.high)}`)),
    );
  });
  const told = DIAMOND.map((metric) => `${called(metric)} (${edge(metric)}) ${known[metric] ? `${meanOf(known[metric])} ${interval(known[metric].low, known[metric].high)}` : "not scored"}`);
  const attributes = { viewBox: `0 0 ${size[0]} ${size[1]}`, role: "img", class: "diamond", "aria-label": `The metric diamond: question, context, answer and ground truth. ${told.join("; ")}.` };
  return svg("svg", attributes, lines, corners, words);
}

// A mean with its interval and the bounds, between 0 and 1; the ticks are where a level ends.
function whisker(one) {
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
function scale(decision, grades) {
  const scores = grades.map((grade) => grade.score).filter(isNumber);
  const every = [...scores, decision.upper, decision.lower].filter(isNumber);
  if (!scores.length || every.length < 3) return null;
  const [low, high] = [Math.min(...every), Math.max(...every)];
  const x = (value) => 40 + (560 * (value - low)) / (high - low || 1);
  const threshold = (name, value) => [
    svg("line", { class: "threshold", x1: x(value), y1: 22, x2: x(value), y2: 56 }),
    svg("text", { x: x(value), y: 15 }, `${name} ${short(value)}`),
  ];
  const words = `Scores of the passages: ${scores.map(short).join(", ")}; correct from ${short(decision.upper)}, incorrect below ${short(decision.lower)}.`;
  return svg(
    "svg",
    { class: "scale", viewBox: "0 0 640 80", role: "img", "aria-label": words },
    svg("line", { class: "axis", x1: 40, y1: 39, x2: 600, y2: 39 }),
    threshold("τ−", decision.lower),
    threshold("τ+", decision.upper),
    scores.map((score) => svg("circle", { class: score === decision.best ? "best" : "other", cx: x(score), cy: 39, r: score === decision.best ? 7 : 4.5 })),
    isNumber(decision.best) && svg("text", { x: x(decision.best), y: 74 }, `best ${short(decision.best)}`),
  );
}
