// What was run, with what, and what was tried.

function runView() {
  const { about, settings, ledger, name } = head;
  const { environments, config, ...rest } = about;
  const plain = Object.entries(rest).filter(([, value]) => typeof value !== "object");
  const deep = Object.entries(rest).filter(([, value]) => typeof value === "object" && value !== null);
  return [
    h("h1", { tabindex: "-1" }, "The run"),
    part("What was evaluated", 2, facts([["folder", isolated(name)], ["records", counted(head.records)], ...plain.map(([key, value]) => [spaced(key), isolated(String(value))])]), deep.map(([key, value]) => more(upper(spaced(key)), json(value)))),
    part("Configuration of the system", 2, Object.keys(settings).length ? json(settings) : h("p", { class: "missing" }, "The run does not record it, or its traces differ.")),
    part("Where it ran", 2, environments?.length ? environments.map(json) : h("p", { class: "missing" }, "The run does not record it.")),
    part("Ledger", 2, ledger.length ? ledgerTable(ledger, "Changes that were tried") : h("p", { class: "missing" }, "No change has been tried: the folder has no ledger.jsonl.")),
  ];
}

function ledgerTable(rows, caption) {
  const bare = (value) => points(value).replace(" points", "");
  const gain = (one) => (isNumber(one?.difference) ? [`${bare(one.difference)} `, h("span", { class: "dim" }, `(${bare(one.low)} to ${bare(one.high)})`)] : "–");
  const columns = { tried: (row) => isolated(String(row.name ?? "")), change: (row) => h("code", {}, settingsOf(row.patch)), "own cases": (row) => gain(row.on_cases), "as many others": (row) => gain(row.on_others), "chosen on": (row) => gain(row.development), "held out": (row) => gain(row.realised), outcome: (row) => isolated([row.kept ? "kept" : "", row.because].filter(Boolean).join(": ")) };
  return table(`${caption}: gains in points, with 95 % intervals`, Object.keys(columns).map((name, n) => ({ name, head: n === 0 })), rows.map((row) => Object.values(columns).map((cell) => cell(row ?? {}))));
}

// The settings of a patch in a line; those of another system stand in no table.
function settingsOf(patch) {
  const pairs = Object.entries(patch ?? {}).flatMap(([section, keys]) => Object.entries(keys ?? {}).map(([key, value]) => `${section === "system" ? "" : `${section}.`}${key} = ${JSON.stringify(value)}`));
  return pairs.join(", ") || "–";
}
