// One question and its answer, drawn while it happens and afterwards.

import { h, isolated } from "./dom.js";
import { counted, rich, t, tenths } from "./language.js";
import { answerOf, draftOf, sourcesOf } from "./answer.js";
import { certaintyOf, factorsOf, wordOf } from "./confidence.js";
import { passagesOf } from "./passages.js";
import { scaleOf } from "./scale.js";
import { isNumber, seconds, upper } from "./words.js";

// What the decision means. It rests on grades alone: nothing is called correct here.
const MEANS = {
  correct: t("means_correct"),
  ambiguous: t("means_ambiguous"),
  incorrect: t("means_incorrect"),
};
const DOING = {
  retrieve: t("doing_retrieve"),
  grade: t("doing_grade"),
  refine: t("doing_refine"),
  rewrite: t("doing_rewrite"),
  search: t("doing_search"),
  "grade external": t("doing_grade_external"),
  "refine external": t("doing_refine_external"),
  generate: t("doing_generate"),
};
const STEPS = {
  complete: t("step_complete"),
  retrieve: t("step_retrieve"),
  grade: t("step_grade"),
  refine: t("step_refine"),
  rewrite: t("step_rewrite"),
  search: t("step_search"),
  "grade external": t("step_grade_external"),
  "refine external": t("step_refine_external"),
  generate: t("step_generate"),
  quote: t("step_quote"),
  verify: t("step_verify"),
};
// The step that follows what has just been told, for servers that only say when a step has ended.
const NEXT = { begin: "retrieve", passages: "grade", decision: "refine", queries: "search", external: "grade external", conflicts: "generate" };
const FIELDS = ["read_as", "passages", "grades", "decision", "queries", "external", "strips", "conflicts", "answer"];

// A search that did not fail, and did less than it could: of use to those who look how the answer was found.
const quiet = (step) => step.name === "search" && step.degraded && !step.error;

const blank = (question) => ({ id: "", question, passages: [], grades: [], decision: null, queries: [], external: [], strips: [], conflicts: [], read_as: "", answer: null, steps: [], config: {}, error: null });

export class Turn {
  // `able` gives what the page can do with a turn; a file can do nothing, and is a picture of what happened.
  constructor(question, able = () => ({}), tell = () => {}, level = 2) {
    this.level = level;
    this.trace = blank(question);
    this.actions = able(this);
    this.tell = tell;
    this.thresholds = null;
    this.draft = "";
    this.heading = h(`h${level}`, { class: "asked", tabindex: "-1", dir: "auto" }, question);
    this.readAs = h("p", { class: "read-as dim", hidden: true });
    this.verdict = h("div", { class: "verdict" });
    this.now = h("p", { class: "now" }, h("span", { class: "pulse", "aria-hidden": "true" }), this.doing = h("span", {}, t("asking")), this.clock = h("span", { class: "clock", "aria-hidden": "true" }));
    this.searches = h("div", { class: "searches" });
    this.reply = h("div", { class: "reply" });
    this.found = h("div", { class: "found" });
    this.spent = h("div", {});
    this.foot = h("footer", {});
    this.how = h("details", { class: "how", hidden: true, toggle: () => this.drawHow() }, this.line = h("summary", {}), this.verdict, this.searches, this.found, this.spent);
    this.troubles = h("div", { class: "troubles" });
    this.cited = h("div", {});
    this.node = h("article", { class: "turn live" }, this.heading, this.readAs, this.now, this.reply, this.troubles, this.how, this.cited, this.foot);
    this.begun = performance.now();
    this.ticking = setInterval(() => this.tick(), 100);
  }

  static of(trace, able, level) {
    const turn = new Turn(trace.question, able, undefined, level);
    turn.trace = { ...blank(trace.question), ...trace };
    if (trace.decision) turn.thresholds = { lower: trace.decision.lower, upper: trace.decision.upper };
    turn.drawReadAs();
    turn.drawTroubles();
    turn.drawAnswer();
    turn.finish();
    return turn;
  }

  hear(name, { trace, value }) {
    if (trace) this.trace.id = trace;
    if (name === "begin") {
      this.trace.id = value.id ?? trace;
      this.thresholds = value.thresholds ?? null;
      this.trace.config = value.config ?? {};
    } else if (name === "started") this.say(value.step ?? value);
    else if (name === "step") this.trace.steps = [...this.trace.steps, value];
    else if (name === "text") this.draft += value;
    else if (FIELDS.includes(name)) this.trace[name] = value;
    if (NEXT[name]) this.say(NEXT[name]);
    this.draw(name);
  }

