// The executive dashboard: the result, where answers were lost, what to change first, and what each metric says.

function overview() {
  const { about, diagnosis, summaries, records } = head;
  const by = diagnosis ? `diagnosed by ${diagnosis.by}` : "no diagnosis";
  const line = [many(records, "record"), about.created?.slice?.(0, 10), by].filter(Boolean).join(" · ");
  return [
    h("h1", { tabindex: "-1" }, isolated(named())),
    h("p", { class: "dim" }, line),
    h("div", { class: "two" }, h("div", {}, health(diagnosis), funnelPart(), changes(diagnosis)), h("div", {}, diamondPart(summaries), insightsPart(diagnosis))),
    metricsPart(summaries),
    slicesPart(head),
    calibrationPart(head),
    diagnosis?.strategic_conclusion ? part("Outlook", 2, rendered(diagnosis.strategic_conclusion)) : null,
    printed(diagnosis),
  ];
}

const named = () => String(head.about.experiment ?? head.about.name ?? head.name);

function health(diagnosis) {
  if (!diagnosis) return part("The result", 2, h("p", { class: "missing" }, "This run has no diagnosis yet: its folder has no diagnosis.json."));
  return part("The result", 2, h("div", { class: "gist" }, rendered(diagnosis.executive_summary_gist)), more("Full summary", rendered(diagnosis.executive_summary)));
}

function funnelPart() {
  if (!head.funnel) return part("Where answers were lost", 2, h("p", { class: "missing" }, "This run does not say it: its folder has no outcomes.json. Run surefoot evaluate on it again; no judgement is repeated."));
  return part("Where answers were lost", 2, funnel(head.funnel, head.records));
}

function changes(diagnosis) {
  if (!diagnosis) return null;
  if (!diagnosis.items.length) return part("What to change first", 2, h("p", { class: "missing" }, "The diagnosis proposes no change."));
  return part("What to change first", 2, h("ol", { class: "items" }, diagnosis.items.map((item, n) => h("li", {}, card(item, n)))));
}

function card(item, n) {
  return h(
    "article",
    { class: `card ${item.priority}`, "aria-labelledby": `item-${n + 1}` },
    h("h3", { id: `item-${n + 1}` }, h("a", { href: `#/item/${n + 1}` }, isolated(item.title))),
    chips(item, n),
    h("dl", {}, gist("Problem", item.problem_detection_gist), gist("Why", item.root_cause_analysis_gist), gist("Change", item.recommended_protocol_gist)),
  );
}

const gist = (name, text) => h("div", {}, h("dt", {}, name), h("dd", {}, rendered(text)));

function chips(item, place) {
  const metric = item.metrics?.[0];
  return h(
    "ul",
    { class: "chips", "aria-label": "In short" },
    h("li", { class: `chip ${item.priority}` }, item.priority),
    item.stage ? h("li", { class: "chip" }, isolated(item.stage)) : null,
    isNumber(item.predicted) ? h("li", { class: "chip" }, `expected ${points(item.predicted)}${metric ? ` ${called(metric).toLowerCase()}` : ""}`) : null,
    item.realised ? h("li", { class: "chip proven" }, "measured ", gainOf(item.realised)) : item.on_cases ? h("li", { class: "chip" }, "on its cases ", gainOf(item.on_cases)) : head.patches[place]?.length ? h("li", { class: "chip" }, "not tried yet") : null,
  );
}

function diamondPart(summaries) {
  if (!summaries) return part("The metric diamond", 2, h("p", { class: "missing" }, "The scores have no summary yet: the folder has no summaries.json."));
  const key = h("p", { class: "dim small" }, "▼ low: below 50 %; ◆ moderate: below 90 %; ▲ high: 90 % or more. Beside the mean: its 95 % interval.");
  const wide = h("div", { class: "only-wide" }, diamond(summaries, WIDE));
  const narrow = h("div", { class: "only-narrow" }, diamond(summaries, NARROW));
  return part("The metric diamond", 2, h("figure", {}, wide, narrow, h("figcaption", {}, key)));
}

function metricsPart(summaries) {
  if (!summaries) return null;
  const rows = summaries.toSorted((a, b) => inOrder(a.metric) - inOrder(b.metric)).map((one) => [
    h("a", { href: `#/records?sort=${encodeURIComponent(one.metric)}` }, called(one.metric)),
    h("strong", {}, meanOf(one), one.corrected ? "*" : ""),
    interval(one.low, one.high) || "–",
    whisker(one),
    head.histograms[one.metric] ? histogram(head.histograms[one.metric]) : "–",
    level(one.level),
    `${counted(one.scored)} of ${counted(one.scored + one.unscored)}`,
    one.unscored ? interval(one.least, one.most) : "–",
    interval(one.smallest, one.largest) || "–",
    one.not_applicable ? counted(one.not_applicable) : "–",
  ]);
  const headings = [{ name: "metric", head: true }, { name: "mean", right: true }, { name: "95 % interval", right: true }, { name: "mean, 0 to 100 %" }, { name: "scores, 0 to 100 %" }, { name: "level" }, { name: "scored", right: true }, { name: "bounds", right: true }, { name: "lowest – highest", right: true }, { name: "not applicable", right: true }];
  const missing = summaries.filter((one) => one.unscored);
  const why = missing.map((one) => h("li", {}, `${called(one.metric)}: `, Object.entries(one.unscored_because ?? {}).map(([reason, count], n) => [n ? "; " : "", `${counted(count)} × `, isolated(reason)])));
  return part(
    "Metrics",
    2,
    table("Mean of each metric with its interval, coverage and bounds", headings, rows, "metrics"),
    h("p", { class: "dim small" }, "Bounds: the mean if every unscored record had the lowest value, and if every one had 100 %. A metric's link lists its records, the lowest first.", summaries.some((one) => one.corrected) ? " * The mean that people would give, corrected with their labels." : ""),
    more("The scores as a table: records by tenths", table("How many records score how much", [{ name: "metric", head: true }, ...Array.from({ length: 10 }, (_, n) => ({ name: `${10 * n} to ${10 * n + 10} %`, right: true }))], Object.entries(head.histograms).map(([metric, counts]) => [called(metric), ...counts.map(counted)]))),
    why.length ? more(`Why ${many(missing.reduce((sum, one) => sum + one.unscored, 0), "judgement is", "judgements are")} missing`, h("ul", {}, why)) : null,
  );
}

function insightsPart(diagnosis) {
  if (!diagnosis?.insights.length) return null;
  return part(
    "What each metric says",
    2,
    h("div", { class: "insights" }, diagnosis.insights.map((one) => h("details", { class: "insight", open: one.level === "low" }, h("summary", {}, called(one.metric), " ", level(one.level)), rendered(one.text), one.by === diagnosis.by ? null : h("p", { class: "dim small" }, "by ", isolated(one.by))))),
  );
}

// On paper the drill-downs follow the dashboard.
const printed = (diagnosis) =>
  diagnosis?.items.length ? h("div", { class: "only-print" }, diagnosis.items.map((item, n) => h("section", { class: "sheet" }, h("h2", {}, `${n + 1}. ${item.title}`), chips(item, n), drill(item, n, 3)))) : null;
