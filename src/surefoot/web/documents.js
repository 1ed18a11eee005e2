// The documents of a collection: listed, added by dropping files, removed; and what of them was not read, and why.

import { h, isolated } from "./dom.js";
import { get, place, remove, upload, within } from "./requests.js";
import { closeSource, kindOf, openDocument } from "./source.js";
import { counted, rich, rounded, t, tenths } from "./language.js";
import { cut } from "./words.js";

const POLL = 500;
const LISTED = 50; // files of an upload that have a line each
const jobs = h("div", { class: "jobs" });

const size = (bytes) => (bytes < 1e6 ? `${rounded(Math.max(1, Math.round(bytes / 1e3)))} kB` : `${tenths(bytes / 1e6)} MB`);
const named = (files) => (files.length === 1 ? cut(files[0].name, 80) : t("files_n", { n: files.length }));

export async function documentsView(collection, add) {
  const list = h("div", {}, h("p", { class: "dim" }, t("opening_list")));
  const view = h(
    "div",
    { class: "view" },
    h("h1", { tabindex: "-1" }, t("documents")),
    h("div", { class: "dropzone" }, h("p", {}, rich("drop_anywhere", { drop: h("b", {}, t("drop_files")), choose: h("button", { type: "button", class: "link", click: add }, t("choose_them")) })), h("p", { class: "dim" }, t("what_is_read"))),
    jobs,
    list,
  );
  const draw = async (before = null, into = null) => {
    const found = await get(within("/documents", { collection, before, limit: 100 }));
    const body = into ?? h("tbody");
    body.append(...found.documents.map((one) => line(one, draw)));
    if (!into) list.replaceChildren(found.documents.length ? h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("documents") }, h("table", { class: "documents" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("document")), h("th", { scope: "col" }, t("column_kind")), h("th", { scope: "col", class: "figure" }, t("passages")), h("th", { scope: "col" }, t("column_added")), h("td", {}))), body)) : h("p", { class: "missing" }, t("no_documents")));
    list.querySelector(".rest")?.remove();
    if (found.next) list.append(h("button", { type: "button", class: "quiet rest", click: () => draw(found.next, body) }, t("show_more")));
  };
  view.addEventListener("added", () => draw());
  await draw();
  return view;
}

function line(about, draw) {
  const { title, file, pages, passages, state, because, added, uploaded } = about;
  const acts = () => (uploaded ? dropper(about, draw) : h("span", { class: "dim" }, t("of_a_folder")));
  const lacks = because ? h("span", { class: "tag lacks" }, state === "unread" ? t("not_read") : t("partly_read")) : null;
  const name = h("button", { type: "button", class: "link", dir: "auto", click: (event) => openDocument(about, event.currentTarget, acts()) }, h("span", { class: "name" }, cut(title || file.split("/").at(-1), 160)));
  return h("tr", {}, h("th", { scope: "row" }, name, " ", lacks, file && file !== title ? h("span", { class: "place", dir: "auto" }, cut(file, 200)) : null), h("td", {}, kindOf(about), pages ? h("span", { class: "dim" }, ` · ${t("pages_n", { n: pages })}`) : null), h("td", { class: "figure" }, counted(passages)), h("td", {}, added.slice(0, 10)), h("td", {}, uploaded ? dropper(about, draw) : null));
}

function dropper({ id, title, file }, draw) {
  const drop = h("button", { type: "button", class: "quiet", "aria-label": t("remove_named", { name: cut(title || file, 60) }), click: async () => {
    if (drop.textContent === t("remove")) {
      drop.textContent = t("remove_for_good");
      drop.addEventListener("blur", () => (drop.textContent = t("remove")), { once: true });
      return;
    }
    await remove(place("documents", id));
    closeSource();
    await draw();
  } }, t("remove"));
  return drop;
}

// The name under which each file is sent: the second of a name has its number.
function distinct(files) {
  const seen = new Map();
  return files.map((file) => {
    const name = file.webkitRelativePath || file.name;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return number > 1 ? name.replace(/(\.[^./]*)?$/, ` (${number})$1`) : name;
  });
}

// Sends the files and follows their reading to its end. `tell` speaks each step once; `done` is called with the job.
export async function addFiles(files, collection, { tell, done, problem }) {
  let before = "";
  const names = distinct(files);
  const bar = h("progress", { max: "1", value: "0", "aria-label": t("sending_named", { name: named(files) }) });
  const state = h("p", { class: "state" }, t("sending"));
  const unread = h("div", {});
  const listed = files.length > 1 && files.length <= LISTED;
  const each = h("ul", { class: "each" }, listed ? names.map((name) => h("li", {}, isolated(cut(name, 120)), h("span", { class: "dim" }))) : null);
  const mark = (name, words) => [...each.children].filter((one) => name && one.firstChild.textContent.endsWith(name)).forEach((one) => (one.lastChild.textContent = ` · ${words}`));
  const card = h("section", { class: "job", "aria-label": named(files) }, h("p", { class: "what", dir: "auto" }, named(files), h("span", { class: "dim" }, ` · ${size(files.reduce((sum, file) => sum + file.size, 0))}`)), bar, state, each, unread);
  jobs.prepend(card);
  tell(t("sending_named", { name: named(files) }));
  try {
    const id = await upload(files, names, collection, (share) => (bar.value = share * 0.3));
    for (;;) {
      const job = await get(place("jobs", id));
      const share = job.of ? job.done / job.of : 0;
      bar.value = 0.3 + 0.7 * share;
      if (job.state === "waiting") state.textContent = t("waiting");
      if (job.state === "reading") {
        const reading = { n: Math.min(job.of, job.done + 1), all: job.of, name: isolated(cut(job.file, 120)) };
        state.replaceChildren(...(job.file ? rich("reading_named", reading) : rich("reading", reading)));
      }
      if (job.file !== before) {
        mark(before, t("is_read"));
        mark((before = job.file), t("being_read"));
      }
      if (job.unread.length && !listed) unread.replaceChildren(reasons(job.unread));
      if (job.state === "done" || job.state === "failed") return finish(job);
      await new Promise((later) => setTimeout(later, POLL));
    }
  } catch (error) {
    bar.remove();
    card.classList.add("bad");
    state.replaceChildren(isolated(error.message));
    tell(error.message);
    problem(error);
  }

  function finish(job) {
    bar.remove();
    card.classList.add(job.state === "done" && !job.unread.length ? "good" : "bad");
    const missed = Map.groupBy(job.unread, (one) => one.file);
    for (const name of names.map((name) => name.split("/").at(-1))) {
      const why = missed.get(name)?.map((one) => cut(one.reason, 400)).join("; ");
      mark(name, why ?? (job.state === "done" ? t("is_read") : t("failed")));
    }
    const read = job.of - missed.size;
    const words = job.state === "failed" ? job.message || t("reading_failed") : t("files_read", { n: read, passages: t("passages_n", { n: job.passages }) });
    state.textContent = words;
    tell(job.unread.length ? t("some_not_read", { n: job.unread.length, done: words }) : words);
    done(job);
  }
}

function reasons(unread) {
  const lines = unread.slice(0, 200).map(({ file, reason }) => h("li", {}, h("b", { dir: "auto" }, cut(file, 160)), ": ", isolated(cut(reason, 400))));
  return h("div", { class: "unread" }, h("p", {}, t("not_read_n", { n: unread.length })), h("ul", {}, lines));
}
