// The list of records: filtered, sorted and searched; of thousands of rows only those in sight are drawn.

const AHEAD = 8;
const ON_PAPER = 500;
const PLAIN = { q: "", outcome: "", metric: "", most: "", tag: "", unscored: "", sort: "" };
const seen = { hash: "#/records", order: [], last: null };

function recordsView(query) {
  const state = { ...PLAIN, ...Object.fromEntries(query) };
  const place = h("div", {}, h("p", {}, "Opening the records…"));
  index().then((known) => place.isConnected && place.replaceChildren(...recordList(known, state)));
  return [h("h1", { tabindex: "-1" }, "Records"), place];
}

function recordList(known, state) {
  const shown = known.metrics.slice(0, 7);
  const total = known.rows.length;
  const count = h("p", { class: "count", role: "status" });
  const view = rowsView(known, shown, state);
  let soon = 0;
  const keep = () => {
    clearTimeout(soon);
    if (location.hash.startsWith("#/records") && location.hash !== seen.hash) history.replaceState(null, "", seen.hash);
  };
  view.table.addEventListener("click", keep);
  leaving.push(() => clearTimeout(soon));
  const update = (quiet) => {
    const rows = sorted(known.rows.filter(wanted(state)), state);
    const found = `${counted(rows.length)} of ${many(total, "record")}`;
    count.textContent = rows.length ? found : `${found}: nothing fits; clear a filter to see more`;
    const filled = Object.entries(state).filter(([name, value]) => value && name in PLAIN);
    seen.hash = `#/records${filled.length ? `?${new URLSearchParams(filled)}` : ""}`;
    seen.order = rows.map((row) => row.id);
    view.show(rows);
    clearTimeout(soon);
    // Not at once: browsers stop a page that changes its address with every letter.
    if (!quiet) soon = setTimeout(keep, 300);
  };
  const form = filters(known, state, update);
  update(true);
  requestAnimationFrame(view.back);
  return [form, count, view.table];
}

// What the rows must be like, by the filters.
function wanted({ q, outcome, metric, most, tag, unscored }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const limit = most === "" ? null : Number(most) / 100;
  const there = ended(outcome);
  const of = (row) => (metric ? [row.values[metric]] : row.all);
  return (row) =>
    words.every((word) => row.text.includes(word)) &&
    (!outcome || there(row)) &&
    (!tag || row.tags.includes(tag)) &&
    (!unscored || of(row).includes("unscored")) &&
    (limit === null || of(row).some((value) => isNumber(value) && value <= limit));
}

// Whether a record has this outcome: a verdict, a stage that lost it, a step that it was lost at, or one that it passed.
function ended(outcome) {
  const [kind, name] = outcome.split(":");
  if (kind === "stage" || kind === "at") return (row) => row[kind === "at" ? "step" : kind] === name;
  if (kind !== "passed") return (row) => row.verdict === kind;
  const steps = (head.funnel?.steps ?? []).map((one) => one.name);
  const later = new Set(steps.slice(steps.indexOf(name) + 1));
  return (row) => row.verdict === "right" || later.has(row.step);
}

function outcomes({ rows }) {
  const option = (value, label) => h("option", { value }, `${label} (${counted(rows.filter(ended(value)).length)})`);
  const steps = head.funnel.steps.map(({ name }) => name);
  const stages = [...new Set(head.funnel.steps.flatMap(({ lost }) => Object.keys(lost)))];
  return [
    h("option", { value: "" }, "any"),
    ["right", "lost", "undecided"].map((verdict) => option(verdict, verdict)),
    h("optgroup", { label: "Passed" }, steps.map((step) => option(`passed:${step}`, step))),
    h("optgroup", { label: "Lost at the step" }, steps.map((step) => option(`at:${step}`, step))),
    h("optgroup", { label: "Lost by the stage" }, stages.map((stage) => option(`stage:${stage}`, stage))),
  ];
}

const VERDICTS = { right: "✓", lost: "✗", undecided: "?" };
const outcomeOf = ({ verdict, stage }) => (VERDICTS[verdict] ? h("span", { class: `outcome ${verdict}` }, h("span", { "aria-hidden": "true" }, `${VERDICTS[verdict]} `), verdict === "lost" ? [unseen("lost: "), stage] : verdict) : "–");

// A number of the id's own, by which records are drawn by lot in the same order for everybody.
function lot(id) {
  const sum = Array.from(id).reduce((all, letter) => Math.imul(all ^ letter.codePointAt(0), 16777619), 2166136261); // FNV-1a
  const mixed = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b); // and what MurmurHash ends with, so that like ids lie far apart
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
}

const ORDER = ["lost", "undecided", "right"];

