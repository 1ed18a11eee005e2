// Labels by people: set with keys, stored in this browser, exported as the lines that `surefoot agree` reads.

const SCALE = { 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, y: true, n: false, u: null };
const WHOLE = "answer"; // in place of a metric, as `surefoot evaluate --calibrate` reads it
const subject = (metric) => (metric === WHOLE ? "Whole answer" : called(metric));
const SPOKEN = { y: "yes", n: "no", u: "unsure" };
const KEYS = "1 to 5: rate · y, n, u: yes, no, unsure · the same key again: take the label back · j, k: next, previous record · l: labelling on, off · ?: this line";
const memory = new Map(); // for a browser that stores nothing for this page
const labelling = { id: "", bar: null, open: false, help: false, by: "", metric: "", notice: "" };

function stored(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    if (value !== undefined) memory.set(name, value);
    return memory.get(name) ?? null;
  }
}

const labelPlace = () => `surefoot labels: ${head.name} ${head.about.created ?? ""}`;
const labels = () => new Map(JSON.parse(stored(labelPlace()) ?? "[]").map((one) => [JSON.stringify([one.by, one.metric, one.id]), one]));
const mine = () => [...labels().values()].filter(({ by }) => by === labelling.by);

function labelBar(id, metrics) {
  labelling.id = id;
  labelling.by ||= stored("surefoot labeller") ?? "";
  labelling.metrics = [WHOLE, ...metrics];
  if (!labelling.metrics.includes(labelling.metric)) labelling.metric = WHOLE;
  labelling.notice = "";
  labelling.bar = h("section", { class: "labels", "aria-label": "Labels by people" });
  drawBar();
  return labelling.bar;
}

function drawBar() {
  const { bar, open, help, by, metric, metrics, notice } = labelling;
  main.classList.toggle("blind", open);
  const fields = () => [...bar.querySelectorAll("input, select, button")];
  const focused = fields().indexOf(document.activeElement);
  if (!open) {
    bar.replaceChildren(h("button", { type: "button", "aria-keyshortcuts": "l", click: toggled }, "Label this record"), h("span", { class: "dim small" }, " or press l; j and k turn the records"));
    return;
  }
  const name = h("input", { id: "labeller", autocomplete: "off", change: () => (stored("surefoot labeller", name.value.trim()), (labelling.by = name.value.trim()), setTimeout(drawBar)) });
  name.value = by;
  const choice = h("select", { id: "labelled", change: () => ((labelling.metric = choice.value), drawBar()) }, metrics.map((one) => h("option", { value: one }, subject(one))));
  choice.value = metric;
  const own = mine().find((one) => one.metric === metric && one.id === labelling.id);
  const button = (key) => h("button", { type: "button", disabled: barred(metric, key), "aria-pressed": String(own?.label === SCALE[key]), "aria-keyshortcuts": key, click: () => labelled(key) }, SPOKEN[key] ?? key);
  const count = mine().length;
  bar.replaceChildren(
    h("div", {}, h("label", { for: "labeller" }, "Labeller"), name),
    h("div", {}, h("label", { for: "labelled" }, "Label of"), choice),
    h("div", { class: "keys", role: "group", "aria-label": `Label of ${subject(metric)}` }, Object.keys(SCALE).map(button)),
    h("div", { class: "keys" }, h("button", { type: "button", click: exported, disabled: !count }, `Export ${many(count, "label")}`), h("button", { type: "button", "aria-expanded": String(help), "aria-label": "Keys", click: helped }, "?"), h("button", { type: "button", click: toggled }, "Close")),
    h("p", { class: "small", role: "status" }, notice || (own ? `${subject(metric)}: ${own.label === null ? "unsure" : own.label === true ? "yes" : own.label === false ? "no" : `${own.label} of 5`}` : "What the judges found is hidden while you label.")),
    help ? h("p", { class: "small dim" }, KEYS) : "",
  );
  fields()[focused]?.focus();
}

const toggled = () => ((labelling.open = !labelling.open), (labelling.notice = ""), drawBar());
const helped = () => ((labelling.help = !labelling.help), drawBar());

// One metric has one kind of label, as `surefoot agree` wants it.
function barred(metric, key) {
  const known = [...labels().values()].find((one) => one.metric === metric && one.label !== null);
  return Boolean(known) && SCALE[key] !== null && typeof known.label !== typeof SCALE[key];
}

function labelled(key) {
  const { by, id, metric } = labelling;
  const label = SCALE[key];
  const all = labels();
  labelling.notice = "";
  if (!by) labelling.notice = "Who labels? The name stands in each exported line.";
  else if (barred(metric, key)) labelling.notice = `${subject(metric)} is labelled ${typeof label === "boolean" ? "from 1 to 5" : "yes or no"} already: one metric has one kind of label.`;
  else {
    const name = JSON.stringify([by, metric, id]);
    if (all.get(name)?.label === label) all.delete(name);
    else all.set(name, { id, metric, label, by });
    stored(labelPlace(), JSON.stringify([...all.values()]));
  }
  drawBar();
  if (!by) labelling.bar.querySelector("input").focus();
}

function exported() {
  const lines = mine().map((one) => `${JSON.stringify(one)}\n`);
  const url = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  h("a", { href: url, download: `labels-${labelling.by.replace(/[^\p{L}\p{N}]+/gu, "-")}.jsonl` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.altKey || event.ctrlKey || event.metaKey || !labelling.bar?.isConnected || target.closest?.("input, textarea")) return;
  if (key === "j" || key === "k") {
    const next = seen.order[seen.order.indexOf(labelling.id) + (key === "j" ? 1 : -1)];
    if (next !== undefined) location.hash = recordLink(next);
  } else if (key === "?") (labelling.open = true), helped();
  else if (key === "l") toggled();
  else if (labelling.open && Object.hasOwn(SCALE, key)) labelled(key);
  else return;
  event.preventDefault();
});
