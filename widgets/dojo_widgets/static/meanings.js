// The words for what became of a label, and why, and where an item stands.

const CAUSES = {
  omission: "omission",
  wrong_field: "wrong field",
  split: "split",
  boundary: "boundary",
  truncation: "truncation",
  shifted: "shifted",
  over_quote: "over-quote",
  wording: "wording",
  merged: "merged",
  gold_suspect: "gold suspect",
  empty_prediction: "empty prediction",
  unknown_place: "unknown place",
};

const STATUSES = { matched: "matched", near: "near miss", taken: "missed, its item was taken", missed: "missed" };

export function causeWords(cause) {
  return CAUSES[cause] || String(cause).replaceAll("_", " ");
}

export function statusWords(status) {
  return STATUSES[status] || String(status);
}

export function isMatched(status) {
  return status === "matched";
}

export function placeWords(place) {
  return place === "unknown" ? "place unknown" : place;
}
