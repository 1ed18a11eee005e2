// Runs of `surefoot evaluate`: listed, and each opened in a frame of its own, which may do nothing but draw itself.

import { h, isolated } from "./dom.js";
import { get, place } from "./requests.js";
import { rich, t } from "./language.js";
import { level, percentage, spaced, upper } from "./words.js";

const HEADLINES = 4;

export async function evaluationsView() {
  const { evaluations } = await get("/evaluations");
  const metric = (one) => h("li", {}, h("span", { class: "dim" }, upper(spaced(one.metric))), " ", h("b", {}, percentage(one.mean)), " ", level(one.level));
  const card = ({ name, created, records, summaries }) =>
    h("li", {}, h("h2", {}, h("a", { href: `#/evaluations/${encodeURIComponent(name)}`, dir: "auto" }, name)), h("p", { class: "dim" }, [created?.slice(0, 10), t("records_n", { n: records })].filter(Boolean).join(" · ")), summaries?.length ? h("ul", { class: "metrics" }, summaries.slice(0, HEADLINES).map(metric)) : h("p", { class: "missing" }, t("not_judged")));
  return h("div", { class: "view" }, h("h1", { tabindex: "-1" }, t("evaluations")), evaluations.length ? h("ol", { class: "runs" }, evaluations.map(card)) : h("div", { class: "missing" }, h("p", {}, t("not_evaluated")), h("p", {}, rich("to_evaluate", { command: h("code", {}, "surefoot evaluate --run runs/NAME FILE") }))));
}

// The frame is of no origin, and reads nothing of ours: it is told the theme.
export function themeFrame() {
  const { theme = "system" } = document.documentElement.dataset;
  document.querySelector("iframe")?.contentWindow.postMessage({ theme }, "*");
}

export function evaluationView(name) {
  const frame = h("iframe", { src: place("evaluations", name), sandbox: "allow-scripts allow-popups allow-downloads", title: t("evaluation_named", { name }), load: themeFrame });
  return h("div", { class: "view framed" }, h("p", { class: "path" }, h("a", { href: "#/evaluations" }, t("evaluations")), " › ", isolated(name)), h("h1", { class: "unseen", tabindex: "-1" }, t("evaluation_named", { name })), frame);
}
