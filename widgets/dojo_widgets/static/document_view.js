// The text of a document with its labels and items, and a ruler over the whole of it.
//
// For composition: `const end = mountDocument(host, model, { speak })`
//   host     an element inside a `.dojo` root; may be hidden: it is drawn when it is first shown, and measured again
//            whenever its width changes
//   model    has the traits `view`, `opened` and `highlight`. When it also has `record` and `item` (span_compare.js)
//            and record.id is view.span, the compared item follows them; otherwise it is view.item
//   speak    optional, (text) => void: says a text to screen readers; without it the view brings its own live region
//   end()              removes the view and its listeners
//   end.keys(event)    true when it used the key. The host listens and calls it. Keys: n / p next and previous
//                      highlight, g this label, i the compared item; Enter on the text opens the large view, Escape
//                      closes the list of items not found, then the large view
// `highlight` is a position among the highlights of the text shown, in reading order; -1 is the label of the view.
// Style sheet: document_view.css (on top of base.css).

import { element, keys, put, view } from "./dom.js";
import { marksInside, marksOf } from "./blocks.js";
import { documentHead } from "./document_head.js";
import { captionOf, nameOf, noteOf } from "./document_words.js";
import { whole } from "./numbers.js";
import { ruler } from "./ruler.js";
import { TextPane } from "./text_pane.js";

const OWN = -1;

export function mountDocument(host, model, { speak = null } = {}) {
  const mounted = new Mounted(host, model, speak);
  const end = () => mounted.end();
  end.keys = (event) => mounted.useKey(event);
  return end;
}

class Mounted {
  constructor(host, model, speak) {
    this.model = model;
    const spoken = speak ? null : element("div", { class: "unseen", "aria-live": "polite" });
    this.speak = speak || ((text) => (spoken.textContent = text));
    this.panel = element("section", { class: "panel", "aria-label": "Document" });
    this.root = element("div", { class: "document-pane" }, this.panel, spoken);
    this.pane = new TextPane({ onScroll: () => this.moved() });
    this.ruler = ruler({ onJump: (position) => this.goTo(position) });
    this.map = element("div", { class: "map" }, this.ruler.node);
    this.caption = element("div", { class: "caption" });
    this.shown = null; // what is drawn: { view, marks, inside, head, top }
    host.append(this.root);
    this.listen();
    this.draw();
  }

  listen() {
    const runs = { view: "onView", highlight: "land", opened: "onOpened", item: "onCompared", record: "onCompared" };
    const events = Object.entries(runs).map(([trait, run]) => [`change:${trait}`, () => this[run]()]);
    for (const [event, run] of events) this.model.on(event, run);
    this.width = this.root.clientWidth;
    const watch = new ResizeObserver(() => this.onResize());
    watch.observe(this.root);
    this.end = () => {
      watch.disconnect();
      for (const [event, run] of events) this.model.off(event, run);
      this.root.remove();
    };
  }

  get opened() {
    return Boolean(this.model.get("opened"));
  }

  get compared() {
    const { span, item = null } = this.model.get("view") || {};
    const record = this.model.get("record");
    if (!record?.id || record.id !== span) return item;
    return record.items?.[this.model.get("item") || 0]?.index ?? null;
  }

  draw() {
    this.shown = null;
    if (!this.root.clientWidth) return;
    const shown = this.model.get("view") || {};
    if (!shown.span || !shown.text) return drawEmpty(this.panel, shown);
    const { start = 0, text, length, chunks = [] } = shown;
    const end = start + text.length;
    const marks = marksOf(shown);
    const inside = marksInside(marks, start, end);
    this.shown = { view: { ...shown, start }, marks, inside, head: this.headOf(shown), top: start };
    this.arrange(shown);
    this.pane.show({ text, start, marks: inside, compared: this.compared, note: drawnNote(shown) });
    this.ruler.draw({ marks, chunks, length, compared: this.compared, start, end });
    this.land();
  }

  // Only the head is new: what stays in its place keeps the focus.
  arrange(shown) {
    this.panel.classList.toggle("windowed", Boolean(shown.windowed));
    const hadFocus = this.panel.contains(this.panel.getRootNode().activeElement);
    if (this.panel.contains(this.pane.node)) this.panel.firstChild.replaceWith(this.shown.head.node);
    else this.panel.replaceChildren(this.shown.head.node, this.map, this.caption, this.pane.node);
    if (hadFocus && !this.panel.contains(this.panel.getRootNode().activeElement)) {
      this.pane.node.focus({ preventScroll: true });
    }
  }

