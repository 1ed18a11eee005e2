// The words of the page in the language that the server sent it in, and numbers as that language writes them.

const TEXTS = JSON.parse(document.getElementById("texts").textContent);
export const LANGUAGE = document.documentElement.lang;
const plural = new Intl.PluralRules(LANGUAGE);

export const counted = (value) => (Number.isFinite(value) ? value.toLocaleString(LANGUAGE) : "–");
export const rounded = (value) => value.toLocaleString(LANGUAGE, { maximumSignificantDigits: 3 });
export const tenths = (value) => value.toLocaleString(LANGUAGE, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

// A text in parts, with the value of each {name} in its place, which may be an element. Of a text with plural forms `n` chooses one.
export function rich(id, values = {}) {
  const text = TEXTS[id];
  const form = typeof text === "string" ? text : text[plural.select(values.n)] ?? text.other;
  return form.split(/\{(\w+)\}/).map((part, n) => (n % 2 ? (typeof values[part] === "number" ? counted(values[part]) : values[part]) : part));
}

export const t = (id, values) => rich(id, values).join("");
