// Questions that the documents answer: to begin with, and to go on with.

import { h } from "./dom.js";
import { t } from "./language.js";
import { get, within } from "./requests.js";

const AT_FIRST = 4;
const NEXT = 2;
const known = new Map();

const listed = (some, name, ask) => (some.length ? h("ul", { class: "suggested", "aria-label": name }, some.map(({ question }) => h("li", {}, h("button", { type: "button", dir: "auto", click: () => ask(question) }, question)))) : "");

// A place that fills when the server has made some; that it has none, or no time, is no fault.
export function firstQuestions(collection, ask) {
  const box = h("div", {});
  get(within("/suggestions", { collection })).then(({ suggestions }) => {
    known.set(collection, suggestions);
    box.append(listed(suggestions.slice(0, AT_FIRST), t("begin_with"), ask));
  }, () => {});
  return box;
}

// Questions that the files which the answer cites answer too, of those that are known already.
export function nextQuestions(trace, collection, asked, ask) {
  const cited = new Set((trace.answer?.citations ?? []).map((one) => one.strip?.passage_id));
  const files = new Set(trace.passages.filter((one) => cited.has(one.id)).map((one) => one.file));
  const some = (known.get(collection) ?? []).filter(({ question, file }) => files.has(file) && !asked.has(question));
  return listed(some.slice(0, NEXT), t("go_on_with"), ask);
}
