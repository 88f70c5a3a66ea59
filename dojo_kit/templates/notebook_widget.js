// What Python would answer, in a page without it: looked up in the tables that a widget's state carries, and passed
// on to the widgets it was linked with. Stands behind the module of a widget, whose default export it takes on.

const $linked = (globalThis[Symbol.for("dojo.linked")] ||= new Map());

function $set(model, trait, value) {
  if (JSON.stringify(model.get(trait)) === JSON.stringify(value)) return;
  model.set(trait, value);
  model.save_changes();
}

// What a trait holds when nothing is known for its source: nothing, of the same kind.
function $emptied(value) {
  if (Array.isArray(value)) return [];
  if (value !== null && typeof value === "object") return {};
  return typeof value === "string" ? "" : null;
}

function $answer(model) {
  for (const { source, target, values } of model.get("_tables") || []) {
    model.on(`change:${source}`, () => {
      const key = String(model.get(source));
      $set(model, target, Object.hasOwn(values, key) ? values[key] : $emptied(model.get(target)));
    });
  }
  for (const name of model.get("_linked") || []) {
    const trait = name.slice(name.indexOf(":") + 1);
    const models = $linked.get(name) || new Set();
    $linked.set(name, models.add(model));
    model.on(`change:${trait}`, () => {
      for (const other of models) if (other !== model) $set(other, trait, model.get(trait));
    });
  }
}

export default async () => {
  const widget = typeof $widget === "function" ? await $widget() : $widget;
  return {
    ...widget,
    render(context) {
      $answer(context.model);
      return widget.render(context);
    },
  };
};
