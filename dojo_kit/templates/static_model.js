// The model of a widget on a page without Python: it holds the state, tells who listens, and looks up
// in precomputed tables what Python would have answered.

const same = (a, b) => a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));

// What a trait holds when nothing is known for its source: nothing, of the same kind.
function emptied(value) {
  if (Array.isArray(value)) return [];
  if (value !== null && typeof value === "object") return {};
  return typeof value === "string" ? "" : null;
}

export class StaticModel {
  // tables: [{ source, target, values: { text of the source's value: value of the target } }]
  constructor(state, tables = []) {
    this.state = { ...state };
    this.tables = tables;
    this.listeners = new Map();
    this.unsaved = new Set();
    this.onSettled = [];
  }

  get(name) {
    return this.state[name];
  }

  // set("span", "a:0") or set({ span: "a:0", family: "" }); listeners hear of it at once, as in a notebook.
  set(name, value) {
    const values = typeof name === "object" ? name : { [name]: value };
    const changed = Object.keys(values).filter((trait) => !same(this.state[trait], values[trait]));
    Object.assign(this.state, values);
    for (const trait of changed) this.unsaved.add(trait);
    this.tell(changed);
  }

  // What Python and linked widgets would learn now.
  save_changes() {
    const names = [...this.unsaved];
    this.unsaved.clear();
    for (const name of names) this.settle(name);
  }

  on(events, run) {
    for (const event of events.split(" ")) this.listeners.set(event, [...(this.listeners.get(event) || []), run]);
  }

  // off("change:span", run), off("change:span"), off(null, run) or off()
  off(events, run) {
    for (const event of events ? events.split(" ") : [...this.listeners.keys()]) {
      const left = run ? (this.listeners.get(event) || []).filter((other) => other !== run) : [];
      this.listeners.set(event, left);
    }
  }

  // Messages have nobody to go to.
  send() {}

  // A linked widget changed a trait.
  receive(name, value) {
    if (same(this.state[name], value)) return;
    this.state[name] = value;
    this.unsaved.delete(name);
    this.tell([name]);
    this.settle(name);
  }

  tell(names) {
    for (const name of names) {
      for (const run of this.listeners.get(`change:${name}`) || []) run(this, this.state[name]);
    }
    if (names.length) for (const run of this.listeners.get("change") || []) run(this);
  }

  // Let everything follow that depends on a changed trait; each trait once, so that circles end.
  settle(name, settled = new Set()) {
    if (settled.has(name)) return;
    settled.add(name);
    for (const { source, target, values } of this.tables) {
      if (source !== name) continue;
      const key = String(this.state[source]);
      const value = Object.hasOwn(values, key) ? values[key] : emptied(this.state[target]);
      if (same(this.state[target], value)) continue;
      this.state[target] = value;
      this.tell([target]);
      this.settle(target, settled);
    }
    for (const run of this.onSettled) run(name, this);
  }
}

// Keep traits equal in several models, from now on; the first model that has a trait decides what it starts with.
export function link(models, traits) {
  const underWay = new Set();
  const spread = (name, from) => {
    if (!traits.includes(name) || underWay.has(name)) return;
    underWay.add(name);
    try {
      for (const model of models) if (model !== from && name in model.state) model.receive(name, from.get(name));
    } finally {
      underWay.delete(name);
    }
  };
  for (const model of models) model.onSettled.push(spread);
  for (const name of traits) {
    const first = models.find((model) => name in model.state);
    if (first) spread(name, first);
  }
}
