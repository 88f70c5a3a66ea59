// Which character of a drawn text stands at which height.

// The top of the line that holds a character of a text node.
export function topOf(text, offset) {
  const range = document.createRange();
  const from = Math.max(0, Math.min(offset, text.length - 1));
  range.setStart(text, from);
  range.setEnd(text, Math.min(from + 1, text.length));
  const box = range.getClientRects()[0] || text.parentElement.getBoundingClientRect();
  return box.top;
}

// The last character at or above height y among elements in reading order that hold one text node each:
// { piece, text, offset, top }, or null when there is no text.
export function characterAt(pieces, y) {
  const last = lastWhere(pieces.length, (at) => pieces[at].getBoundingClientRect().top <= y);
  const piece = pieces[last];
  const text = piece?.firstChild;
  if (!text?.length) return null;
  const offset = lastWhere(text.length, (at) => topOf(text, at) <= y);
  return { piece, text, offset, top: topOf(text, offset) };
}

// The last of n indices for which something holds that holds for the first ones only; 0 when for none.
function lastWhere(n, holds) {
  let [low, high] = [0, n - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
