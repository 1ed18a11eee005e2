// The page that asks: which view an address means, the question on its way, and what the keyboard does.

import { h, isolated } from "./dom.js";
import { attributionPart } from "./evidence.js";
import { Problem, askEvents, get, place, post, within } from "./requests.js";
import { Turn } from "./turn.js";
import { rich, t } from "./language.js";
import { footOf, remember, unfit } from "./feedback.js";
import { notice, tell } from "./notices.js";
import { closeSource, isOpen, openSource } from "./source.js";
import { listConversations, markCurrent } from "./conversations.js";
import { addFiles, documentsView } from "./documents.js";
import { evaluationView, evaluationsView } from "./evaluations.js";
import { quotedAt } from "./passages.js";
import { changed, chosenSettings, loadSettings, openSettings } from "./settings.js";
import { firstQuestions, nextQuestions } from "./suggestions.js";
import { cut, decoded } from "./words.js";

const $ = (id) => document.getElementById(id);
const [main, question, send, picked, model] = ["main", "question", "send", "collection", "model"].map($);
const RECOVERIES = [1000, 2000, 4000];

const state = { conversation: null, collections: [], running: null, shown: 0 };
const chosen = () => state.collections.find((one) => one.name === picked.value) ?? state.collections[0] ?? null;

// ---- what can be done with a passage, an answer, a turn

const found = ({ trace }) => [...trace.passages, ...trace.external];

const actionsOf = (turn) => ({
  cited: (cited, at) => {
    const held = cited.filter((one) => one.strip);
    const quoted = held.filter(quotedAt);
    const marks = quoted.length ? quoted.map((one) => quotedAt(one).map((at) => one.strip.start + at)) : held.map(({ strip }) => [strip.start, strip.end]);
    const id = cited.find((one) => one.strip)?.strip.passage_id;
    const passage = found(turn).find((one) => one.id === id);
    if (passage) openSource(passage, marks.map(([start, end]) => ({ start, end })), at);
    else notice(t("cites_nothing"));
  },
  source: (passage, at) => {
    const span = turn.trace.grades[found(turn).indexOf(passage)]?.span;
    openSource(passage, span ? [{ start: span[0], end: span[1] }] : [], at);
  },
  why: (passage, at, box) => explain(turn.trace, passage, at, box),
  unfit: (passage) => unfit(turn.trace, passage),
  settings: changed,
  foot: () => footOf(turn.trace, { again: () => ask(turn.trace.question), edit: () => edit(turn.trace.question) }),
});

async function explain(trace, passage, at, box) {
  at.disabled = true;
  box.replaceChildren(h("p", { class: "dim" }, t("grading_again")));
  try {
    const moved = await post(`${place("traces", trace.id)}/explain`, { passage: passage.id });
    box.replaceChildren(attributionPart(moved, true));
  } catch (error) {
    box.replaceChildren(h("p", { class: "note bad" }, isolated(error.message)));
    recover(error);
  }
  at.disabled = false;
}

// ---- asking

// Puts a question into the field, to be asked in other words.
function edit(words) {
  question.value = words;
  grow();
  question.focus();
}

async function ask(words) {
  if (location.hash && !/^#\/(c\/.*)?$/.test(location.hash)) {
    history.pushState(null, "", "#/");
    state.conversation = null;
  }
  if (!main.querySelector(".turns")) main.replaceChildren(h("h1", { class: "unseen" }, t("conversation")), h("div", { class: "turns" }));
  const here = (state.shown += 1);
  document.body.classList.remove("welcome");
  const turn = new Turn(words, actionsOf, tell);
  main.querySelector(".turns").append(turn.node);
  turn.node.scrollIntoView({ block: "start" });
  tell(t("question_sent"));
  const stop = new AbortController();
  busy({ stop, turn });
  try {
    const value = { question: words, collection: chosen()?.name, model: model.value || undefined, ...chosenSettings(), conversation: state.conversation ?? undefined };
    for await (const [name, data] of askEvents(value, stop.signal)) {
      if (name === "begin" && here === state.shown) begun(data.value);
      turn.hear(name, data);
    }
    turn.finish();
    const earlier = new Set([...main.querySelectorAll(".asked")].map((one) => one.textContent));
    turn.node.append(nextQuestions(turn.trace, chosen()?.name, earlier, ask));
  } catch (error) {
    await failed(error, turn, words);
  } finally {
    busy(null);
    listConversations(state.conversation).catch(() => {});
  }
}

