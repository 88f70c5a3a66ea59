// How numbers are written; the same rules as dojo_kit.formats.

export const UNKNOWN = "\u2013";

export function fixed(value, digits = 2) {
  return value == null || Number.isNaN(value) ? UNKNOWN : value.toFixed(digits);
}

export function percent(value) {
  return value == null || Number.isNaN(value) ? UNKNOWN : `${Math.round(100 * value)}%`;
}

export function whole(value) {
  return value == null ? UNKNOWN : value.toLocaleString("en-US");
}

export function count(n, noun, plural = `${noun}s`) {
  return `${whole(n)} ${n === 1 ? noun : plural}`;
}
