// One record: question and answer, what each judge says, what was found, how it was graded, cut and used.

function recordView(id) {
  const place = h("div", {}, h("h1", { tabindex: "-1" }, "Opening the record…"));
  Promise.all([fetchRecord(id), index()]).then(([found, { byId, metrics }]) => {
    if (!place.isConnected) return;
    place.replaceChildren(...recordPage(id, found, byId.get(id)).flat(Infinity).filter(Boolean), found ? labelBar(id, metrics) : "");
    document.title = `${cut(found?.record.question ?? "No such record", 60)} · ${named()}`;
    place.querySelector("h1").focus({ preventScroll: true });
  });
  return [place];
}

function recordPage(id, found, row) {
  if (!found) return [h("h1", { tabindex: "-1" }, "There is no record ", isolated(cut(id, 80))), h("p", {}, h("a", { href: "#/records" }, "All records"))];
  const { record, scores, attribution } = found;
  const { trace } = record;
  const contexts = record.contexts ?? [];
  const claimsOf = (metric) => scores.find((score) => score.metric === metric)?.claims ?? [];
  const recalled = claimsOf("context_recall");
  const truth = Math.max(0, (record.truths ?? []).findIndex((one) => recalled.length && recalled.every(({ text }) => one.includes(text))));
  const inAnswer = located(answerText(record), claimsOf(scores.some(({ metric }) => metric === "context_adherence") ? "context_adherence" : "faithfulness"), contexts, "a");
  const inTruth = located(record.truths?.[truth] ?? "", recalled, contexts, "t");
  seen.last = id;
  return [
    way(id),
    h("h1", { tabindex: "-1", class: "question" }, long(record.question || "(no question)")),
    row?.verdict ? h("p", { class: "judged" }, outcomeOf(row), row.reason ? [" ", isolated(row.reason)] : null) : null,
    facts([["id", isolated(record.id)], ["group", record.group && record.group !== record.id && isolated(record.group)], ...Object.entries(record.tags ?? {}).map(([key, value]) => [spaced(key), isolated(String(value))])]),
    record.history?.length ? more(`Earlier in the conversation (${counted(record.history.length)})`, h("ol", {}, record.history.map(([question, answer]) => h("li", {}, drawn(question), h("div", { class: "dim" }, drawn(answer || "(no answer)")))))) : null,
    h("div", { class: "columns" },
      h("div", {},
        sure("answer", () => answerPart(record, trace, inAnswer, inTruth, truth)),
        sure("scores", () => h("div", { class: "judged" }, part("What the judges say", 2, scores.length ? h("div", { class: "scores" }, scores.map((score) => scoreCard(score, record))) : h("p", { class: "missing" }, "This record has not been judged."))))),
      sure("contexts", () => contextsPart(record, [...inAnswer, ...inTruth]))),
    trace ? sure("decision", () => decisionPart(trace)) : null,
    trace ? sure("passages", () => passagesPart(trace)) : null,
    trace?.conflicts?.length ? sure("conflicts", () => conflictsPart(trace)) : null,
    attribution ? sure("attribution", () => attributionPart(attribution)) : null,
    trace ? sure("steps", () => stepsPart(trace)) : null,
    trace ? null : h("p", { class: "missing" }, "The record has no trace, which would show how its passages were found, graded and cut."),
    way(id, ", once more"),
  ];
}

// A part of a damaged record does not take the others with it, and says so.
function sure(name, make) {
  try {
    return make();
  } catch (error) {
    return h("p", { class: "doubt" }, `This record's ${name} cannot be shown: `, isolated(error.message));
  }
}

function way(id, end = "") {
  const place = seen.order.indexOf(id);
  const near = (n, text) => (place >= 0 && seen.order[place + n] !== undefined ? h("a", { href: recordLink(seen.order[place + n]) }, text) : h("span"));
  const back = place >= 0 ? `Records (${counted(place + 1)} of ${counted(seen.order.length)})` : "Records";
  return h("nav", { class: "turn", "aria-label": `Records${end}` }, near(-1, "← Previous"), h("a", { href: seen.hash }, back), near(1, "Next →"));
}

