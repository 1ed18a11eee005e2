// Means by tag, the worst first, and what people's labels corrected.

function slicesPart({ slices, sliced }) {
  if (!sliced) return null;
  const rows = slices.map((one) => [
    h("a", { href: `#/records?tag=${encodeURIComponent(`${one.tag}: ${one.value}`)}&sort=${encodeURIComponent(one.metric)}` }, isolated(`${spaced(one.tag)}: ${one.value}`)),
    called(one.metric),
    counted(one.of),
    h("strong", {}, percentage(one.mean)),
    interval(one.low, one.high) || "–",
    percentage(one.rest),
    one.holm === null ? "–" : one.holm < 0.05 ? "worse" : "may be chance",
  ]);
  const headings = [{ name: "slice", head: true }, { name: "metric" }, { name: "scored", right: true }, { name: "mean", right: true }, { name: "95 % interval", right: true }, { name: "all others", right: true }, { name: "beyond chance?" }];
  const worst = rows.length ? table("Slices with the lowest means, beside all other records", headings, rows, "slices") : h("p", {}, "No slice lies below the others.");
  return part("Worst slices", 2, worst, h("p", { class: "dim small" }, `Of ${many(sliced, "slice")} looked at; “worse” is corrected for looking at so many (Holm, 5 %).`));
}

const calibrationPart = ({ calibration }) =>
  calibration.length ? part("Corrected with people's labels", 2, h("ul", {}, calibration.map((line) => h("li", {}, isolated(line))))) : null;
