// The source of a citation or a passage, opened beside the answer at its place, which is marked.

import { address, facts, h, isolated } from "./dom.js";
import { positions, ranges, rendered } from "./blocks.js";
import { titled } from "./passages.js";
import { get, picture, place, within } from "./requests.js";
import { counted, rich, t } from "./language.js";
import { cut } from "./words.js";

const AROUND = 6000;

const panel = document.getElementById("source");
let from = null;
let opened = 0;
let pictures = [];

export const isOpen = () => !panel.hidden;

// `marks` are {start, end} in the passage's text, in characters; `at` is where the focus returns to.
export const openSource = (passage, marks, at) => openPanel(titled(passage), passage.url ? address(passage.url) : isolated(passage.id), at, () => source(passage, marks).catch((error) => [h("p", { class: "note bad" }, isolated(error.message)), h("p", { class: "dim" }, t("as_graded")), alone(passage, marks)]));

// A document with what is known of it, and its text; `acts` are buttons.
export const openDocument = (about, at, acts) => openPanel(cut(about.title || about.file, 160), isolated(about.file), at, async () => [
  facts([[t("kind"), kindOf(about)], [t("date"), about.date ? isolated(cut(about.date, 40)) : null], [t("pages"), about.pages && counted(about.pages)], [t("passages_count"), counted(about.passages)], [t("characters"), counted(about.characters)], [t("added"), about.added ? `${about.added.slice(0, 16).replace("T", " ")} UTC` : null], ...Object.entries(about.meta).map(([name, value]) => [cut(name, 60), isolated(cut(typeof value === "string" ? value : JSON.stringify(value), 300))])]),
  about.because ? h("p", { class: "note bad" }, about.state === "unread" ? rich("not_read_it", { reason: isolated(cut(about.because, 1000)) }) : rich("partly_read_it", { reason: isolated(cut(about.because, 1000)) })) : null,
  about.state === "unfinished" ? h("p", { class: "note" }, t("still_reading")) : null,
  h("p", { class: "acts" }, acts),
  about.passages ? h("div", { class: about.kind === "code" ? "prose document coded" : "prose document" }, await textFrom(about, 0)) : null,
].filter(Boolean));

// The ending of its file, which people know it by.
export const kindOf = ({ file, kind }) => (/\.([a-z0-9]{1,8})$/i.exec(file)?.[1] ?? kind).toUpperCase();

// Its text from here, as far as the server gives it at once, and a button for the rest.
async function textFrom(about, start) {
  const text = await get(within(`${place("documents", about.id)}/text`, { start }));
  const blocks = text.blocks.filter((block) => block.start >= start);
  const more = blocks.length && text.end < about.characters ? h("button", { type: "button", class: "quiet", click: async () => more.replaceWith(...(await textFrom(about, text.end))) }, t("show_more")) : "";
  return [...document_(blocks, about, -1, 0, []), more];
}

async function openPanel(name, where, at, load) {
  const turn = (opened += 1);
  from = at;
  clear();
  const body = h("div", { class: "body", tabindex: "0", role: "region", "aria-label": t("text_of_source") }, h("p", { class: "dim" }, t("opening_source")));
  const title = h("h2", { tabindex: "-1" }, name);
  panel.replaceChildren(h("div", { class: "head" }, title, h("button", { type: "button", class: "quiet", click: closeSource }, t("close"), h("kbd", {}, "Esc"))), h("p", { class: "place" }, where), body);
  panel.hidden = false;
  document.body.classList.add("beside");
  title.focus({ preventScroll: true });
  const parts = await load().catch((error) => [h("p", { class: "note bad" }, isolated(error.message))]);
  if (turn !== opened) return;
  body.replaceChildren(...parts);
  const shown = body.querySelector("mark.here") ?? body.querySelector("mark");
  if (shown) body.scrollTop = shown.getBoundingClientRect().top - body.getBoundingClientRect().top - body.clientHeight / 3;
}

export function closeSource() {
  if (panel.hidden) return;
  opened += 1;
  panel.hidden = true;
  document.body.classList.remove("beside");
  clear();
  if (from?.isConnected) from.focus({ preventScroll: true });
}

function clear() {
  pictures.forEach((url) => URL.revokeObjectURL(url));
  pictures = [];
}

const here = (words) => h("mark", { class: "here" }, words);
const alone = (passage, marks) => {
  const at = positions(passage.text);
  return h("div", { class: "prose" }, rendered(passage.text, marks.map(({ start, end }) => ({ start: at(start), end: at(end), wrap: here }))));
};

async function source(passage, marks) {
  if (passage.source === "external") return [h("p", { class: "dim" }, t("text_from_outside")), alone(passage, marks)];
  const found = await get(place("passages", passage.id));
  if (!found.document) return [alone(passage, marks)];
  const { document: about } = found;
  const start = found.passage.start;
  const length = Array.from(passage.text).length;
  const text = await get(within(`${place("documents", about.id)}/text`, { start: Math.max(0, start - AROUND), end: start + length + AROUND }));
  const parts = [];
  if (text.start > 0) parts.push(h("p", { class: "dim edge" }, t("begins_before")));
  const page = /page=(\d+)$/.exec(decodeURIComponent(passage.url ?? ""))?.[1];
  if (page && about.kind === "pdf") parts.push(await pageOf(about, Number(page)));
  parts.push(h("div", { class: about.kind === "code" ? "prose document coded" : "prose document" }, document_(text.blocks, about, start, length, marks)));
  if (text.end < about.characters) parts.push(h("p", { class: "dim edge" }, t("goes_on")));
  return parts;
}

async function pageOf(about, page) {
  const url = await picture(`${place("documents", about.id)}/pages/${page}.png`).catch(() => null);
  if (!url) return h("p", { class: "note" }, t("page_not_drawn", { n: page }));
  pictures.push(url);
  return h("figure", { class: "page" }, h("img", { src: url, alt: t("page_printed", { n: page }) }), h("figcaption", {}, about.pages ? t("page_n_of", { n: page, all: about.pages }) : t("page_n", { n: page })));
}

// Blocks under their headings; the passage has a rule beside it, and what is cited in it is marked.
function document_(blocks, about, start, length, marks) {
  let path = [];
  return blocks.flatMap((block) => {
    const at = positions(block.text);
    const inside = ({ start: a, end: b }, wrap) => ({ start: at(a - block.start), end: at(b - block.start), wrap });
    const line = /^L(\d+)$/.exec(block.place)?.[1];
    const drawn = rendered(block.text, marks.map((one) => inside({ start: start + one.start, end: start + one.end }, here)), { line: about.kind === "code" && line ? Number(line) : null });
    const new_ = block.path.filter((name, n) => block.path.slice(0, n + 1).join("\n") !== path.slice(0, n + 1).join("\n"));
    const depth = block.path.length - new_.length;
    path = block.path;
    const within_ = block.start < start + length && block.end > start;
    const page = /^page=(\d+)$/.exec(block.place)?.[1];
    return [
      ...new_.map((name, n) => h("p", { class: `heading d${Math.min(3, depth + n)}`, dir: "auto" }, cut(name, 400))),
      h("div", { class: `block ${block.kind}${within_ ? " cited" : ""}`, "data-page": page ?? null }, drawn),
    ];
  });
}