function answerText({ answer: text, trace }) {
  const answer = trace?.answer;
  return (answer?.refused ? answer.text : text ?? answer?.text) ?? "";
}

function answerPart(record, trace, inAnswer, inTruth, truth) {
  const answer = trace?.answer;
  const text = answerText(record);
  const cited = answer?.citations ?? [];
  const known = new Set(cited.map((one) => one.marker));
  const marks = Array.from(text.matchAll(/\[(\d{1,4})\]/g), (one) => ({ marker: Number(one[1]), start: one.index, end: one.index + one[0].length })).filter(({ marker }) => known.has(marker));
  const citing = marks.map(({ marker, ...at }) => ({ ...at, wrap: (piece) => jump(piece, `cite-${marker}`, `citation ${marker}`) }));
  return part(
    "Answer",
    2,
    answer?.refused ? h("p", {}, h("span", { class: "chip" }, "refused")) : null,
    answer?.hedged ? h("p", { class: "doubt" }, h("span", { class: "chip" }, "hedged"), " The nearest sentence may not answer the question", answer.because ? [": ", isolated(answer.because)] : null, ".") : null,
    trace?.read_as ? h("p", { class: "dim small" }, record.question === trace.read_as ? ["Typed: ", isolated(trace.question)] : ["Read as: ", isolated(trace.read_as)]) : null,
    text ? h("div", { class: "answer" }, claimed(text, inAnswer, citing)) : h("p", { class: "missing" }, record.answer === null && !answer ? "The answer was not kept." : "There was no answer."),
    inAnswer.length ? legend() : null,
    trace?.error ? h("p", { class: "doubt" }, "The question failed: ", isolated(trace.error)) : null,
    answer ? sureness(answer) : null,
    answer?.withheld ? more("The model's words, which were withheld", long(answer.withheld)) : null,
    cited.length ? h("ul", { class: "citations", "aria-label": "Citations" }, cited.map(citation)) : null,
    answer?.uncited?.length ? h("ul", { class: "citations", "aria-label": "Unsupported sentences" }, answer.uncited.map((sentence) => h("li", {}, h("span", { class: "no" }, "not supported by any source"), ": ", h("q", { dir: "auto" }, cut(sentence, 300))))) : null,
    answer?.drafts?.length ? draftsTable(answer.drafts) : null,
    h("h3", {}, record.truths?.length > 1 ? "Possible answers" : "Ground truth"),
    record.truths?.length ? h("ul", { class: "truths" }, record.truths.map((one, n) => h("li", {}, n === truth ? claimed(one, inTruth) : drawn(one)))) : h("p", { class: "missing" }, "None is known, so metrics that need one do not apply."),
    record.note ? more("Grading note: the form of a good answer", h("p", { dir: "auto" }, record.note)) : null,
  );
}

function citation(one) {
  return h(
    "li",
    { id: `cite-${one.marker}`, tabindex: "-1" },
    `[${one.marker}] `,
    h("span", { class: one.quoted ? "yes" : "no" }, one.quoted ? "quoted" : "not quoted", one.reason ? [": ", isolated(one.reason)] : null),
    typeof one.supported === "boolean" ? [" · ", h("span", { class: one.supported ? "yes" : "no" }, one.supported ? "supported" : "not supported")] : null,
    one.quote ? [" ", h("q", { dir: "auto" }, one.quote)] : null,
    one.title || one.url ? h("div", { class: "small dim" }, isolated([one.title, one.url].filter(Boolean).join(" · "))) : null,
    one.strip ? h("div", { class: "small dim" }, "of ", jump(one.strip.passage_id, `passage-${one.strip.passage_id}`), ": ", isolated(cut(one.strip.text, 300))) : null,
  );
}

