// What opens the data, and which view an address means.

let head = null;
let leaving = [];
const opened = new Map();
const main = document.getElementById("main");

async function unpack(name) {
  const packed = document.getElementById(name)?.textContent;
  if (!packed) return null;
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  for (let n = 0; n < letters.length; n += 1) bytes[n] = letters.charCodeAt(n); // Uint8Array.from is ten times as slow
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const parsed = new Promise((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", done, { once: true });
  else done();
});

let indexed = null;
const index = () => (indexed ??= unpack("index").then(indexOf));

function indexOf({ metrics, part: size, rows }) {
  const ordered = metrics.toSorted((a, b) => inOrder(a) - inOrder(b));
  const tags = new Map();
  const known = rows.map(([id, question, texts, tagged, action, [verdict, step, stage, reason], all], n) => {
    const values = Object.assign(Object.create(null), Object.fromEntries(metrics.map((metric, m) => [metric, all[m]])));
    const scored = all.filter(isNumber);
    const own = [...Object.entries(tagged).map(([key, value]) => `${key}: ${value}`), ...(action ? [`action: ${action}`] : [])];
    own.forEach((tag) => tags.set(tag, (tags.get(tag) ?? 0) + 1));
    const mean = scored.length ? scored.reduce((sum, value) => sum + value, 0) / scored.length : null;
    return { id, question, answer: texts[0], action, verdict, step, stage, reason, all, values, mean, tags: own, text: [id, question, ...texts, reason, ...own].join("\n").toLowerCase(), part: Math.floor(n / size) };
  });
  const common = [...tags].toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b)).slice(0, 200);
  return { metrics: ordered, rows: known, byId: new Map(known.map((row) => [row.id, row])), tags: common.toSorted(([a], [b]) => a.localeCompare(b)) };
}

async function fetchRecord(id) {
  const row = (await index()).byId.get(id);
  if (!row) return null;
  if (!seen.order.length) seen.order = (await index()).rows.map((one) => one.id);
  if (!opened.has(row.part)) opened.set(row.part, parsed.then(() => unpack(`part-${row.part}`)));
  if (opened.size > 8) opened.delete(opened.keys().next().value);
  const found = await opened.get(row.part);
  return found.find((one) => one.record.id === id) ?? null;
}

function whileHere(target, name, heard) {
  target.addEventListener(name, heard, { passive: true });
  return () => target.removeEventListener(name, heard);
}

// Calls back with true before the page is printed and with false when it is on the screen again.
function onPaper(heard) {
  const paper = matchMedia("print");
  const ends = [whileHere(window, "beforeprint", () => heard(true)), whileHere(window, "afterprint", () => heard(false)), whileHere(paper, "change", () => heard(paper.matches))];
  return () => ends.forEach((end) => end());
}

function viewOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [name, ...rest] = path.split("/");
  if (name === "item") return ["#/", itemView(Number(rest[0]))];
  if (name === "records") return ["#/records", recordsView(new URLSearchParams(query))];
  if (name === "record") return ["#/records", recordView(decoded(rest.join("/")))];
  if (name === "run") return ["#/run", runView()];
  return ["#/", overview()];
}

function route(first) {
  leaving.forEach((end) => end());
  leaving = [];
  const [place, children] = viewOf(location.hash);
  main.replaceChildren(...children.flat(Infinity).filter(Boolean));
  document.querySelectorAll("header nav a").forEach((link) => {
    if (link.getAttribute("href") === place) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  const title = main.querySelector("h1").textContent;
  document.title = title === named() ? `${named()} · Surefoot` : `${cut(title, 60)} · ${named()}`;
  if (first === true) return;
  scrollTo({ top: 0, behavior: "instant" });
  main.querySelector("h1").focus({ preventScroll: true });
}

// Paper has nothing to click on.
onPaper((printing) => {
  if (printing) document.querySelectorAll("details:not([open])").forEach((one) => ((one.open = true), (one.dataset.shut = "1")));
  else document.querySelectorAll("details[data-shut]").forEach((one) => ((one.open = false), delete one.dataset.shut));
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

// In a frame of the page that asks: it says which of its themes is chosen.
addEventListener("message", ({ source, data }) => {
  if (source !== window && source === parent && ["system", "light", "dark"].includes(data?.theme)) document.documentElement.dataset.theme = data.theme;
});

// Read when the head and the list are there: the script stands before the data, so that the page shows at once, and does
// not wait for the records.
const ready = new Promise((done) => {
  const watch = new MutationObserver(() => document.getElementById("part-0") && (watch.disconnect(), done()));
  watch.observe(document.body, { childList: true });
  parsed.then(done);
});
ready
  .then(() => unpack("head"))
  .then((found) => {
    head = found;
    document.getElementById("run").textContent = cut(named(), 80);
    addEventListener("hashchange", route);
    route(true);
  })
  .catch((error) => main.replaceChildren(h("h1", {}, "This file cannot be opened"), h("p", {}, typeof DecompressionStream === "undefined" ? "Your browser is too old to open it; use one of 2023 or later." : `It is damaged: ${error.message}`)));
