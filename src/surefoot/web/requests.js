// What the page asks of its server. Every failure is a Problem, whose message says what happened and what to do.

import { t } from "./language.js";

export class Problem extends Error {
  constructor(message, { status = 0, code = "", wait = 0 } = {}) {
    super(message);
    Object.assign(this, { status, code, wait });
  }
}

const AWAY = t("away", { command: "`surefoot serve`" });
// Problems by their code, as a person has them; of others the server's own sentence is shown.
const WORDS = {
  empty: t("problem_empty"),
  not_found: t("problem_not_found"),
  question: t("problem_question", { most: 4000 }),
  media_type: t("problem_page"),
  invalid: t("problem_page"),
  key: t("problem_key"),
  busy: t("problem_busy"),
  stopping: t("problem_stopping"),
  too_slow: t("problem_too_slow"),
  unavailable: t("problem_unavailable"),
  internal: t("problem_internal"),
  disk_full: t("problem_disk_full"),
};
const BROKEN = t("broken");

async function send(path, options = {}) {
  let reply;
  try {
    reply = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(AWAY, { code: "away" });
  }
  if (reply.ok) return reply;
  throw await refused(reply);
}

async function refused(reply) {
  const body = await reply.json().catch(() => null);
  const wait = Number(reply.headers.get("Retry-After"));
  return problemOf(reply.status, body?.error, wait > 0 && wait < 3600 ? wait : 0);
}

function problemOf(status, error, wait = 0) {
  const message = WORDS[error?.code] ?? error?.message ?? t("no_reason", { status: String(status) });
  return new Problem(String(message), { status, code: error?.code ?? "", wait });
}

const bodied = (method, value) => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });

export const within = (path, query = {}) => {
  const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return params.size ? `${path}?${params}` : path;
};
export const place = (...parts) => `/${parts.map(encodeURIComponent).join("/")}`;
export const get = async (path) => (await send(path)).json();
export const post = async (path, value) => {
  const reply = await send(path, bodied("POST", value));
  return reply.status === 204 ? null : reply.json();
};
export const patch = (path, value) => send(path, bodied("PATCH", value));
export const remove = (path) => send(path, { method: "DELETE" });
export const picture = async (path) => URL.createObjectURL(await (await send(path)).blob());

// The events of one question as they happen, each [name, {trace, at, value}]. Raises Problem where the server refuses,
// cannot be reached, or breaks off before "end".
export async function* askEvents(question, signal) {
  const options = bodied("POST", question);
  const reply = await send("/ask", { ...options, headers: { ...options.headers, Accept: "text/event-stream" }, signal });
  let ended = false;
  try {
    for await (const [name, data] of events(reply.body)) {
      ended ||= name === "end";
      if (name === "error") throw problemOf(data.value?.status ?? 0, data.value);
      yield [name, data];
    }
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Problem) throw error;
    if (!ended) throw new Problem(BROKEN, { code: "broken" });
  }
  if (!ended) throw new Problem(BROKEN, { code: "broken" });
}

// Server-sent events: lines in blocks that an empty line ends; a line that begins with a colon only keeps the way open.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let name = "message";
  let data = [];
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (data.length) yield [name, JSON.parse(data.join("\n"))];
          [name, data] = ["message", []];
        } else if (line.startsWith("event:")) name = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// Files under these names, with the share of them that is sent, which fetch does not tell. Gives the id of the job that reads them.
export const upload = (files, names, collection, heard) =>
  new Promise((done, failed) => {
    const form = new FormData();
    if (collection) form.append("collection", collection);
    files.forEach((file, n) => form.append("file", file, names[n]));
    const request = new XMLHttpRequest();
    request.open("POST", "/documents");
    request.responseType = "text";
    request.upload.addEventListener("progress", (event) => event.lengthComputable && heard(event.loaded / event.total));
    request.addEventListener("error", () => failed(new Problem(AWAY, { code: "away" })));
    request.addEventListener("load", async () => {
      const headers = { "Retry-After": request.getResponseHeader("Retry-After") ?? "" };
      const reply = new Response(request.responseText || null, { status: request.status, headers });
      if (reply.ok) done((await reply.json()).job);
      else failed(await refused(reply));
    });
    request.send(form);
  });