  draw(name) {
    const { trace } = this;
    if (name === "text") this.reply.replaceChildren(draftOf(this.draft));
    if (name === "read_as") this.drawReadAs();
    if (name === "passages") this.how.hidden = false;
    if (["passages", "external", "answer"].includes(name)) this.drawLine();
    if (["step", "conflicts"].includes(name)) this.drawTroubles();
    if (this.how.open) this.drawPart(name);
    if (name === "passages") this.tell(t("passages_to_grade", { n: trace.passages.length }));
    if (name === "decision" && trace.decision) this.tell(MEANS[trace.decision.action] ?? "");
    if (name === "queries" && trace.queries.length) this.tell(t("searching_for", { query: trace.queries.at(-1) }));
    if (name === "answer") {
      this.drawAnswer();
      this.tell(trace.answer.refused ? t("told_refused") : trace.answer.hedged ? t("told_unsure") : t("told_answer", { n: new Set(trace.answer.citations.map((one) => one.marker)).size }));
    }
  }

  say(step) {
    this.doing.textContent = `${DOING[step] ?? upper(STEPS[step] ?? String(step))}${step === "grade" && this.trace.passages.length ? ` (${counted(this.trace.passages.length)})` : ""}`;
  }

  tick() {
    this.clock.textContent = `${tenths((performance.now() - this.begun) / 1000)} s`;
  }

  // The line that all the rest is folded behind: how much was used, and how sure the answer is.
  drawLine() {
    const { passages, external, strips, answer } = this.trace;
    const n = passages.length + external.length;
    const read = new Set(strips.filter((strip) => strip.kept).map((strip) => strip.passage_id));
    const used = read.size || new Set((answer?.citations ?? []).map((one) => one.strip?.passage_id).filter(Boolean)).size;
    const sure = answer ? certaintyOf(answer) : "";
    const counts = !answer ? t("passages_found", { n }) : used ? t("passages_used", { n, used }) : t("no_passages_used", { n });
    this.line.replaceChildren(counts, sure ? " · " : "", sure ? h("b", { class: `certainty ${wordOf(answer).replace(" ", "-")}` }, sure) : "", this.actions.settings?.(this.trace.config).map((words) => ` · ${words}`).join("") ?? "");
  }

  // What is folded is drawn when it is opened, and then as it grows.
  drawHow() {
    if (!this.how.open) return;
    this.drawScale();
    this.drawSearches();
    this.drawPassages();
    this.drawSpent();
  }

  drawPart(name) {
    if (["passages", "grades", "decision", "external"].includes(name)) this.drawScale();
    if (["passages", "grades", "strips"].includes(name)) this.drawPassages();
    if (["queries", "external", "step"].includes(name)) this.drawSearches();
    if (name === "answer" && !this.found.querySelector("details[open]")) this.drawPassages();
  }

  drawReadAs() {
    const { read_as: read } = this.trace;
    this.readAs.hidden = !read;
    this.readAs.replaceChildren(...rich("read_as", { question: isolated(read) }));
  }

  drawScale() {
    const { trace } = this;
    if (!this.thresholds && trace.decision) this.thresholds = { lower: trace.decision.lower, upper: trace.decision.upper };
    if (!this.thresholds || !isNumber(this.thresholds.lower) || !isNumber(this.thresholds.upper)) return;
    if (!this.scale) {
      this.scale = scaleOf(this.thresholds, (passage) => this.list?.open(passage.id));
      this.verdict.append(this.action = h("p", { class: "action" }), this.scale.node);
    }
    if (trace.decision) this.action.replaceChildren(h("b", { class: trace.decision.action }, MEANS[trace.decision.action] ?? ""));
    this.scale.show(trace);
  }

  drawSearches() {
    const { queries, external, steps } = this.trace;
    const notes = [...new Set(steps.filter(quiet).map((step) => step.degraded))];
    const searched = notes.length || steps.some((step) => step.name === "search" && step.error);
    const none = notes.map((words) => h("p", { class: "note" }, isolated(upper(words)), "."));
    this.searches.replaceChildren(...none, queries.length ? h("p", { class: "searched" }, h("span", { class: "kind" }, t("searches")), h("span", { class: "queries" }, queries.map((query) => h("span", { class: "tag", dir: "auto" }, query))), h("span", { class: "dim" }, external.length ? t("from_outside", { n: external.length }) : searched ? "" : t("nothing_outside"))) : "");
  }

