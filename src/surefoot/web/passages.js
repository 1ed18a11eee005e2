// Passages with their grades, the words that answer, and the strips that were cut from them.

import { address, facts, h, isolated } from "./dom.js";
import { positions, ranges, rendered, unsigned, writer } from "./blocks.js";
import { LABEL_WORDS, graded } from "./scale.js";
import { counted, t } from "./language.js";
import { cut, isNumber, percentage, ranked } from "./words.js";

const SHOWN = 6;
const SNIPPET = 300;
const LEAD_IN = 40;
const WHOLE = 20000;

// A title is the document's and the headings above the words; the last of them says what the passage is about.
export function titled({ title, id }) {
  const names = (title || id).split(" › ");
  const last = names.at(-1);
  const before = [...new Set(names.slice(0, -1))].filter((name) => name !== last);
  return [h("span", { class: "name", dir: "auto" }, cut(last, 160)), before.length ? h("span", { class: "under", dir: "auto" }, cut(before.join(" › "), 200)) : null];
}

// All that was found, in the order of trust. `actions` are what the page can do with a passage; a file can do nothing.
export function passagesOf(trace, actions) {
  const strips = Map.groupBy(trace.strips, (strip) => strip.passage_id);
  const rows = ranked(trace).map((one) => () => row(one, strips.get(one.passage.id) ?? [], trace, actions));
  const list = h("ol", { class: "passages" }, rows.slice(0, SHOWN).map((make) => make()));
  if (rows.length > SHOWN) {
    const rest = h("button", { type: "button", class: "quiet rest", click: () => {
      rest.remove();
      const added = rows.slice(SHOWN).map((make) => make());
      list.append(...added);
      added[0].querySelector("summary").focus();
    } }, t("show_all_passages", { n: rows.length }));
    return { node: h("div", {}, list, rest), open: (id) => open(list, id, rest) };
  }
  return { node: list, open: (id) => open(list, id, null) };
}

function open(list, id, rest) {
  const found = () => list.querySelector(`[data-passage="${CSS.escape(id)}"] details`);
  if (!found() && rest?.isConnected) rest.click();
  const details = found();
  if (!details) return false;
  details.open = true;
  details.querySelector("summary").focus({ preventScroll: true });
  details.scrollIntoView({ block: "nearest" });
  return true;
}

// The date that the document's fields or properties give; null: none.
export const dayOf = ({ meta }) => (meta?.date ?? meta?.modified ? isolated(cut(String(meta.date ?? meta.modified), 40)) : null);

function row({ passage, grade, rank }, strips, trace, actions) {
  const label = grade?.label ?? "none";
  const inside = h("div", { class: "inside" });
  const details = h(
    "details",
    { toggle: () => details.open && !inside.hasChildNodes() && inside.append(...whole(passage, grade, rank, strips, trace, actions)) },
    h(
      "summary",
      {},
      h("span", { class: `grade ${label}` }, graded(grade), h("span", { class: "unseen" }, ` ${grade?.label ? LABEL_WORDS[grade.label] ?? grade.label : grade ? t("not_gradable") : t("not_graded_yet")}`)),
      h("span", { class: "title" }, titled(passage), passage.source === "external" ? [" ", h("span", { class: "tag" }, t("outside"))] : null, dayOf(passage) ? h("span", { class: "dim" }, " · ", dayOf(passage)) : null),
      strips.length ? bar(passage, strips) : null,
      h("span", { class: "snippet", dir: "auto" }, snippet(passage.text, [grade?.span])),
    ),
    inside,
  );
  return h("li", { class: label, "data-passage": passage.id }, details);
}

// How much of the passage was kept: its strips in their places.
function bar(passage, strips) {
  const words = t("parts_used", { n: strips.length, used: strips.filter((strip) => strip.kept).length });
  const length = Math.max(1, passage.text.length);
  const node = h("span", { class: "bar", title: words }, h("span", { class: "unseen" }, `${words}. `));
  strips.slice(0, 200).forEach((strip) => {
    const piece = h("i", { class: strip.kept ? "kept" : null });
    Object.assign(piece.style, { left: `${(100 * strip.start) / length}%`, width: `${Math.max(0.5, (100 * (strip.end - strip.start)) / length)}%` });
    node.append(piece);
  });
  return node;
}

// The words that answer with a little around them, or the beginning. `spans` are in characters; those of null are none.
export function snippet(words, spans, lead = LEAD_IN) {
  const text = unsigned(words.slice(0, WHOLE));
  const at = positions(text);
  const marks = spans.filter(Boolean).map(([start, end]) => ({ start: at(start), end: at(end), wrap: (inside) => h("mark", {}, inside) }));
  const first = marks.toSorted((a, b) => a.start - b.start)[0] ?? { start: 0, end: 0 };
  const cut_ = first.start > lead + 20;
  const from = cut_ ? text.indexOf(" ", first.start - lead) + 1 || first.start : 0;
  const to = Math.min(text.length, Math.max(Math.min(first.end, first.start + 2 * SNIPPET), from + SNIPPET));
  const plain = (part) => part.replaceAll("\0", "").replace(/\s+/g, " ");
  return [cut_ ? "… " : "", writer(text, marks)(Math.min(from, first.start), to, plain), to < text.length ? "…" : ""];
}

// Where a citation's words stand in its strip, in characters; null: it quotes none, or all of it.
export function quotedAt({ strip, quote }) {
  const at = strip && quote && quote !== strip.text ? strip.text.indexOf(quote) : -1;
  if (at < 0) return null;
  const start = Array.from(strip.text.slice(0, at)).length;
  return [start, start + Array.from(quote).length];
}

function whole(passage, grade, rank, strips, trace, actions) {
  const shown = passage.text.slice(0, WHOLE);
  const why = h("div", { class: "why", "aria-live": "polite" });
  const button = (words, act) => act && h("button", { type: "button", class: "quiet", click: (event) => act(passage, event.currentTarget, why) }, words);
  return [
    h("div", { class: "prose" }, rendered(shown, ranges(shown, grade, strips)), passage.text.length > WHOLE ? h("p", { class: "dim" }, t("more_characters", { n: passage.text.length - WHOLE })) : null),
    facts([
      [t("chance"), isNumber(grade?.probability) ? percentage(grade.probability) : null],
      [t("found_as"), t("n_of", { n: rank, all: trace.passages.length + trace.external.length })],
      [t("parts"), strips.length ? t("n_of", { n: strips.filter((strip) => strip.kept).length, all: strips.length }) : null],
      [t("graded_part"), grade?.window ? t("characters_from_to", { from: grade.window[0], to: grade.window[1] }) : null],
      [t("grade"), grade?.reason ? isolated(grade.reason) : null],
      [t("at_most"), grade?.cap === "correct" ? null : LABEL_WORDS[grade?.cap]],
      [t("place"), passage.url ? address(passage.url) : null],
      [t("date"), dayOf(passage)],
    ]),
    h("p", { class: "acts" }, button(t("why_grade"), actions.why), button(t("open_source"), actions.source), actions.unfit ? actions.unfit(passage) : null),
    why,
  ];
}
