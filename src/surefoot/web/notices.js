// What the page says: once to those who listen, and for some seconds to those who look.

import { h, isolated } from "./dom.js";

const announcer = document.getElementById("told");

// The same words twice in a row are not news.
export function tell(words) {
  if (announcer.textContent !== words) announcer.textContent = words;
}

export function notice(message) {
  const node = h("p", { class: "notice", role: "alert" }, isolated(message));
  document.querySelector(".notice")?.remove();
  document.getElementById("centre").append(node);
  setTimeout(() => node.remove(), 8000);
}
