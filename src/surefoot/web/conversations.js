// The list of conversations in the rail: searched, renamed, written out, deleted.

import { certaintyOf } from "./confidence.js";
import { h, isolated } from "./dom.js";
import { asText } from "./feedback.js";
import { get, patch, place, remove, within } from "./requests.js";
import { t } from "./language.js";
import { cut } from "./words.js";

const PAUSE = 250; // milliseconds after the last letter
const [list, field] = ["past", "find"].map((id) => document.getElementById(id));
let open = null;
let typed = 0;

export async function listConversations(current) {
  open = current;
  const words = field.value.trim();
  const { conversations } = await get(within("/conversations", { limit: 100, words }));
  if (words !== field.value.trim()) return;
  list.replaceChildren(...conversations.map(line));
  if (!conversations.length) list.append(h("li", { class: "dim" }, words ? t("none_holds") : t("none_yet")));
}

field.addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => listConversations(open).catch(() => {}), PAUSE);
});

function line(one) {
  const link = h("a", { href: `#/c/${encodeURIComponent(one.id)}`, "aria-current": one.id === open ? "page" : null, dir: "auto", title: cut(one.title, 300) }, cut(one.title, 90) || t("no_question"));
  return h("li", { "data-turns": one.turns }, link, h("button", { type: "button", class: "drop", "aria-label": t("manage", { title: cut(one.title, 60) }), click: (event) => manage(one, event.currentTarget) }, "⋯"));
}

function manage({ id, title }, from) {
  const name = h("input", { id: "title", maxlength: "200", required: true, value: cut(title, 200), autocomplete: "off", dir: "auto" });
  const failed = h("p", { role: "alert" });
  const button = (words, work) => h("button", { type: "button", class: "quiet", click: (event) => tried(() => work(event.currentTarget)) }, words);
  const tried = (work) => work().catch((error) => failed.replaceChildren(isolated(error.message)));
  const finish = async () => {
    dialog.close();
    await listConversations(open);
    (from.isConnected ? from : list.querySelector("a") ?? document.getElementById("new")).focus();
  };
  const whole = () => get(place("conversations", id));
  const drop = async (pressed) => {
    if (pressed.textContent === t("delete")) return void (pressed.textContent = t("delete_for_good"));
    await remove(place("conversations", id));
    if (id === open) location.hash = "#/";
    return finish();
  };
  const dialog = h("dialog", { "aria-labelledby": "manage-name", close: () => dialog.remove() }, h("form", { submit: (event) => {
    event.preventDefault();
    tried(() => patch(place("conversations", id), { title: name.value.trim() }).then(finish));
  } },
    h("h2", { id: "manage-name" }, t("conversation")),
    h("label", { for: "title" }, t("name")),
    name,
    failed,
    h("p", { class: "acts exports" }, button(t("save_markdown"), async () => save(`${filed(title)}.md`, "text/markdown", markdownOf(await whole()))), button(t("save_json"), async () => save(`${filed(title)}.json`, "application/json", JSON.stringify(await whole(), null, 2))), button(t("delete"), drop)),
    h("p", { class: "acts" }, button(t("cancel"), async () => dialog.close()), h("button", { type: "submit", class: "primary" }, t("rename")))));
  document.body.append(dialog);
  dialog.showModal();
  name.select();
}

const filed = (title) => title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "conversation";

function save(name, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Markdown in which no image, link or markup lives that a document or a question brings along; tables and bold words do.
const lifeless = (text) => text.replace(/[\\<>[\]&]/g, "\\$&").replace(/:\/\//g, ":\\//").replace(/\bwww\./gi, "www\\.");
const onLine = (text) => lifeless(text.replace(/\s+/g, " "));

export function markdownOf({ title, turns }) {
  const about = ({ created, answer }) => [created ? `${created.slice(0, 16).replace("T", " ")} UTC` : "", answer ? certaintyOf(answer) : ""].filter(Boolean).join(" · ");
  const turn = (one) => [`## ${onLine(one.question)}`, about(one), one.answer ? lifeless(asText(one.answer, "\n\n")) : t("no_answer_there")];
  return [`# ${onLine(title)}`, ...turns.flatMap(turn)].filter(Boolean).join("\n\n");
}

export function markCurrent(current) {
  open = current;
  list.querySelectorAll("a").forEach((link) => {
    if (link.getAttribute("href") === `#/c/${encodeURIComponent(current)}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
}
