// What a reader sets: the page's language and theme, and, within what the server offers, how questions are answered.

import { h } from "./dom.js";
import { themeFrame } from "./evaluations.js";
import { LANGUAGE, t } from "./language.js";
import { get } from "./requests.js";

const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", zh: "中文" };
const THEMES = { system: t("theme_system"), light: t("theme_light"), dark: t("theme_dark") };
const CERTAINTIES = { sure: t("only_sure"), likely: t("likely_too"), unsure: t("unsure_too") };
const SEARCHERS = { nowhere: t("search_off"), chain: t("search_all"), folder: t("search_folder"), wikipedia: "Wikipedia", zim: "ZIM", pages: t("search_web") };
const YEAR = 31_536_000;

let offered = { searchers: [], certainties: [] };
let risks = {};
export async function loadSettings() {
  const found = await get("/settings");
  risks = found.certainties;
  offered = { searchers: found.searchers, certainties: Object.keys(risks) };
}

// The choice from a list of the server's: the stored one while it is offered, else the usual one, which stands first.
const choice = (name) => offered[name].find((one) => one === localStorage.getItem(name)) ?? offered[name][0];
export const chosenSettings = () => ({ searcher: choice("searchers"), certainty: choice("certainties") });

// A searcher is known by its name, and one that opens pages by that of the searcher whose pages these are.
function searcherName(name) {
  const own = name.replace(/^pages:/, "");
  return SEARCHERS[own.split(":")[0]] ?? `${t("search_web")} (${own})`;
}

// The settings of an answer that are not this server's usual ones, in words.
export function changed({ searcher, answer }) {
  const other = (value, name) => value && offered[name].length && value !== offered[name][0].split(":")[0];
  const certainty = offered.certainties.find((one) => risks[one] === answer?.risk);
  return [other(searcher?.use, "searchers") ? t("line_search", { name: searcherName(searcher.use) }) : "", other(certainty, "certainties") ? CERTAINTIES[certainty] : ""].filter(Boolean);
}

function setTheme(theme) {
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("theme");
  } else localStorage.setItem("theme", (document.documentElement.dataset.theme = theme));
  themeFrame();
}

function setLanguage(language) {
  document.cookie = `language=${language}; path=/; max-age=${YEAR}; samesite=strict`;
  location.reload();
}

// `model` is the list beside the question, of which the dialog has a copy.
export function openSettings(model) {
  if (document.querySelector("dialog[open]")) return;
  const row = (id, name, choices, value, set, about = "") => {
    if (choices.length < 2) return null;
    const list = h("select", { id, "aria-describedby": about ? `${id}-about` : null, change: () => set(list.value) }, choices.map(([one, words]) => h("option", { value: one, selected: one === value, lang: id === "language" ? one : null }, words)));
    return h("div", { class: "setting" }, h("label", { for: id }, name), list, about ? h("p", { class: "dim", id: `${id}-about` }, about) : null);
  };
  const stored = (name) => (value) => localStorage.setItem(name, value);
  const setModel = (value) => {
    model.value = value;
    model.dispatchEvent(new Event("change"));
  };
  const certainties = Object.entries(CERTAINTIES).filter(([one]) => offered.certainties.includes(one));
  const dialog = h("dialog", { "aria-labelledby": "settings-name", close: () => dialog.remove() }, h("form", { method: "dialog" },
    h("h2", { id: "settings-name" }, t("settings")),
    row("set-model", t("who_words"), [...model.options].map((one) => [one.value, one.textContent]), model.value, setModel, t("about_model")),
    row("set-searcher", t("search_outside"), offered.searchers.map((one) => [one, searcherName(one)]), choice("searchers"), stored("searchers"), t("about_search")),
    row("set-certainty", t("plain_answers"), certainties, choice("certainties"), stored("certainties"), t("about_certainty")),
    row("theme", t("theme"), Object.entries(THEMES), document.documentElement.dataset.theme ?? "system", setTheme),
    row("language", t("language"), Object.entries(LANGUAGES), LANGUAGE, setLanguage),
    h("p", { class: "acts" }, h("button", { class: "primary" }, t("close")))));
  document.body.append(dialog);
  dialog.showModal();
}