  // What a reader has to know whether or not the rest is opened: sources that disagree, and parts that did not do their work.
  drawTroubles() {
    const { external, steps, conflicts } = this.trace;
    const trouble = steps.filter((step) => (step.degraded || step.error) && !quiet(step));
    const conflict = (one) => {
      const both = { one: h("q", { dir: "auto" }, one.local_says), other: h("q", { dir: "auto" }, one.external_says) };
      return h("li", {}, external.some((passage) => passage.id === one.external) ? rich("differ_outside", both) : rich("differ_documents", both));
    };
    this.troubles.replaceChildren(
      ...[
        conflicts.length ? h("div", { class: "doubt" }, h("p", {}, t("sources_disagree")), h("ul", {}, conflicts.map(conflict))) : null,
        ...trouble.map((step) => h("p", { class: step.error ? "note bad" : "note" }, h("b", {}, upper(STEPS[step.name] ?? step.name)), ": ", step.error ? isolated(step.error) : null, step.error && step.degraded ? t("instead") : null, step.degraded ? isolated(this.named(step.degraded)) : null)),
      ].filter(Boolean),
    );
  }

  // Steps name passages by their ids; a reader knows them by their titles.
  named(words) {
    const titles = new Map([...this.trace.passages, ...this.trace.external].map(({ id, title }) => [id, title.split(" › ").at(-1)]));
    return words.replace(/\bp[0-9a-f]{24}\b/g, (id) => (titles.get(id) ? `“${titles.get(id)}”` : id));
  }

  drawPassages() {
    const { passages, external, strips } = this.trace;
    const count = passages.length + external.length;
    if (!count) return this.found.replaceChildren(this.title(t("passages")), h("p", { class: "missing" }, t("none_found")));
    const used = strips.filter((strip) => strip.kept).length;
    this.list = passagesOf(this.trace, this.actions);
    this.found.replaceChildren(
      this.title(t("passages_n", { n: count }), h("span", { class: "dim" }, strips.length ? ` · ${t("parts_used", { n: strips.length, used })}` : "")),
      this.list.node,
    );
  }

  title(...words) {
    return h(`h${this.level + 1}`, {}, words);
  }

  drawAnswer() {
    this.reply.replaceChildren(...answerOf(this.trace, this.actions).filter(Boolean));
    this.cited.replaceChildren(sourcesOf(this.trace, this.actions) ?? "");
  }

  finish() {
    clearInterval(this.ticking);
    this.node.classList.remove("live");
    this.now.hidden = true;
    if (!this.trace.answer) this.drawAnswer();
    this.how.hidden = false;
    this.drawLine();
    if (this.how.open) this.drawSpent();
    this.foot.replaceChildren(...[this.actions.foot?.()].filter(Boolean));
  }

  drawSpent() {
    const { answer } = this.trace;
    this.spent.replaceChildren(...[answer ? factorsOf(answer) : null, costs(this.trace)].filter(Boolean));
  }

  // It ended without an answer; `ways` are the buttons that go on from here.
  fail(message, ways = []) {
    clearInterval(this.ticking);
    this.node.classList.remove("live");
    this.now.hidden = true;
    this.reply.replaceChildren(h("div", { class: "failed", role: "alert" }, h("p", { dir: "auto" }, message), ways.length ? h("p", { class: "acts" }, ways) : null));
  }
}

// What each step took: a bar of their shares, and the figures.
function costs({ steps }) {
  const total = steps.reduce((sum, step) => sum + (step.seconds || 0), 0);
  if (!total) return null;
  const named = [...Map.groupBy(steps, (step) => step.name)].map(([name, all]) => {
    const sum = (key) => all.reduce((whole, step) => whole + (step[key] || 0), 0);
    return { name, seconds: sum("seconds"), graded: sum("graded"), calls: sum("calls"), tokens: sum("tokens") };
  });
  const listed = named.filter((step) => step.seconds >= 0.0005 || step.calls);
  const bars = h("div", { class: "shares", "aria-hidden": "true" });
  named.forEach((step, n) => {
    const piece = h("i", { class: `s${n % 4}` });
    piece.style.flexGrow = String(Math.max(0.004, step.seconds / total));
    bars.append(piece);
  });
  const figures = ({ graded, calls, tokens }) => [graded ? t("graded_n", { n: graded }) : null, calls ? t("calls_n", { n: calls }) : null, tokens ? t("tokens_n", { n: tokens }) : null].filter(Boolean).join(", ");
  return h("details", { class: "costs" }, h("summary", {}, h("span", {}, t("time_in_steps", { n: listed.length, time: seconds(total) })), bars), h("dl", {}, listed.map((step) => h("div", {}, h("dt", {}, STEPS[step.name] ?? step.name), h("dd", {}, seconds(step.seconds), figures(step) ? h("span", { class: "dim" }, ` · ${figures(step)}`) : null)))));
}