function scoreCard(score, record) {
  const value = score.value ?? (score.applies === false ? "n/a" : "unscored");
  const about = [edge(score.metric), score.rating && `${score.rating} of 5`, score.judge !== score.metric && score.judge, score.calls && `${many(score.calls, "call")}, ${many(score.tokens, "token")}`];
  const found = [
    score.unscored_because ? h("p", {}, score.applies === false ? "Does not apply: " : "Unscored: ", isolated(score.unscored_because)) : null,
    score.reason ? long(score.reason) : null,
    score.repeats?.length ? h("p", { class: "small" }, `Judged ${score.repeats.length} times: ${score.repeats.map((one) => percentage(one)).join(", ")}`) : null,
    score.quotes?.length ? h("ul", { class: "quotes", "aria-label": "Quotations" }, score.quotes.map((quote) => h("li", {}, score.reason?.includes(quote.text) ? null : h("q", { dir: "auto" }, cut(quote.text, 600)), " ", whence(quote, record)))) : null,
  ].filter(Boolean);
  const small = h("p", { class: "dim small" }, about.filter(Boolean).map((words, n) => [n ? " · " : "", isolated(words)]));
  return h("article", { class: "score" }, h("div", {}, h("h3", {}, called(score.metric)), found.length ? small : null), h("div", {}, isNumber(value) ? valueOf(value) : h("span", { class: "chip" }, value)), h("div", {}, found.length ? found : small));
}

function whence({ where, verified }, record) {
  if (!verified) return checked(false, "not in the texts that the judge saw");
  const there = [...(record.contexts ?? []), ...(record.trace?.passages ?? [])].some((passage) => passage.id === where);
  const known = ["question", "answer", "truth"].includes(where) ? `the ${where}` : where;
  return [checked(true, "found in "), there ? jump(where, `passage-${where}`) : isolated(known)];
}

function decisionPart(trace) {
  const { decision, queries, outside } = trace;
  if (!decision) return part("Decision", 2, h("p", { class: "missing" }, "No decision was made."));
  const grades = trace.grades ?? [];
  const brought = outside ? grades.slice(trace.passages.length) : [];
  return part(
    "Decision",
    2,
    h("p", {}, h("span", { class: `act ${decision.action}` }, decision.action), " ", isolated(decision.because)),
    scale(decision, outside ? grades.slice(0, trace.passages.length) : grades),
    facts([["policy", isolated(decision.policy)], ["margin to the nearest threshold", isNumber(decision.margin) ? short(decision.margin) : null], ["searched for", queries?.length ? queries.map((query, n) => [n ? "; " : "", isolated(query)]) : null]]),
    trace.rewritten?.length ? rewrittenTable(trace.rewritten) : null,
    outside ? [h("h3", {}, "What came from outside"), scale(outside, brought), facts([["correct from", short(outside.upper)], ["incorrect below", short(outside.lower)], ["where these come from", outside.fitted_on ? isolated(outside.fitted_on) : null]])] : null,
  );
}

function rewrittenTable(rewritten) {
  const rows = rewritten.map(({ missing, question, query }) => [missing ? isolated(missing) : "not told", isolated(question || query), isolated(query)]);
  return table("How the question was rewritten", [{ name: "missing so far", head: true }, { name: "asked of the retriever" }, { name: "asked of the web" }], rows);
}

function draftsTable(drafts) {
  const named = ["relevance", "support", "utility", "likelihood"];
  const rows = drafts.map((draft) => [draft.chosen ? checked(true, "chosen") : "–", isolated(cut(draft.text, 300)), short(draft.worth), ...named.map((name) => (isNumber(draft.critique[name]) ? short(draft.critique[name]) : "–"))]);
  return table("The answers that it was chosen from, by the model's own critique", [{ name: "chosen" }, { name: "answer", head: true }, ...["worth", ...named].map((name) => ({ name, right: true }))], rows);
}

function passagesPart(trace) {
  const every = [...trace.passages, ...trace.external];
  const keptCount = trace.strips.filter((strip) => strip.kept).length;
  if (!every.length) return part("Passages", 2, h("p", { class: "missing" }, "None was retrieved."));
  const key = h("p", { class: "dim small legend" }, "In the texts: ", h("mark", {}, "the words that answer"), ", as the evaluator points at them; ", h("span", { class: "kept" }, "strips that were kept"), "; ", h("del", {}, "strips that were dropped"), ".");
  return part(
    `Passages: ${trace.passages.length} retrieved${trace.external.length ? `, ${trace.external.length} from outside` : ""}; ${keptCount} of ${many(trace.strips.length, "strip")} kept`,
    2,
    key,
    h("div", { class: "cards" }, ranked(trace).map(({ passage, grade }) => passageCard(passage, grade, trace.strips.filter((strip) => strip.passage_id === passage.id), 3))),
    trace.strips.length ? more(`As a table: ${many(trace.strips.length, "strip")}`, stripsTable(trace.strips)) : null,
  );
}

