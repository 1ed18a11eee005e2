// One answer to hand on: the trace that lies in this file.

import { h } from "./dom.js";
import { Turn } from "./turn.js";

const bytes = Uint8Array.from(atob(document.getElementById("trace").textContent), (letter) => letter.charCodeAt(0));
const trace = JSON.parse(new TextDecoder().decode(bytes));
const turn = Turn.of(trace, undefined, 1);
document.title = `${trace.question.slice(0, 80)} · Surefoot`;
document.getElementById("main").replaceChildren(turn.node, h("p", { class: "made dim" }, trace.created ? `Asked ${trace.created.slice(0, 16).replace("T", " ")} UTC. ` : "", "Made by Surefoot; this file asks nothing of any network."));
