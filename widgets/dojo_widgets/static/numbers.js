// How numbers are written; the same rules as dojo_kit.formats.

export const UNKNOWN = "\u2013";

// As Python's f"{value:.3f}": a value that lies exactly between two texts gets the one with the even last digit.
// toFixed takes the larger number of the two; whether the value is such a tie shows in 30 more exact digits.
function rounded(value, digits) {
  const text = value.toFixed(digits);
  const exact = value.toFixed(Math.min(100, digits + 30));
  const isTie = /^50*$/.test(exact.slice(exact.indexOf(".") + 1 + digits));
  const isOdd = "13579".includes(text.at(-1));
  if (!isTie || !isOdd) return text;
  // Away from zero was wrong, so the digits are cut off instead.
  return digits ? exact.slice(0, exact.indexOf(".") + 1 + digits) : exact.slice(0, exact.indexOf("."));
}

export function fixed(value, digits = 2) {
  return value == null || Number.isNaN(value) ? UNKNOWN : rounded(value, digits);
}

export function percent(value) {
  return value == null || Number.isNaN(value) ? UNKNOWN : `${rounded(100 * value, 0)}%`;
}

export function whole(value) {
  return value == null ? UNKNOWN : value.toLocaleString("en-US");
}

export function count(n, noun, plural = `${noun}s`) {
  return `${whole(n)} ${n === 1 ? noun : plural}`;
}
