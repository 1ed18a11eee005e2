// The list of conversations in the rail.

import { h } from "./dom.js";
import { get, place, remove } from "./requests.js";
import { cut } from "./words.js";

const list = document.getElementById("past");

export async function listConversations(current) {
  const { conversations } = await get("/conversations?limit=100");
  const line = ({ id, title, turns }) => {
    const link = h("a", { href: `#/c/${encodeURIComponent(id)}`, "aria-current": id === current ? "page" : null, dir: "auto", title: cut(title, 300) }, cut(title, 90) || "(no question)");
    const drop = h("button", { type: "button", class: "drop", "aria-label": `Delete: ${cut(title, 60)}`, click: async () => {
      if (!drop.classList.contains("sure")) {
        drop.classList.add("sure");
        drop.textContent = "Delete?";
        drop.addEventListener("blur", () => (drop.classList.remove("sure"), (drop.textContent = "×")), { once: true });
        return;
      }
      await remove(place("conversations", id));
      if (id === current) location.hash = "#/";
      await listConversations(current);
      (list.querySelector("a") ?? document.getElementById("new")).focus();
    } }, "×");
    return h("li", { "data-turns": turns }, link, drop);
  };
  list.replaceChildren(...conversations.map(line));
  if (!conversations.length) list.append(h("li", { class: "dim" }, "None yet"));
}

export function markCurrent(current) {
  list.querySelectorAll("a").forEach((link) => {
    if (link.getAttribute("href") === `#/c/${encodeURIComponent(current)}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
}