// Rows that have no value come last, whichever way the others go.
function sorted(rows, { sort }) {
  if (sort === "run") return rows;
  if (!sort) return rows.toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) || a.stage.localeCompare(b.stage));
  const down = sort.startsWith("-");
  const name = down ? sort.slice(1) : sort;
  if (name === "lot") return rows.toSorted((a, b) => lot(a.id) - lot(b.id));
  if (name === "question") return rows.toSorted((a, b) => (down ? -1 : 1) * a.question.localeCompare(b.question, "en"));
  const value = (row) => (name === "mean" ? row.mean : row.values[name]);
  return rows.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (!isNumber(x) || !isNumber(y)) return isNumber(y) - isNumber(x);
    return down ? y - x : x - y;
  });
}

function filters(known, state, update) {
  const change = (name, value) => {
    state[name] = value;
    update();
  };
  const option = (value, text) => h("option", { value, selected: false }, text);
  const choice = (name, label, options) => {
    const box = h("select", { id: `f-${name}`, change: () => change(name, box.value) }, options);
    box.value = state[name];
    if (box.selectedIndex < 0) box.value = state[name] = "";
    return h("div", {}, h("label", { for: `f-${name}` }, label), box);
  };
  const search = h("input", { type: "search", id: "f-q", autocomplete: "off", spellcheck: "false", input: () => change("q", search.value) });
  search.value = state.q;
  const most = h("input", { type: "number", id: "f-most", min: "0", max: "100", step: "5", placeholder: "100", input: () => change("most", most.value) });
  most.value = state.most;
  const missing = h("input", { type: "checkbox", id: "f-unscored", change: () => change("unscored", missing.checked ? "1" : "") });
  missing.checked = Boolean(state.unscored);
  const metrics = known.metrics.map((metric) => option(metric, called(metric)));
  const sorts = [head.funnel && option("", "lost first"), option(head.funnel ? "run" : "", "order of the run"), option("lot", "by lot, the same for everybody"), option("mean", "lowest mean first"), option("-mean", "highest mean first"), option("question", "question, A to Z"), option("-question", "question, Z to A")];
  known.metrics.forEach((metric) => sorts.push(option(metric, `${called(metric)}, lowest first`), option(`-${metric}`, `${called(metric)}, highest first`)));
  const form = h(
    "form",
    { role: "search", class: "filters", "aria-label": "Filter the records", submit: (event) => event.preventDefault() },
    h("div", { class: "grow" }, h("label", { for: "f-q" }, "Search questions, answers, truths, ids"), search),
    head.funnel ? choice("outcome", "Outcome", outcomes(known)) : null,
    choice("metric", "Metric", [option("", "any metric"), ...metrics]),
    h("div", { class: "small-field" }, h("label", { for: "f-most" }, "Score at most, %"), most),
    choice("tag", head.traced ? "Tag or action" : "Tag", [option("", "any"), ...known.tags.map(([tag, count]) => option(tag, `${cut(tag, 60)} (${counted(count)})`))]),
    choice("sort", "Order", sorts),
    h("div", { class: "check" }, missing, h("label", { for: "f-unscored" }, "only with unscored")),
    h("button", { type: "button", click: () => {
      Object.assign(state, PLAIN);
      form.querySelectorAll("input, select").forEach((field) => (field.type === "checkbox" ? (field.checked = false) : (field.value = "")));
      update();
      search.focus();
    } }, "Clear"),
  );
  state.resort = (sort) => {
    form.querySelector("#f-sort").value = sort;
    change("sort", sort);
  };
  return form;
}

