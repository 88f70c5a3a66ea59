// The selection in the page's address: #family=Insurance&span=a%3Akey_obligations%3A0

const texts = (value) => ["string", "number", "boolean"].includes(typeof value);

function typed(text, like) {
  if (typeof like === "number") return Number.isFinite(Number(text)) ? Number(text) : like;
  return typeof like === "boolean" ? text === "true" : text;
}

// groups: [{ models, traits }]. A trait that two groups link is told apart by the number of its group.
export function addressed(groups) {
  const entries = [];
  groups.forEach(({ models, traits }, number) => {
    for (const trait of traits) {
      const model = models.find((one) => trait in one.state && texts(one.get(trait)));
      if (!model) continue;
      const name = entries.some((entry) => entry.name === trait) ? `${trait}.${number + 1}` : trait;
      entries.push({ name, trait, model, start: model.get(trait) });
    }
  });
  return entries;
}

// Set what the address says; anything else in it is left alone.
export function readAddress(entries, hash) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  for (const { name, trait, model } of entries) {
    if (!said.has(name)) continue;
    model.set(trait, typed(said.get(name), model.get(trait)));
    model.save_changes();
  }
}

// The address of the present selection: only what differs from the start of the page.
export function writtenAddress(entries) {
  const said = new URLSearchParams();
  for (const { name, trait, model, start } of entries) {
    if (model.get(trait) !== start) said.set(name, String(model.get(trait)));
  }
  return said.toString();
}

export function followAddress(entries) {
  if (!entries.length) return;
  const write = () => {
    const text = writtenAddress(entries);
    if (text !== location.hash.replace(/^#/, "")) history.replaceState(null, "", text ? `#${text}` : location.pathname);
  };
  for (const { trait, model } of entries) model.on(`change:${trait}`, write);
  addEventListener("hashchange", () => readAddress(entries, location.hash));
}