  headOf(shown) {
    return documentHead(shown, {
      previous: () => this.step(-1),
      next: () => this.step(1),
      label: () => this.toLabel(),
      item: this.compared == null ? null : () => this.toItem(),
      open: () => put(this.model, { opened: !this.opened }),
    });
  }

  // Where `highlight` is among the marks of the text shown; -1 when there is none, as without a place of the label.
  get current() {
    const at = this.model.get("highlight") ?? OWN;
    const { inside } = this.shown;
    return at >= 0 && at < inside.length ? at : inside.findIndex((mark) => mark.own);
  }

  land() {
    if (!this.shown) return;
    const { inside, view: shown } = this.shown;
    const mark = inside[this.current];
    this.updateHead();
    this.goTo(mark ? Math.max(mark.start, shown.start) : shown.start, Boolean(mark));
  }

  goTo(position, isMark = false) {
    this.pane.goTo(position, isMark);
    this.moved();
  }

  updateHead() {
    const { inside, head } = this.shown;
    const at = this.current;
    const count = whole(inside.length);
    this.panel.classList.toggle("opened", this.opened);
    head.update({
      position: inside.length ? `${at < 0 ? "\u2013" : whole(at + 1)}/${count}` : "",
      title: at < 0 ? "highlights" : `${nameOf(inside[at])}, highlight ${at + 1} of ${count} in reading order`,
      opened: this.opened,
    });
  }

  moved() {
    if (!this.shown || !this.root.clientWidth) return;
    const [from, to] = this.pane.visible();
    this.shown.top = from;
    this.ruler.frame(from, to);
    this.caption.textContent = captionOf(this.shown.view, this.shown.marks, from);
  }

  step(by) {
    const n = this.shown.inside.length;
    if (!n) return;
    const at = this.current < 0 ? (by > 0 ? 0 : n - 1) : (this.current + by + n) % n;
    this.goToMark(at, `${nameOf(this.shown.inside[at])}, highlight ${at + 1} of ${n}`);
  }

  toLabel() {
    this.goToMark(OWN, "label");
  }

  toItem() {
    const is = (mark) => mark.kind === "item" && mark.key === this.compared;
    const at = this.shown.inside.findIndex(is);
    if (at >= 0) return this.goToMark(at, `item ${this.compared}`);
    const outside = this.shown.marks.find(is);
    if (!outside) return this.tell(`item ${this.compared} is not verbatim in the text`);
    this.tell(`item ${this.compared} lies outside the text shown`);
  }

  tell(text) {
    this.caption.textContent = text;
    this.speak(text);
  }

  goToMark(at, name) {
    if (at === (this.model.get("highlight") ?? OWN)) this.land();
    else put(this.model, { highlight: at });
    this.speak(name);
  }

  onView() {
    this.shown = null;
    if ((this.model.get("highlight") ?? OWN) !== OWN) put(this.model, { highlight: OWN });
    this.draw();
  }

  onOpened() {
    if (!this.shown) return;
    this.updateHead();
    this.moved();
  }

  onCompared() {
    if (!this.shown) return;
    this.pane.repaint(this.compared);
    this.ruler.draw({ compared: this.compared });
  }

  onResize() {
    if (this.root.clientWidth === this.width) return;
    this.width = this.root.clientWidth;
    if (!this.width) return;
    if (!this.shown) return this.draw();
    this.pane.hold(this.shown.top);
    this.ruler.draw();
    this.moved();
  }

  useKey(event) {
    const runs = { n: () => this.step(1), p: () => this.step(-1), g: () => this.toLabel(), i: () => this.toItem() };
    if (!this.shown) return false;
    if (event.key === "Escape") return this.close();
    if (event.key === "Enter" && event.composedPath()[0] === this.pane.node) put(this.model, { opened: true });
    else if (Object.hasOwn(runs, event.key)) runs[event.key]();
    else return false;
    return true;
  }

  close() {
    if (this.shown.head.closeList()) return true;
    if (!this.opened) return false;
    put(this.model, { opened: false });
    return true;
  }
}

function drawEmpty(panel, shown) {
  const [first, then] = shown.span
    ? ["The text of this document is not at hand. ", "Give the documents to see where its labels and items stand."]
    : ["No span is selected. ", "Select one to see it in its document."];
  panel.replaceChildren(element("div", { class: "empty" }, element("b", {}, first), then));
}

function drawnNote(shown) {
  const note = noteOf(shown);
  return note && element("div", { class: "note" }, element("b", {}, note[0]), ` ${note[1]}`);
}

function render({ model, el }) {
  const shown = view(el, "dojo-document");
  const end = mountDocument(shown.root, model, { speak: shown.live });
  shown.onDispose(end);
  keys(shown.root, end.keys);
  return shown.dispose;
}

export default { render };