function begun({ conversation }) {
  if (!conversation || state.conversation === conversation) return;
  state.conversation = conversation;
  history.replaceState(null, "", `#/c/${encodeURIComponent(conversation)}`);
}

// An answer that was finished behind a lost connection is found by its id; all else is said, with what can be done.
async function failed(error, turn, words) {
  const again = h("button", { type: "button", click: () => ask(words) }, t("ask_again"));
  const change = h("button", { type: "button", class: "quiet", click: () => edit(words) }, t("edit_question"));
  if (error.name === "AbortError") {
    tell(t("stopped"));
    return turn.fail(t("stopped"), [again, change]);
  }
  if (!(error instanceof Problem)) throw error;
  if (error.code === "broken" && turn.trace.id) {
    turn.doing.textContent = t("connection_lost");
    tell(t("connection_lost"));
    for (const wait of RECOVERIES) {
      await new Promise((later) => setTimeout(later, wait));
      const trace = await get(place("traces", turn.trace.id)).catch(() => null);
      if (trace?.answer) {
        turn.node.replaceWith(Turn.of(trace, actionsOf).node);
        tell(t("answer_found"));
        return undefined;
      }
    }
  }
  tell(error.message);
  turn.fail(error.message, [again, change]);
  if (error.wait) countdown(again, error.wait);
  recover(error);
  return undefined;
}

function countdown(button, seconds) {
  button.disabled = true;
  const end = Date.now() + seconds * 1000;
  const tick = () => {
    const left = Math.ceil((end - Date.now()) / 1000);
    button.textContent = left > 0 ? t("ask_again_in", { n: left }) : t("ask_again");
    button.disabled = left > 0;
    if (left > 0 && button.isConnected) setTimeout(tick, 250);
  };
  tick();
}

function recover(error) {
  if (error.status === 401) askKey(error.message);
}

function busy(running) {
  state.running = running;
  send.textContent = running ? t("stop") : t("ask");
  send.classList.toggle("primary", !running);
}

// ---- a key, where the server wants one; it becomes a cookie that no script can read

function askKey(message) {
  if (document.querySelector("dialog[open]")) return;
  const why = h("p", { role: "alert" }, isolated(message));
  const field = h("input", { type: "password", id: "key", autocomplete: "current-password", required: true, placeholder: "sf-…" });
  const dialog = h("dialog", { "aria-labelledby": "key-name", close: () => dialog.remove() }, h("form", { submit: async (event) => {
    event.preventDefault();
    try {
      await post("/session", { key: field.value.trim() });
      dialog.close();
      await start();
    } catch (error) {
      why.replaceChildren(isolated(error.message));
      field.select();
    }
  } }, h("h2", { id: "key-name" }, t("server_wants_key")), why, h("label", { for: "key" }, t("key")), field, h("p", { class: "dim" }, rich("who_makes_keys", { command: h("code", {}, "surefoot serve keys NAME") })), h("p", { class: "acts" }, h("button", { type: "submit", class: "primary" }, t("open")))));
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}

// ---- views

function welcome() {
  const here = chosen();
  const held = here ? t("holds", { name: here.name, documents: t("documents_n", { n: here.documents }), passages: t("passages_n", { n: here.passages }) }) : "";
  const empty = here && !here.documents;
  document.body.classList.add("welcome");
  return h(
    "div",
    { class: "hero" },
    h("h1", { tabindex: "-1" }, empty ? t("nothing_to_ask") : t("ask_your_documents")),
    empty
      ? [h("p", {}, t("empty_collection", { name: here.name })), h("pre", {}, h("code", {}, "surefoot index FOLDER"))]
      : [h("p", {}, t("welcome")), h("p", { class: "dim figures" }, held), firstQuestions(here?.name, ask)],
  );
}

