// One thing to change: what is wrong, why, what shows it, what to do, and what it brought.

function itemView(number) {
  const items = head.diagnosis?.items ?? [];
  const item = items[number - 1];
  if (!item) return [h("h1", { tabindex: "-1" }, "There is no such item"), h("p", {}, h("a", { href: "#/" }, "Back to the overview"))];
  return [
    h("p", { class: "path" }, h("a", { href: "#/" }, "Overview"), ` › item ${number} of ${items.length}`),
    h("h1", { tabindex: "-1" }, isolated(item.title)),
    chips(item, number - 1),
    drill(item, number - 1, 2),
    h("nav", { class: "turn", "aria-label": "Items" }, number > 1 ? h("a", { href: `#/item/${number - 1}` }, "← ", isolated(items[number - 2].title)) : h("span"), number < items.length ? h("a", { href: `#/item/${number + 1}` }, isolated(items[number].title), " →") : null),
  ];
}

function drill(item, place, depth) {
  const aside = [patchPart(head.patches[place], depth), isNumber(item.predicted) || item.realised || item.on_cases ? part("Gain", depth, gains(item)) : null].filter(Boolean);
  const section = (title, text, gist, ...children) => part(title, depth, h("div", { class: "lead" }, rendered(gist)), rendered(text), ...children);
  // The rules' list of cases is the one below it, cut short.
  const pattern = head.diagnosis.by === "rules" && item.cases?.length ? item.evidence_trace.split("\n\n- ")[0] : item.evidence_trace;
  const evidence = section("Evidence", pattern, item.evidence_trace_gist, cases(item));
  return h(
    "div",
    { class: "drill apart" },
    h(
      "div",
      {},
      section("Problem", item.problem_detection, item.problem_detection_gist),
      section("Root cause", item.root_cause_analysis, item.root_cause_analysis_gist),
      aside.length ? evidence : null,
      section("Protocol", item.recommended_protocol, item.recommended_protocol_gist),
    ),
    h("div", {}, aside.length ? aside : evidence),
    h("div", { class: "whole" }, tried(item.title, depth)),
  );
}

// How many records are listed before the rest has to be opened.
const FEW = 8;

function cases(item) {
  if (!item.cases?.length) return null;
  const list = (ids, row) => h("ul", { class: "cases" }, ids.map(row));
  const shown = (row) => {
    const rest = item.cases.slice(FEW);
    return [list(item.cases.slice(0, FEW), row), rest.length ? h("details", {}, h("summary", {}, `${counted(rest.length)} more`), list(rest, row)) : null];
  };
  const all = h("div", {}, shown((id) => h("li", {}, h("a", { href: recordLink(id) }, isolated(id)))));
  index().then(({ byId }) => {
    all.replaceChildren(...shown((id) => {
      const row = byId.get(id);
      if (!row) return h("li", {}, isolated(id), h("span", { class: "dim" }, " is not in this file"));
      const scores = (item.metrics ?? []).filter((metric) => row.values[metric] !== undefined).map((metric) => h("span", { class: "score" }, `${called(metric)} `, valueOf(row.values[metric])));
      return h("li", {}, h("a", { href: recordLink(id) }, isolated(cut(row.question, 200))), " ", scores, row.reason ? h("div", { class: "small dim", dir: "auto" }, row.reason) : null);
    }).filter(Boolean));
  });
  const stage = item.stage && head.funnel?.steps.some(({ lost }) => lost[item.stage] === item.cases.length);
  return [h("p", { class: "small dim" }, `${many(item.cases.length, "record")} with this problem`, stage ? [", also ", h("a", { href: `#/records?outcome=${encodeURIComponent(`stage:${item.stage}`)}` }, "as a list to filter and sort")] : null, ":"), all];
}

// Another system's settings are not ours to name: where there is no patch of them, there is nothing to show.
function patchPart(lines, depth) {
  if (!lines?.length && !head.traced) return null;
  return part(head.traced ? "Patch of surefoot.toml" : "Settings to change", depth, patchOf(lines));
}

function patchOf(lines) {
  if (!lines?.length) return h("p", { class: "missing" }, "No setting does this: it takes work by hand.");
  const kinds = { "+": ["ins", "added: "], "-": ["del", "removed: "], " ": ["span", ""] };
  const known = lines.some(([sign]) => sign === "-");
  const one = ([sign, text]) => h(kinds[sign]?.[0] ?? "span", { class: "line" }, unseen(kinds[sign]?.[1] ?? ""), h("span", { "aria-hidden": "true" }, `${sign} `), text, "\n");
  return [h("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": "Patch" }, h("code", {}, lines.map(one))), known ? null : h("p", { class: "dim small" }, "The run does not record what these settings are now.")];
}

function gains(item) {
  const metric = item.metrics?.[0];
  const { predicted, realised, on_cases: cases, on_others: others } = item;
  return [
    facts([
      ["on its own cases", cases ? gainOf(cases) : null],
      ["on as many others", others ? gainOf(others) : null],
      ["expected", cases ? null : isNumber(predicted) ? `${points(predicted)}${metric ? ` ${called(metric).toLowerCase()}` : ""}` : "no prediction"],
      ["measured", realised ? [h("strong", {}, points(realised.difference)), ` ${called(realised.metric).toLowerCase()}, from ${percentage(realised.before)} to ${percentage(realised.after)}`] : cases ? "not yet on held-out questions" : "not tried yet"],
      ["95 % interval", realised ? `${points(realised.low)} to ${points(realised.high)}` : null],
      ["p", realised ? short(realised.p) : null],
      ["questions", realised ? counted(realised.questions) : null],
    ]),
    realised ? h("p", { class: "dim small" }, "Measured on questions that were held back until then.") : null,
  ];
}

// The rows of the ledger that name this item; all of them are in the view of the run.
function tried(title, depth) {
  const rows = head.ledger.filter((row) => Object.values(row ?? {}).includes(title));
  return rows.length ? part("Trials", depth, ledgerTable(rows, "Changes and their control arms")) : null;
}

const recordLink = (id) => `#/record/${encodeURIComponent(id)}`;
