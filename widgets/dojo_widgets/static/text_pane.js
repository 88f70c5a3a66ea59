// A long text with marks, drawn block by block while it is scrolled.

import { element } from "./dom.js";
import { blockAt, blocksOf, piecesOf, squeezed, tagsOf } from "./blocks.js";
import { characterAt, topOf } from "./lines.js";

const CONTEXT = 46;
const EDGE = 4;
const LOAD_ABOVE = 200;
const LOAD_BELOW = 300;
const BLOCKS_BEFORE = 1;
const BLOCKS_FROM = 3;

export class TextPane {
  // `onScroll()` is called after every scroll.
  constructor({ onScroll }) {
    this.reading = element("div", { class: "reading" });
    this.node = element(
      "div",
      { class: "contract scrolls", tabindex: 0, role: "group", "aria-label": "Document text" },
      this.reading,
    );
    this.show({ text: "", start: 0, marks: [], compared: null, note: null });
    const scrolled = () => {
      this.load();
      onScroll();
    };
    this.node.addEventListener("scroll", scrolled, { passive: true });
  }

  // content: { text, start, marks, compared, note }; nothing is drawn before `goTo`.
  show(content) {
    this.content = content;
    this.blocks = blocksOf(content.text, content.start);
    [this.first, this.beyond] = [0, 0];
    this.reading.replaceChildren();
  }

  // Draw the text at a position; a mark has some context above it.
  goTo(position, isMark = false) {
    const at = blockAt(this.blocks, position);
    this.first = Math.max(0, at - BLOCKS_BEFORE);
    this.beyond = Math.min(this.blocks.length, at + BLOCKS_FROM);
    this.draw();
    this.node.scrollTop = 0;
    if (position > this.content.start) this.bringToTop(position, isMark ? CONTEXT : EDGE);
    this.load();
  }

  // Draw what is shown again, in place.
  repaint(compared) {
    this.content = { ...this.content, compared };
    const top = this.node.scrollTop;
    this.draw();
    this.node.scrollTop = top;
  }

  // Bring a position back to the top after lines broke anew.
  hold(position) {
    if (position > this.content.start) this.bringToTop(position, 0);
    this.load();
  }

  // The first and the last position seen.
  visible() {
    const box = this.node.getBoundingClientRect();
    const pieces = this.pieces();
    const [from, to] = [box.top + 2, box.bottom - 2].map((y) => positionAt(pieces, y) ?? this.content.start);
    return [from, Math.max(from, to)];
  }

  draw() {
    const nodes = [];
    for (let at = this.first; at < this.beyond; at += 1) nodes.push(...this.block(at));
    this.reading.replaceChildren(...nodes);
  }

  block(at) {
    const { start, end } = this.blocks[at];
    const pieces = piecesOf(start, end, this.content.marks).map((piece) => drawn(piece, this.content));
    return [at === 0 && this.content.note, element("span", {}, pieces)].filter(Boolean);
  }

  pieces() {
    return [...this.reading.querySelectorAll("[data-start]")];
  }

  bringToTop(position, margin) {
    const piece = this.pieces().findLast(({ dataset }) => Number(dataset.start) <= position);
    if (piece) this.node.scrollTop += yOf(piece, position) - this.node.getBoundingClientRect().top - margin;
  }

  // Draw more blocks near the ends of what is drawn. A block above may break lines anew, so a character is held.
  load() {
    const { node, reading } = this;
    if (!node.clientHeight) return;
    while (this.first > 0 && node.scrollTop < LOAD_ABOVE) {
      const held = characterAt(this.pieces(), node.getBoundingClientRect().top);
      this.first -= 1;
      reading.prepend(...this.block(this.first));
      if (held) node.scrollTop += topOf(held.text, held.offset) - held.top;
    }
    while (this.beyond < this.blocks.length && reading.scrollHeight - node.scrollTop < node.clientHeight + LOAD_BELOW) {
      reading.append(...this.block(this.beyond));
      this.beyond += 1;
    }
  }
}

function drawn(piece, { text, start, compared }) {
  const labels = piece.marks.filter(({ kind }) => kind === "label");
  const items = piece.marks.filter(({ kind }) => kind === "item");
  const names = [
    labels.length && "label",
    labels.length && labels.every(({ matched }) => matched) && "matched",
    labels.some((mark) => mark.own) && "own",
    items.length && "item",
    items.some(({ key }) => key === compared) && "compared",
  ].filter(Boolean);
  const own = squeezed(text.slice(piece.start - start, piece.end - start));
  const attributes = { class: names.join(" ") || null, "data-start": piece.start, "data-end": piece.end };
  const tags = tagsOf(piece.begins).map(({ kind, text: words, title }) =>
    element("span", { class: `tag ${kind}`, title: title || null }, words),
  );
  return [...tags, element("span", attributes, own)];
}

// Squeezing moves characters a little against their positions; inside one piece the share is near enough.
function yOf(piece, position) {
  const [from, to] = [Number(piece.dataset.start), Number(piece.dataset.end)];
  const text = piece.firstChild;
  if (!text) return piece.getBoundingClientRect().top;
  return topOf(text, Math.floor((text.length * (position - from)) / Math.max(1, to - from)));
}

function positionAt(pieces, y) {
  const found = characterAt(pieces, y);
  if (!found) return null;
  const [from, to] = [Number(found.piece.dataset.start), Number(found.piece.dataset.end)];
  return Math.round(from + ((to - from) * found.offset) / found.text.length);
}