async function conversationView(id) {
  const found = await get(place("conversations", id));
  state.conversation = found.id;
  if ([...picked.options].some((one) => one.value === found.collection)) picked.value = found.collection;
  remember(found.feedback ?? []);
  const turns = found.turns.map((trace) => turnOf(trace));
  return [h("h1", { class: "unseen", tabindex: "-1" }, cut(found.title || t("conversation"), 200)), h("div", { class: "turns" }, turns)];
}

const turnOf = (trace) => Turn.of(trace, actionsOf).node;
const traceView = async (id) => [h("h1", { class: "unseen", tabindex: "-1" }, t("one_answer")), h("div", { class: "turns" }, turnOf(await get(place("traces", id))))];

async function viewOf(hash) {
  const [kind = "", ...rest] = hash.replace(/^#\/?/, "").split("/");
  const name = decoded(rest.join("/"));
  if (kind === "c" && name) return conversationView(name);
  if (kind === "t" && name) return traceView(name);
  if (kind === "documents") return documentsView(chosen()?.name, choose);
  if (kind === "evaluations") return name ? evaluationView(name) : evaluationsView();
  if (kind || location.pathname !== "/") throw new Problem(t("no_page"), { status: 404 });
  return welcome();
}

async function route(first = false) {
  const here = (state.shown += 1);
  const { hash } = location;
  closeSource();
  shut();
  state.running?.stop.abort();
  state.conversation = null;
  document.body.classList.remove("welcome");
  markCurrent(/^#\/c\//.test(hash) ? decoded(hash.slice(4)) : null);
  document.querySelectorAll(".places a").forEach((link) => (hash.startsWith(link.getAttribute("href")) ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
  let view;
  try {
    view = await viewOf(hash);
  } catch (error) {
    view = [h("div", { class: "view" }, h("h1", { tabindex: "-1" }, error.status === 404 ? t("not_here") : t("not_opened")), h("p", { class: "note bad" }, isolated(error.message)), h("p", {}, h("a", { href: "/#/" }, t("ask_something"))))];
    recover(error);
  }
  if (here !== state.shown) return;
  main.replaceChildren(...[view].flat());
  const title = main.querySelector("h1").textContent;
  document.title = document.body.classList.contains("welcome") ? "Surefoot" : `${cut(title, 60)} · Surefoot`;
  main.querySelector(".turn:last-child")?.scrollIntoView({ block: "start" });
  if (first) return;
  if (document.body.classList.contains("welcome")) question.focus();
  else main.querySelector("h1").focus({ preventScroll: true });
}

// ---- files

const choose = () => $("files").click();

function add(list) {
  const files = [...list];
  if (!files.length) return;
  if (!location.hash.startsWith("#/documents")) location.hash = "#/documents";
  const done = async () => {
    await collections();
    main.querySelector(".view")?.dispatchEvent(new Event("added"));
  };
  addFiles(files, chosen()?.name, { tell, done, problem: recover });
}

let dragged = 0;
const drags = (event) => event.dataTransfer?.types.includes("Files");
const dropping = (on) => ($("drop").hidden = !on);
addEventListener("dragenter", (event) => drags(event) && dropping((dragged += 1) > 0));
addEventListener("dragleave", (event) => drags(event) && dropping((dragged = Math.max(0, dragged - 1)) > 0));
addEventListener("dragover", (event) => drags(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!drags(event)) return;
  event.preventDefault();
  dropping((dragged = 0) > 0);
  add(event.dataTransfer.files);
});
$("files").addEventListener("change", () => {
  add($("files").files);
  $("files").value = "";
});
$("attach").addEventListener("click", choose);

// ---- composer

const grow = () => {
  question.style.height = "auto";
  question.style.height = `${Math.min(question.scrollHeight, 220)}px`;
  $("count").textContent = question.value.length > 3500 ? t("length", { n: question.value.length, most: 4000 }) : "";
};
question.addEventListener("input", grow);
question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("composer").requestSubmit();
});
$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  if (state.running) return state.running.stop.abort();
  const words = question.value.trim();
  if (!words) return question.focus();
  question.value = "";
  grow();
  return ask(words);
});

