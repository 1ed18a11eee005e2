// What can be done with an answer: copied, asked again, called right or wrong, handed on.

import { bare, h, svg } from "./dom.js";
import { t } from "./language.js";
import { notice, tell } from "./notices.js";
import { place, post } from "./requests.js";

const rated = new Map();
const key = (trace, passage = "") => `${trace}\n${passage}`;

// Marks that the server has, as it gives them.
export function remember(marks) {
  for (const { trace, passage, useful, answers } of marks) rated.set(key(trace, passage ?? ""), passage ? answers === false : useful);
}

export function unfit(trace, passage) {
  const set = (on) => (button.setAttribute("aria-pressed", String(on)), (button.textContent = on ? t("marked_unfit") : t("unfit")));
  const button = h("button", { type: "button", class: "quiet", click: async () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    if (await storeMark({ trace: trace.id, passage: passage.id, answers: on ? false : null })) {
      rated.set(key(trace.id, passage.id), on);
      set(on);
    }
  } });
  set(rated.get(key(trace.id, passage.id)) ?? false);
  return button;
}

async function storeMark(value) {
  try {
    await post("/feedback", value);
    return true;
  } catch (error) {
    tell(error.message);
    notice(error.message);
    return false;
  }
}

// An answer as plain text, each source once behind it.
export function asText({ text, citations }, between = "\n") {
  const sources = [...Map.groupBy(citations, (one) => one.marker)].map(([marker, [{ title, url }]]) => `[${marker}] ${[title, url && bare(url)].filter(Boolean).join(", ")}`);
  return [text, sources.join(between)].filter(Boolean).join("\n\n");
}

async function copy(trace) {
  try {
    await navigator.clipboard.writeText(asText(trace.answer));
    notice(t("copied"));
  } catch {
    notice(t("not_copied"));
  }
}

const DRAWN = { up: "M7 11v9H4v-9zm0 0 4-8c1.7 0 2.5 1.2 2.2 2.7L12.6 9H19a2 2 0 0 1 2 2.4l-1.4 7A2 2 0 0 1 17.6 20H7", down: "M17 13V4h3v9zm0 0-4 8c-1.7 0-2.5-1.2-2.2-2.7l.6-3.3H5a2 2 0 0 1-2-2.4l1.4-7A2 2 0 0 1 6.4 4H17" };
const icon = (name) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: DRAWN[name] }));

// `again` asks the question once more, `edit` puts it into the field.
export function footOf(trace, { again, edit }) {
  if (!trace.id) return null;
  const button = (words, click) => h("button", { type: "button", class: "quiet", click }, words);
  const reason = h("form", { class: "reason", hidden: true, submit: async (event) => {
    event.preventDefault();
    if (await storeMark({ trace: trace.id, useful: false, reason: reason.elements.reason.value.trim() })) reason.replaceChildren(h("p", { class: "dim" }, t("thank_you")));
  } }, h("label", {}, t("what_is_wrong"), h("input", { name: "reason", maxlength: "1000", autocomplete: "off" })), h("button", { type: "submit", class: "quiet" }, t("keep")));
  const thumb = (name, useful, words) => h("button", { type: "button", class: "quiet thumb", "aria-pressed": String(rated.get(key(trace.id)) === useful), click: async (event) => {
    const pressed = event.currentTarget;
    const on = pressed.getAttribute("aria-pressed") !== "true";
    if (!(await storeMark({ trace: trace.id, useful: on ? useful : null }))) return;
    rated.set(key(trace.id), on ? useful : null);
    [up, down].forEach((one) => one.setAttribute("aria-pressed", String(on && one === pressed)));
    reason.hidden = !(on && !useful);
    if (!reason.hidden) reason.elements.reason?.focus();
  } }, icon(name), words);
  const up = thumb("up", true, t("right"));
  const down = thumb("down", false, t("wrong"));
  return h("div", { class: "rate" }, h("div", { class: "acts" }, trace.answer ? button(t("copy"), () => copy(trace)) : null, button(t("ask_again"), again), button(t("edit_question"), edit), up, down, h("a", { class: "quiet button", href: `${place("traces", trace.id)}/share`, download: "answer.html" }, t("share")), h("a", { class: "quiet button", href: `#/t/${encodeURIComponent(trace.id)}` }, t("link"))), reason);
}
