// One answer to hand on: the trace that lies in this file.

import { h } from "./dom.js";
import { t } from "./language.js";
import { Turn } from "./turn.js";

const bytes = Uint8Array.from(atob(document.getElementById("trace").textContent), (letter) => letter.charCodeAt(0));
const trace = JSON.parse(new TextDecoder().decode(bytes));
const turn = Turn.of(trace, undefined, 1);
const made = trace.created ? t("asked_at", { time: trace.created.slice(0, 16).replace("T", " ") }) : t("made_by");
document.title = `${trace.question.slice(0, 80)} · Surefoot`;
document.getElementById("main").replaceChildren(turn.node, h("p", { class: "made dim" }, made));
