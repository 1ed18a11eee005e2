// The answer: checked text with its markers, what each of them quotes, and what no source carries.

import { h, isolated } from "./dom.js";
import { positions, rendered, unsigned } from "./blocks.js";
import { sureness } from "./confidence.js";
import { percent, snippet, titled } from "./passages.js";
import { cut, isNumber, scored } from "./words.js";

const MARKER = /\[(\d{1,4})\]/g;
const FIRST = 3;
const BEFORE = 160;

export function answerOf(trace, actions) {
  const { answer } = trace;
  if (!answer) return [h("p", { class: "missing" }, trace.error ? ["There is no answer: ", isolated(trace.error)] : "There is no answer.")];
  if (answer.refused) return refusal(answer);
  if (answer.hedged && !answer.uncited.length) return hedge(trace, actions);
  return [text(answer, actions), sources(answer, actions, false), sureness(answer), withheld(answer)];
}

function refusal(answer) {
  return [h("div", { class: "refusal" }, h("p", { class: "kind" }, "Refused"), h("div", { class: "prose" }, rendered(answer.text)), because(answer)), sureness(answer), withheld(answer)];
}

const because = (answer) => (answer.because ? h("p", { class: "dim" }, "Because: ", isolated(answer.because)) : null);
const withheld = (answer) => (answer.withheld ? h("details", { class: "plain" }, h("summary", {}, "The model's words, which were withheld"), h("div", { class: "prose" }, rendered(answer.withheld))) : null);

// It may miss the question: the passages come first, and nothing in it is called quoted.
function hedge(trace, actions) {
  const { answer } = trace;
  const graded = [...trace.passages, ...trace.external].map((passage, n) => ({ passage, grade: trace.grades[n] })).filter(({ grade }) => isNumber(grade?.score) && grade.label !== "incorrect");
  const best = graded.toSorted((a, b) => b.grade.score - a.grade.score).slice(0, FIRST);
  const one = ({ passage, grade }) =>
    h("li", {}, h("p", { class: "snippet", dir: "auto" }, snippet(passage.text, grade.span, BEFORE)), h("p", { class: "from" }, h("span", { class: `grade ${grade.label}` }, scored(grade.score)), percent(grade) ? h("span", { class: "dim" }, percent(grade)) : null, actions.source ? h("button", { type: "button", class: "link", click: (event) => actions.source(passage, event.currentTarget) }, titled(passage)) : h("span", {}, titled(passage))));
  return [
    best.length ? h("p", { class: "kind" }, "These passages may answer") : null,
    answer.because ? h("p", { class: "dim" }, "Not called an answer: ", isolated(answer.because), ".") : null,
    best.length ? h("ol", { class: "first" }, best.map(one)) : null,
    h("p", { class: "kind" }, "Nearest sentences"),
    h("div", { class: "near" }, text(answer.hedge ? { ...answer, text: answer.text.slice(answer.hedge.length).trimStart() } : answer, actions)),
    sources(answer, actions, true),
    sureness(answer),
    withheld(answer),
  ];
}

function text(answer, actions) {
  const at = positions(answer.text);
  const known = new Set(answer.citations.map((one) => one.marker));
  const ranges = [];
  for (const found of answer.text.matchAll(MARKER)) {
    const marker = Number(found[1]);
    if (known.has(marker)) ranges.push({ start: found.index, end: found.index + found[0].length, wrap: () => mark(answer, marker, actions) });
  }
  for (const sentence of answer.uncited) {
    const start = answer.text.indexOf(sentence);
    if (start >= 0) ranges.unshift({ start, end: start + sentence.length, wrap: (words) => h("span", { class: "uncited", title: "not supported by any source" }, words) });
  }
  return h("div", { class: "prose answer", dir: "auto", "data-length": at(Infinity) }, rendered(answer.text, ranges));
}

function mark(answer, marker, actions) {
  const cited = answer.citations.filter((one) => one.marker === marker);
  const label = `source ${marker}${cited[0].title ? `, ${cut(cited[0].title, 80)}` : ""}`;
  const open = (event) => (actions.cited ? actions.cited(cited, event.currentTarget) : document.getElementById(`source-${marker}`)?.focus());
  return h("button", { type: "button", class: `cite${answer.hedged || cited.every((one) => one.quoted) ? "" : " unquoted"}`, "aria-label": label, "data-marker": marker, click: open }, String(marker));
}

// Words that say no more than was checked: "quoted" is that these words stand there, "supported" that a judge said so.
function checks(cited) {
  const tag = (kind, words) => h("span", { class: `check ${kind}` }, words);
  const first = cited.find((one) => !one.quoted);
  const backed = cited.map((one) => one.supported);
  return [
    first ? tag("no", ["not quoted", first.reason ? [": ", isolated(first.reason)] : ""]) : tag("yes", "quoted"),
    backed.includes(false) ? tag("no", "not supported") : backed.every((one) => one === true) ? tag("yes", "supported") : null,
  ];
}

function sources(answer, actions, hedged) {
  const by = Map.groupBy(answer.citations, (one) => one.marker);
  if (!by.size && !answer.uncited.length) return null;
  const one = ([marker, cited]) => {
    const [{ title, url }] = cited;
    const quote = cited.map((each) => each.quote).filter(Boolean).join(" … ");
    const name = titled({ title, id: url ?? "a source that does not exist" });
    return h(
      "li",
      { id: `source-${marker}`, tabindex: "-1" },
      h("span", { class: "number", "aria-hidden": "true" }, String(marker)),
      h("div", {}, actions.cited ? h("button", { type: "button", class: "link", click: (event) => actions.cited(cited, event.currentTarget) }, name) : h("span", {}, name), quote ? h("q", { dir: "auto" }, cut(unsigned(quote).replaceAll("\0", "").replace(/\s+/g, " "), 240)) : null, h("p", { class: "checks" }, hedged ? null : checks(cited), url ? h("span", { class: "place", dir: "auto" }, url) : null)),
    );
  };
  const bare = answer.uncited.map((sentence) => h("li", {}, h("span", { class: "number none", "aria-hidden": "true" }, "–"), h("div", {}, h("q", { dir: "auto" }, cut(sentence, 240)), h("p", { class: "checks" }, h("span", { class: "check no" }, "not supported by any source")))));
  return h("ol", { class: "sources", "aria-label": "Sources" }, [...by].toSorted(([a], [b]) => a - b).map(one), bare);
}
