// What is known of one change, in words and figures: no DOM, only texts.

import { bounds, CHANGE_DIGITS, signed } from "./delta_forest_layout.js";
import { count, fixed, percent, UNKNOWN, whole } from "./numbers.js";

export function estimateText({ value, lo, hi } = {}) {
  const range = lo == null || hi == null ? "" : ` [${fixed(lo, 3)}, ${fixed(hi, 3)}]`;
  return `${fixed(value, 3)}${range}`;
}

export function changeText(metric) {
  return [signed(metric.delta), bounds(metric)].filter(Boolean).join(" ");
}

// p values below the last digit printed are never 0.
export function chanceText(p) {
  if (p == null) return UNKNOWN;
  return p < 0.001 ? "< 0.001" : fixed(p, 3);
}

export function bandText({ value, m, deltas = [] }) {
  if (value != null) return `\u00b1${fixed(value, CHANGE_DIGITS)} (${count(m, "rerun")})`;
  if (!deltas.length) return "not measured";
  return `unknown; ${count(m, "rerun")}: ${deltas.map((delta) => signed(delta)).join(", ")}`;
}

function needText({ required_n: needed, n, n_units: units = n, unit, delta }, noun) {
  if (needed == null) return delta === 0 ? "none: the change is 0" : UNKNOWN;
  return needed <= units ? `${whole(needed)}, enough here` : count(needed, unit ?? noun);
}

// [{ name, text, title }]: everything about one metric that does not fit its row.
export function factsOf(metric, noun) {
  const corrected = metric.p_holm == null || metric.p_holm === metric.p ? "" : `; ${chanceText(metric.p_holm)} by Holm`;
  const shares = [metric.p_win, metric.p_tie, metric.p_loss];
  const bands = metric.band ?? { value: null, m: 0 };
  const facts = [
    { name: "change", text: changeText(metric), title: metric.method, kind: "wide" },
    { name: "A", text: estimateText(metric.a), title: metric.a?.note },
    { name: "B", text: estimateText(metric.b), title: metric.b?.note },
    {
      name: "p",
      text: `${chanceText(metric.p)}${corrected}`,
      title: [metric.p_method, corrected && "Holm: corrected for all metrics of the table"].filter(Boolean).join(". "),
    },
    {
      name: "B better in",
      kind: "resamples",
      text: shares.includes(null) || shares.includes(undefined) ? UNKNOWN : percent(shares[0]),
      title: `of the resamples; better, equal and worse for B: ${shares.map(percent).join(", ")}`,
    },
    {
      name: "band",
      text: bandText(bands),
      title: bands.reason,
      kind: bands.value == null && bands.deltas?.length ? "wide" : null,
    },
    { name: "detectable", text: metric.mde == null ? UNKNOWN : `from \u00b1${fixed(metric.mde, CHANGE_DIGITS)}`, title: MDE_SAYS },
    { name: "to be sure", text: needText(metric, noun), title: NEED_SAYS },
  ];
  if (metric.higher === false) facts.push({ name: "direction", text: "lower is better", title: TURNED_SAYS });
  if (metric.worst)
    facts.splice(1, 0, { name: "failed as worst", text: changeText(metric.worst), title: WORST_SAYS, kind: "wide" });
  return facts;
}

const TURNED_SAYS = "the change is turned round: positive where B is lower";
const WORST_SAYS = "the same change with every failed call as the worst possible answer";
const MDE_SAYS = "the smallest change that so many documents show in 4 of 5 tries, at the 5 % level";
const NEED_SAYS = "documents it takes to show a change as large as this one in 4 of 5 tries, at the 5 % level";

// What moved, counts first.
export function movedWords({ better, worse, equal }, noun) {
  const all = (better ?? 0) + (worse ?? 0) + (equal ?? 0);
  if (!better && !worse) return `No ${noun} of ${whole(all)} changed.`;
  return `B is better in ${whole(better)}, worse in ${whole(worse)}, equal in ${whole(equal)} of ${count(all, noun)}.`;
}

// The rows listed, as tab-separated text for a spreadsheet or a note.
export function copiedRows(rows) {
  const plain = (text) => String(text ?? "").replace(/\s+/g, " ");
  const line = (row) => [row.document || row.short, row.a, row.b, row.change, row.answer_a, row.answer_b, row.expected];
  const cells = [["document", "A", "B", "change", "answer A", "answer B", "expected"], ...rows.map(line)];
  return cells.map((row) => row.map(safe).join("\t")).join("\n") + "\n";

  // A cell that begins like a formula is kept from being one.
  function safe(value) {
    if (typeof value === "number") return String(value);
    const text = plain(value);
    return /^[=+\-@]/.test(text) ? `'${text}` : text;
  }
}
