// What the page asks of its server. Every failure is a Problem, whose message says what happened and what to do.

export class Problem extends Error {
  constructor(message, { status = 0, code = "", wait = 0 } = {}) {
    super(message);
    Object.assign(this, { status, code, wait });
  }
}

const AWAY = "The server cannot be reached. See whether `surefoot serve` is still running, then ask again.";
// What a person can do, where the server's own sentence tells a program.
const WORDS = {
  empty: "This collection holds no documents yet. Add files first, then ask again.",
  not_found: "It was deleted, or it never was here, or it belongs to somebody else.",
  question: "A question has 1 to 4,000 characters. Shorten it, or ask something.",
  media_type: "The server did not understand this page. Reload it, and try again.",
  invalid: "The server did not understand this page. Reload it, and try again.",
};
const BROKEN = "The connection broke off before the answer was there.";

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
  const message = WORDS[body?.error?.code] ?? body?.error?.message ?? `The server answered ${reply.status} and did not say why; its log does.`;
  const wait = Number(reply.headers.get("Retry-After"));
  return new Problem(String(message), { status: reply.status, code: body?.error?.code ?? "", wait: wait > 0 && wait < 3600 ? wait : 0 });
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
// cannot be reached, or breaks off before it body "end" or "error".
export async function* askEvents(question, signal) {
  const options = bodied("POST", question);
  const reply = await send("/ask", { ...options, headers: { ...options.headers, Accept: "text/event-stream" }, signal });
  let ended = false;
  try {
    for await (const [name, data] of events(reply.body)) {
      ended ||= name === "end" || name === "error";
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
