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
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row ?? {})))];
  const cell = (value) => {
    if (value === null || value === undefined || value === "") return "–";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (isNumber(value)) return short(value);
    if (isNumber(value?.difference)) return [value.metric ? `${called(String(value.metric))} ` : "", gainOf(value)];
    return typeof value === "object" ? h("code", {}, JSON.stringify(value)) : isolated(String(value));
  };
  return table(caption, columns.map((name, n) => ({ name: spaced(name), head: n === 0 })), rows.map((row) => columns.map((name) => cell(row?.[name]))));
}
