// The answer: checked text with its markers, what each of them quotes, and what no source carries.

import { h, isolated } from "./dom.js";
import { rich, t } from "./language.js";
import { positions, rendered } from "./blocks.js";
import { quotedAt, snippet, titled } from "./passages.js";
import { cut } from "./words.js";

const MARKER = /\[(\d{1,4})\]/g;
const NOT_THERE = "[not in the sources]";
const UNCITED = t("no_source_carries");
const BEFORE = 160;

export function answerOf(trace, actions) {
  const { answer } = trace;
  if (!answer) return [h("p", { class: "missing" }, trace.error ? rich("no_answer_because", { reason: isolated(trace.error) }) : t("no_answer_there"))];
  if (answer.refused) return refusal(answer);
  if (nearest(answer)) return hedge(answer, actions);
  const doubt = answer.hedge ? h("p", { class: "hedge" }, isolated(answer.hedge)) : null;
  const worded = answer.worded ? h("p", { class: "worded dim" }, rich("worded_by", { model: h("b", {}, isolated(answer.model)) })) : null;
  return [doubt, text(unhedged(answer), actions), worded, withheld(answer)];
}

// What the answer cites, each source once; null: nothing.
export const sourcesOf = ({ answer }, actions) => (answer && !answer.refused ? sources(answer, actions, nearest(answer)) : null);

const nearest = (answer) => answer.hedged && !answer.uncited.length && !answer.worded;
const unhedged = (answer) => (answer.hedge ? { ...answer, text: answer.text.slice(answer.hedge.length).trimStart() } : answer);

// Sentences that are checked already, while the model still writes; their sources come with the answer.
export const draftOf = (words) => h("div", { class: "prose answer", dir: "auto", "aria-busy": "true" }, rendered(words, signs(words, [])));

function refusal(answer) {
  return [h("div", { class: "refusal" }, h("p", { class: "kind" }, t("no_answer")), h("div", { class: "prose" }, rendered(answer.text)), because(answer)), withheld(answer)];
}

const because = (answer) => (answer.because ? h("p", { class: "dim" }, rich("because", { reason: isolated(answer.because) })) : null);
const withheld = (answer) => (answer.withheld ? h("details", { class: "plain" }, h("summary", {}, t("withheld")), h("div", { class: "prose" }, rendered(answer.withheld))) : null);

// It may miss the question: that is said first, and nothing in it is called quoted.
function hedge(answer, actions) {
  const [unsure, reason] = [h("b", {}, t("not_sure")), isolated(answer.because)];
  const doubt = h("p", { class: "hedge" }, answer.because ? rich("nearest_because", { unsure, reason }) : rich("nearest", { unsure }));
  return [doubt, h("div", { class: "near" }, text(unhedged(answer), actions)), withheld(answer)];
}

function text(answer, actions) {
  const at = positions(answer.text);
  const known = new Set(answer.citations.map((one) => one.marker));
  const ranges = signs(answer.text, answer.uncited);
  for (const found of answer.text.matchAll(MARKER)) {
    const marker = Number(found[1]);
    if (known.has(marker)) ranges.push({ start: found.index, end: found.index + found[0].length, wrap: () => mark(answer, marker, actions) });
  }
  return h("div", { class: "prose answer", dir: "auto", "data-length": at(Infinity) }, rendered(answer.text, ranges));
}

// What of a text no source carries: such sentences, and the signs that stand behind them.
function signs(words, uncited) {
  const wrapped = (part, wrap) => {
    const found = [];
    for (let start = words.indexOf(part); start >= 0; start = words.indexOf(part, start + 1)) found.push({ start, end: start + part.length, wrap });
    return found;
  };
  const sentences = uncited.flatMap((one) => wrapped(one, (inside) => h("span", { class: "uncited", title: UNCITED }, inside)));
  return [...sentences, ...wrapped(NOT_THERE, () => h("span", { class: "not-there", title: UNCITED }, t("not_in_sources")))];
}

function mark(answer, marker, actions) {
  const cited = answer.citations.filter((one) => one.marker === marker);
  const label = cited[0].title ? t("source_n_named", { n: marker, title: cut(cited[0].title, 80) }) : t("source_n", { n: marker });
  const open = (event) => (actions.cited ? actions.cited(cited, event.currentTarget) : document.getElementById(`source-${marker}`)?.focus());
  return h("button", { type: "button", class: `cite${answer.hedged || cited.every((one) => one.quoted) ? "" : " unquoted"}`, "aria-label": label, "data-marker": marker, click: open }, String(marker));
}

// Words that say no more than was checked: "quoted" is that these words stand there, "supported" that a judge said so;
// of several statements, which have their marks in the text, those that the source carries are counted.
function checks(cited) {
  const tag = (kind, words) => h("span", { class: `check ${kind}` }, words);
  const carried = cited.filter((one) => one.quoted || one.supported).length;
  if (carried && carried < cited.length) return [tag("no", t("carries", { carried, n: cited.length }))];
  const first = cited.find((one) => !one.quoted);
  const backed = cited.map((one) => one.supported).filter((one) => one !== null && one !== undefined);
  const supported = backed.length ? backed.every(Boolean) : null;
  return [
    first ? (carried ? tag("yes", t("other_words")) : tag("no", first.reason ? rich("not_quoted_because", { reason: isolated(first.reason) }) : t("not_quoted"))) : tag("yes", t("quoted")),
    supported === null ? null : supported ? tag("yes", t("supported")) : tag("no", t("not_supported")),
  ];
}

function sources(answer, actions, hedged) {
  const by = Map.groupBy(answer.citations, (one) => one.marker);
  const one = ([marker, cited]) => {
    const [{ title, url, date }] = cited;
    const name = titled({ title, id: url ?? t("no_such_source") });
    return h(
      "li",
      { id: `source-${marker}`, tabindex: "-1" },
      h("span", { class: "number", "aria-hidden": "true" }, String(marker)),
      h("div", {}, actions.cited ? h("button", { type: "button", class: "link", click: (event) => actions.cited(cited, event.currentTarget) }, name) : h("span", {}, name), cited[0].strip ? h("p", { class: "snippet", dir: "auto" }, snippet(cited[0].strip.text, cited.map(quotedAt), BEFORE)) : null, h("p", { class: "checks" }, hedged ? null : checks(cited), url ? h("span", { class: "place", dir: "auto" }, url) : null, date ? h("span", { class: "place" }, cut(date, 40)) : null)),
    );
  };
  const unmarked = answer.text.includes(NOT_THERE) ? [] : answer.uncited;
  const bare = unmarked.map((sentence) => h("li", {}, h("span", { class: "number none", "aria-hidden": "true" }, "–"), h("div", {}, h("q", { dir: "auto" }, cut(sentence, 240)), h("p", { class: "checks" }, h("span", { class: "check no" }, t("by_no_source"))))));
  if (!by.size && !bare.length) return null;
  return h("ol", { class: "sources", "aria-label": t("sources") }, [...by].toSorted(([a], [b]) => a - b).map(one), bare);
}
