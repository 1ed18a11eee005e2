// Elements, made of text and of elements only: what data say is never markup.

const DRAWN = "http://www.w3.org/2000/svg";
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(DRAWN, tag), attributes, children);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  node.append(...shown.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

// Words of the data, which may be of any script and run in any direction, but not into what stands beside them.
export const isolated = (text, kind) => h("span", { class: kind, dir: "auto" }, text);
export const unseen = (text) => h("span", { class: "unseen" }, text);

export const part = (title, level, ...children) => {
  const name = `part-${(part.count = (part.count ?? 0) + 1)}`;
  return h("section", { "aria-labelledby": name }, h(`h${level}`, { id: name }, title), ...children);
};

export const more = (summary, ...children) => h("details", {}, h("summary", {}, summary), ...children);

// A table in a box of its own that scrolls sideways, with the keyboard too.
export function table(caption, headings, rows, kind = "") {
  const cell = (value, n) => {
    const { right, head } = headings[n];
    const attributes = { class: right ? "figure" : null, scope: head ? "row" : null };
    return h(head ? "th" : "td", attributes, value);
  };
  const inside = h(
    "table",
    { class: kind },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, headings.map(({ name, right }) => h("th", { scope: "col", class: right ? "figure" : null }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))),
  );
  return h("div", { class: "wide", role: "region", tabindex: "0", "aria-label": caption }, inside);
}

export const facts = (pairs) =>
  h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

// A link of the page itself whose target is an element, not a view.
export const jump = (label, place, words) =>
  h("button", { type: "button", class: "link", "aria-label": words, click: () => {
    const target = document.getElementById(place);
    target?.scrollIntoView({ block: "center" });
    target?.focus({ preventScroll: true });
  } }, label);

// An address without its login: that is a secret, or it hides where the link leads (https://bank.example@evil.example/).
export function bare(url) {
  const known = URL.canParse?.(url) ? new URL(url) : null;
  if (!known?.username && !known?.password) return url;
  known.username = known.password = "";
  return known.href;
}

// Addresses of the data become links only where they are of the web.
export function address(url, words = null) {
  if (!/^https?:\/\/[^\s]+$/i.test(url) || !URL.canParse?.(url)) return words ?? isolated(url);
  const target = bare(url);
  return h("a", { href: target, rel: "noopener noreferrer nofollow", target: "_blank" }, words ?? isolated(target));
}
