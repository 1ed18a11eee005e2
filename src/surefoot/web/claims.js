// The claims of a text by how likely its sources carry them, each beside the words of a source that are nearest to it.

const SUPPORT = [[0.9, "sure", "✓"], [0.6, "likely", "~"], [0.4, "unsure", "?"], [0, "not found", "✗"]];
const COMMON = 3; // letters: shorter words say nothing of where a claim comes from
const ALIKE = 0.34; // the share of a claim's words from which a sentence counts as near

const supportOf = (chance) => SUPPORT.find(([least]) => chance >= least) ?? SUPPORT.at(-1);
const wordsOf = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.filter((word) => word.length > COMMON || /\d/.test(word)));

// The claims of this text where they stand in it, each with the nearest sentence of the contexts. `name` tells two texts
// of a page apart.
function located(text, claims, contexts, name) {
  const sentences = contexts.flatMap((context, place) =>
    Array.from(context.text.matchAll(/[^\n.!?]+(?:[.!?](?!\s)[^\n.!?]*)*[.!?]*/g), (found) => ({ place, start: found.index, end: found.index + found[0].length, words: wordsOf(found[0]) })));
  let from = 0;
  return claims.flatMap((claim, n) => {
    const start = text.indexOf(claim.text, from);
    if (start < 0) return [];
    from = start + claim.text.length;
    const words = wordsOf(claim.text);
    const shared = (sentence) => [...words].filter((word) => sentence.words.has(word)).length / (words.size || 1);
    const near = sentences.reduce((best, one) => (shared(one) > (best?.share ?? 0) ? { ...one, share: shared(one) } : best), null);
    return [{ key: `${name}${n}`, start, end: from, chance: claim.chance, source: near && near.share >= ALIKE ? near : null }];
  });
}

// A text in its Markdown, its claims marked; `ranges` are further marks in it.
function claimed(text, found, ranges = []) {
  const marks = found.map(({ key, start, end, chance }) => ({ start, end, wrap: (inside) => h("span", { class: `claim ${supportOf(chance)[1].replace(" ", "-")}`, "data-claim": key }, inside) }));
  const box = drawn(text, [...marks, ...ranges]);
  for (const one of found) [...box.querySelectorAll(`[data-claim="${one.key}"]`)].at(-1)?.after(signOf(one));
  box.addEventListener("mouseover", (event) => near(event.target.closest?.("[data-claim]")?.dataset.claim));
  box.addEventListener("mouseleave", () => near(null));
  return box;
}

function signOf({ key, chance, source }) {
  const [, name, sign] = supportOf(chance);
  const words = `${name}, ${percentage(chance)}${source ? "" : "; no sentence of the contexts has its words"}`;
  return h("button", { type: "button", class: `sign judged ${name.replace(" ", "-")}`, title: words, "data-claim": key, focus: () => near(key), blur: () => near(null), click: () => near(key, true) }, sign, unseen(` ${words}${source ? ". Show the nearest words of its source" : ""}`));
}

const legend = () => h("p", { class: "dim small judged" }, "How likely the contexts carry each claim: ", SUPPORT.map(([least, name, sign], n) => [n ? ", " : "", h("span", { class: `claim ${name.replace(" ", "-")}` }, `${sign} ${name}`), n < 3 ? ` from ${percentage(least)}` : ""]), ". Point at a claim, or reach its mark with Tab, and the nearest words of the contexts stand out.");

// The nearest words of a claim stand out; the contexts roll to them, and so does the page where it is wished.
function near(key, go = false) {
  document.querySelectorAll(".source.here").forEach((one) => one.classList.remove("here"));
  const places = key ? document.querySelectorAll(`.source[data-of~="${CSS.escape(key)}"]`) : [];
  places.forEach((one) => one.classList.add("here"));
  const [first] = places;
  if (!first) return;
  const column = first.closest(".beside");
  if (go) first.scrollIntoView({ block: "center" });
  else if (column.scrollHeight > column.clientHeight) column.scrollTop += first.getBoundingClientRect().top - column.getBoundingClientRect().top - column.clientHeight / 3;
}

// Of the claims those whose source is this context, as marks in it; claims of the same sentence share one.
const sources = (found, place) =>
  [...Map.groupBy(found.filter(({ source }) => source?.place === place), ({ source }) => source.start).values()].map((those) => ({ start: those[0].source.start, end: those[0].source.end, wrap: (inside) => h("span", { class: "source", "data-of": those.map(({ key }) => key).join(" ") }, inside) }));

// JSON, such as what a tool was called with or gave back, is folded; all else is drawn as Markdown.
function drawn(text, ranges = []) {
  const value = /^\s*[[{]/.test(text) && text.length < 1e6 ? parsedJson(text) : null;
  return value ? more(`JSON: ${cut(Array.isArray(value) ? many(value.length, "item") : Object.keys(value).join(", "), 80)}`, json(value)) : long(text, (shown) => rendered(shown, ranges).flat());
}

function parsedJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
