// The metrics of a run as the viewer has declared them, and the diamond that they make; a table beside it says the same.

const declared = (metric) => head.metrics.find((one) => one.name === metric.replaceAll("-", "_"));
const called = (metric) => declared(metric)?.label ?? upper(spaced(metric));
const edge = (metric) => declared(metric)?.edge ?? "";
const inOrder = (metric) => head.metrics.indexOf(declared(metric)) + 1 || 99;

const NODES = ["question", "context", "answer", "truth"];
// By the corners of an edge, where its label stands; and the same for a second metric of that edge, which is an arc.
const WIDE = {
  size: [600, 430],
  node: [130, 42],
  label: [154, 47],
  nodes: [[300, 34], [72, 215], [528, 215], [300, 396]],
  labels: { "0-2": [386, 140], "0-1": [166, 124], "1-2": [300, 215], "2-3": [434, 304], "1-3": [166, 304] },
  second: { "0-2": [514, 78], "0-1": [86, 60], "1-2": [300, 262], "2-3": [514, 370], "1-3": [86, 370] },
};
const NARROW = {
  size: [340, 470],
  node: [106, 36],
  label: [124, 44],
  nodes: [[170, 28], [56, 235], [284, 235], [170, 442]],
  labels: { "0-2": [216, 158], "0-1": [72, 128], "1-2": [170, 282], "2-3": [262, 348], "1-3": [78, 348] },
  second: { "0-2": [274, 88], "0-1": [66, 64], "1-2": [170, 196], "2-3": [274, 404], "1-3": [66, 404] },
};

// Each metric with its edge and the place of its label; the picture has room for two an edge, the table has them all.
function placed({ labels, second }) {
  const taken = new Set();
  return head.metrics.filter((one) => one.corners).map((one) => {
    const ends = one.corners.map((corner) => NODES.indexOf(corner));
    const key = ends.toSorted().join("-");
    const at = taken.has(key) ? (taken.has(`${key}+`) ? null : second[key]) : labels[key];
    taken.add(taken.has(key) ? `${key}+` : key);
    return { ...one, ends, at, bent: at === second[key] };
  }).filter((one) => one.at);
}

function diamond(summaries, layout) {
  const { size, node, label, nodes } = layout;
  const known = Object.fromEntries((summaries ?? []).map((one) => [one.metric, one]));
  const drawn = placed(layout);
  const lines = drawn.map(({ name, ends, at, bent }) => {
    const kind = `edge ${known[name]?.level ?? "none"}`;
    const [[x1, y1], [x2, y2]] = ends.map((n) => nodes[n]);
    if (!bent) return svg("line", { class: kind, x1, y1, x2, y2 });
    const bend = [2 * at[0] - (x1 + x2) / 2, 2 * at[1] - (y1 + y2) / 2]; // so that the arc goes through its label
    return svg("path", { class: kind, d: `M${x1} ${y1} Q${bend[0]} ${bend[1]} ${x2} ${y2}` });
  });
  const corners = NODES.map((name, n) => [
    svg("rect", { class: "node", x: nodes[n][0] - node[0] / 2, y: nodes[n][1] - node[1] / 2, width: node[0], height: node[1], rx: 9 }),
    svg("text", { class: "name", x: nodes[n][0], y: nodes[n][1] + 5 }, name === "truth" ? "Ground truth" : upper(name)),
  ]);
  const words = drawn.map(({ name, at: [x, y] }) => {
    const one = known[name];
    const score = isNumber(one?.mean) ? `${SIGNS[one.level] ?? ""} ${meanOf(one)}` : "not scored";
    return svg(
      "g",
      { class: `label ${one?.level ?? "none"}`, click: () => one && (location.hash = `#/records?sort=${encodeURIComponent(name)}`) },
      svg("rect", { x: x - label[0] / 2, y: y - label[1] / 2, width: label[0], height: label[1], rx: 7 }),
      svg("text", { class: "metric", x, y: y - 5 }, called(name)),
      svg("text", { class: "score", x, y: y + 14 }, score, svg("tspan", { class: "interval" }, one && ` ${interval(one.low, one.high)}`)),
    );
  });
  const descriptions = drawn.map(({ name, edge }) => `${called(name)} (${edge}) ${known[name] ? `${meanOf(known[name])} ${interval(known[name].low, known[name].high)}` : "not scored"}`);
  const attributes = { viewBox: `0 0 ${size[0]} ${size[1]}`, role: "img", class: "diamond", "aria-label": `The metric diamond: question, context, answer and ground truth. ${descriptions.join("; ")}.` };
  return svg("svg", attributes, lines, corners, words);
}