function rowsView(known, shown, state) {
  const body = h("tbody", {});
  const above = h("tr", { "aria-hidden": "true", class: "gap" }, h("td"));
  const below = above.cloneNode(true);
  const chosen = (metric) => [state.sort.replace(/^-/, ""), state.metric].includes(metric);
  const heads = new Map();
  const heading = (name, label, kind) => {
    const button = h("button", { type: "button", class: "sort", click: () => state.resort(state.sort === name ? `-${name}` : state.sort === `-${name}` ? "" : name) }, label);
    const cell = h("th", { scope: "col", class: kind }, button);
    heads.set(name, cell);
    return cell;
  };
  const table = h(
    "table",
    { class: "records" },
    h("caption", { class: "unseen" }, "Records; the arrow keys go from one to the next"),
    h("thead", {}, h("tr", { "aria-rowindex": "1" }, heading("question", "Question", "question"), head.funnel ? h("th", { scope: "col", class: "ended" }, "Outcome") : null, head.traced ? h("th", { scope: "col", class: "action" }, "Action") : null, shown.map((metric) => heading(metric, called(metric), "m")))),
    body,
  );
  let rows = [];
  let active = 0;
  let height = 57;
  let drawn = new Map();

  const line = (place) => {
    const row = rows[place];
    const below = row.reason || row.answer;
    const link = h("a", { href: recordLink(row.id), tabindex: place === active ? "0" : "-1", "data-place": place }, isolated(cut(row.question, 240) || "(no question)"));
    return h(
      "tr",
      { "aria-rowindex": place + 2 },
      h("th", { scope: "row", class: "question" }, h("div", { class: below ? "one-line" : "two-lines" }, link), below ? h("div", { class: "one-line small dim", dir: "auto" }, cut(below, 240)) : null),
      head.funnel ? h("td", { class: "ended" }, outcomeOf(row)) : null,
      head.traced ? h("td", { class: "action" }, row.action ? h("span", { class: `act ${row.action}` }, row.action) : "–") : null,
      shown.map((metric, n) => h("td", { class: chosen(metric) || (n === 0 && !head.funnel && !shown.some(chosen)) ? "m chosen" : "m" }, valueOf(row.values[metric]))),
    );
  };
  const draw = (all) => {
    if (!table.isConnected) return;
    const top = table.getBoundingClientRect().top + table.tHead.offsetHeight;
    const from = all ? 0 : Math.max(0, Math.min(rows.length, Math.floor(-top / height)) - AHEAD);
    const to = Math.min(rows.length, all || from + Math.ceil(innerHeight / height) + 2 * AHEAD);
    const held = document.activeElement?.closest?.("tbody") === body;
    const next = new Map();
    for (let place = from; place < to; place += 1) next.set(place, drawn.get(place) ?? line(place));
    const staying = new Set(next.values());
    for (const old of drawn.values()) if (!staying.has(old)) old.remove();
    let before = above;
    for (const node of next.values()) {
      if (before.nextSibling !== node) before.after(node);
      before = node;
    }
    drawn = next;
    above.firstChild.style.height = `${from * height}px`;
    below.firstChild.style.height = `${(rows.length - to) * height}px`;
    above.hidden = !from;
    below.hidden = to === rows.length;
    if (held && !body.contains(document.activeElement)) table.focus({ preventScroll: true });
  };
  const go = (place) => {
    const old = drawn.get(active)?.querySelector("a");
    if (old) old.tabIndex = -1;
    active = Math.max(0, Math.min(rows.length - 1, place));
    const top = table.getBoundingClientRect().top + scrollY + table.tHead.offsetHeight + active * height;
    if (top - table.tHead.offsetHeight < scrollY + 8) scrollTo({ top: top - table.tHead.offsetHeight - 8, behavior: "instant" });
    if (top + height > scrollY + innerHeight) scrollTo({ top: top + height - innerHeight + 8, behavior: "instant" });
    draw();
    const link = drawn.get(active)?.querySelector("a");
    if (link) {
      link.tabIndex = 0;
      link.focus({ preventScroll: true });
    }
  };
  const page = () => Math.max(1, Math.floor(innerHeight / height) - 2);
  const steps = { ArrowDown: () => active + 1, ArrowUp: () => active - 1, PageDown: () => active + page(), PageUp: () => active - page(), Home: () => 0, End: () => rows.length - 1 };
  body.append(above, below);
  body.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    go(steps[event.key]());
  });
  body.addEventListener("focusin", (event) => {
    const place = Number(event.target.dataset?.place);
    if (Number.isInteger(place)) active = place;
  });
  table.tabIndex = -1;
  leaving.push(whileHere(window, "scroll", () => requestAnimationFrame(() => draw())), whileHere(window, "resize", () => requestAnimationFrame(() => draw())));
  leaving.push(onPaper((printing) => {
    draw(printing ? ON_PAPER : undefined);
    table.caption.textContent = rows.length > ON_PAPER && printing ? `The first ${ON_PAPER} of ${counted(rows.length)} records` : "Records; the arrow keys go from one to the next";
  }));

  return {
    table,
    show(found) {
      rows = found;
      active = 0;
      drawn.forEach((row) => row.remove());
      drawn = new Map();
      table.setAttribute("aria-rowcount", rows.length + 1);
      for (const [name, cell] of heads) {
        const way = state.sort === name ? "ascending" : state.sort === `-${name}` ? "descending" : null;
        if (way) cell.setAttribute("aria-sort", way);
        else cell.removeAttribute("aria-sort");
        cell.classList.toggle("chosen", chosen(name) || (name === shown[0] && !head.funnel && !shown.some(chosen)));
      }
      draw();
      const first = drawn.values().next().value?.getBoundingClientRect().height;
      if (first && Math.abs(first - height) > 0.5) {
        height = first;
        draw();
      }
    },
    // To the record from which one comes back.
    back() {
      draw();
      const place = seen.order.indexOf(seen.last);
      if (place >= 0) go(place);
      seen.last = null;
    },
  };
}