function passageCard(passage, grade, strips, depth) {
  const probability = isNumber(grade?.probability) ? `${Math.round(grade.probability * 100)} %` : null;
  return h(
    "article",
    { class: "card passage", id: `passage-${passage.id}`, tabindex: "-1" },
    h(`h${depth}`, {}, isolated(passage.title || passage.id), " ", grade?.label ? h("span", { class: `act ${grade.label}` }, grade.label) : null),
    facts([
      ["id", isolated(passage.id)],
      ["grade", grade ? (isNumber(grade.score) ? short(grade.score) : "could not be graded") : null],
      ["chance that it answers", probability],
      ["retrieval score", isNumber(passage.score) ? short(passage.score) : null],
      ["from", passage.source === "external" ? ["outside", passage.via ? [", ", isolated(passage.via)] : ""] : null],
      ["place", passage.url ? address(passage.url) : null],
      ["from the file", passage.file && passage.file !== passage.url ? isolated(passage.file) : null],
      ["reason", grade?.reason ? isolated(grade.reason) : null],
      ["graded part", grade?.window ? `characters ${counted(grade.window[0])} to ${counted(grade.window[1])}` : null],
    ]),
    long(passage.text, (shown) => rendered(shown, ranges(shown, grade, strips)).flat()),
  );
}

function stripsTable(strips) {
  const rows = strips.map((strip) => [jump(strip.passage_id, `passage-${strip.passage_id}`), checked(strip.kept, strip.kept ? "kept" : "dropped"), short(strip.score), isolated(strip.reason ?? ""), isolated(cut(strip.text, 400))]);
  return table("Strips in their order", [{ name: "passage", head: true }, { name: "kept" }, { name: "score", right: true }, { name: "why dropped" }, { name: "text" }], rows);
}

function contextsPart(record, found) {
  const title = "What the answer was made from";
  const { contexts } = record;
  if (!contexts?.length) return h("div", { class: "beside" }, part(title, 2, h("p", { class: "missing" }, contexts ? "Nothing." : "The contexts were not kept.")));
  const card = ({ id, title: name, url, text }, n) =>
    h("article", { class: "card", id: record.trace ? null : `passage-${id}`, tabindex: "-1" }, h("h3", {}, `${n + 1}. `, isolated(name || id)), url ? h("p", { class: "small" }, address(url)) : null, drawn(text, sources(found, n)));
  return h("div", { class: "beside", tabindex: "0", role: "region", "aria-label": title }, part(`${title}: ${many(contexts.length, "text")}`, 2, contexts.map(card)));
}

function conflictsPart(trace) {
  const rows = trace.conflicts.map((one) => [isolated(one.local), isolated(one.local_says), isolated(one.external), isolated(one.external_says)]);
  return part("Conflicts", 2, table("Where the corpus and the outside sources disagree", [{ name: "corpus", head: true }, { name: "says" }, { name: "outside" }, { name: "says" }], rows));
}

function stepsPart(trace) {
  const total = trace.steps.reduce((sum, step) => sum + (step.seconds || 0), 0);
  const rows = trace.steps.map((step) => [isolated(step.name), seconds(step.seconds), share(step.seconds, total), ...["calls", "graded", "tokens", "cached"].map((name) => (step[name] ? counted(step[name]) : "–")), step.error || step.degraded ? [step.error ? isolated(step.error) : null, step.error && step.degraded ? "; " : null, step.degraded ? ["instead: ", isolated(step.degraded)] : null] : "–"]);
  const headings = [{ name: "step", head: true }, { name: "time", right: true }, { name: "share" }, ...["calls", "graded", "tokens", "cached"].map((name) => ({ name, right: true })), { name: "problem" }];
  return part("Steps", 2, table(`What each step cost: ${seconds(total)} in all`, headings, rows), Object.keys(trace.config ?? {}).length ? more("Configuration of this trace", json(trace.config)) : null);
}