// ---- rail, keys

const shut = () => {
  document.body.classList.remove("railed");
  $("menu").setAttribute("aria-expanded", "false");
};
$("menu").addEventListener("click", () => {
  const open = document.body.classList.toggle("railed");
  $("menu").setAttribute("aria-expanded", String(open));
  if (open) document.querySelector("#rail a").focus();
});

$("centre").addEventListener("click", shut);

$("settings").addEventListener("click", () => openSettings(model));

const KEYS = [["/", t("key_question"), () => question.focus()], ["n", t("key_new"), () => (location.hash = "#/")], ["d", t("key_documents"), () => (location.hash = "#/documents")], ["e", t("key_evaluations"), () => (location.hash = "#/evaluations")], ["?", t("key_shortcuts"), () => keys()]];
const single = () => localStorage.getItem("keys") !== "off";

function keys() {
  if (document.querySelector("dialog[open]")) return;
  const box = h("input", { type: "checkbox", id: "single", change: () => localStorage.setItem("keys", box.checked ? "on" : "off") });
  box.checked = single();
  const row = (name, words) => h("div", {}, h("dt", {}, h("kbd", {}, name)), h("dd", {}, words));
  const dialog = h("dialog", { "aria-labelledby": "keys-name", close: () => dialog.remove() }, h("form", { method: "dialog" }, h("h2", { id: "keys-name" }, t("keyboard_shortcuts")), h("dl", { class: "keys" }, row("Enter", t("key_ask")), row("Shift Enter", t("key_line")), row("Esc", t("key_escape")), KEYS.map(([name, words]) => row(name, words))), h("p", {}, h("label", { class: "check-label" }, box, " ", t("single_letters"))), h("p", { class: "acts" }, h("button", { class: "primary" }, t("close")))));
  document.body.append(dialog);
  dialog.showModal();
}
$("help").addEventListener("click", keys);

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    if (document.body.classList.contains("railed")) return void (shut(), $("menu").focus());
    if (isOpen()) return void closeSource();
    return void state.running?.stop.abort();
  }
  if (!single() || event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const act = KEYS.find(([name]) => name === event.key)?.[2];
  if (!act) return;
  event.preventDefault();
  act();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  question.focus();
});
addEventListener("hashchange", () => route());
model.addEventListener("change", () => localStorage.setItem("model", model.value));
picked.addEventListener("change", () => {
  localStorage.setItem("collection", picked.value);
  if (!/^#\/[ct]\//.test(location.hash)) route(true);
});

// ---- start

// The choices of a list, of which the last one taken stays; a list of one is no choice.
function offer(list, choices) {
  const before = list.value || localStorage.getItem(list.id);
  list.replaceChildren(...choices.map(([name, words]) => h("option", { value: name, selected: name === before }, words)));
  list.parentNode.hidden = choices.length < 2;
}

async function collections() {
  const { collections: known } = await get("/collections");
  state.collections = known;
  offer(picked, known.map(({ name }) => [name, name]));
}

const models = async () => offer(model, (await get("/models")).models.map((name) => [name, name === "none" ? t("quote") : name]));

// A citation that a chat client shows leads to `/?collection=C&passage=ID#/t/TRACE`.
async function citedInAddress() {
  const cited = new URLSearchParams(location.search);
  const id = cited.get("passage");
  if (!id) return;
  const found = await get(within(place("passages", id), { collection: cited.get("collection") })).catch((error) => notice(error.message));
  if (found) await openSource(found.passage, [], main.querySelector("h1"));
}

async function start() {
  try {
    await Promise.all([collections(), models(), loadSettings(), listConversations(null)]);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    main.replaceChildren(h("div", { class: "view" }, h("h1", { tabindex: "-1" }, error.status === 401 ? t("key_wanted") : t("no_reply")), h("p", { class: "note bad" }, isolated(error.message)), h("p", {}, h("button", { type: "button", click: start }, t("try_again")))));
    return recover(error);
  }
  await route(true);
  await citedInAddress();
  if (matchMedia("(hover: hover)").matches) question.focus({ preventScroll: true });
  return undefined;
}

start();
