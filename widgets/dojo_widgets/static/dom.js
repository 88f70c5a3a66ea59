// Building DOM without markup: every text goes in as a text node, so that hostile text stays text.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value == null || value === false) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (name === "class") node.setAttribute("class", value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

// element("button", { class: "button", on: { click } }, "text", node, ...)
export function element(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// drawing("rect", { x: 0, width: "10%" })
export function drawing(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Whether the page around an element is dark: the host's own theme before the system's.
export function isDark() {
  const root = document.documentElement;
  const body = document.body;
  const named = root.dataset.theme || body.dataset.theme;
  if (named === "dark" || named === "light") return named === "dark";
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (root.classList.contains("dark") || body.classList.contains("dark")) return true;
  if (root.classList.contains("light") || body.classList.contains("light")) return false;
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// The root of a widget's view inside `el`. Returns { root, live, listen, dispose }:
// `live(text)` speaks to screen readers, `listen(model, traits, run)` and every other
// clean-up given to `onDispose(run)` end with `dispose()`, which `render` must return.
export function view(el, name) {
  const spoken = element("div", { class: "unseen", "aria-live": "polite" });
  const root = element("div", { class: `dojo ${name}` }, spoken);
  const ends = [];
  const onDispose = (run) => ends.push(run);
  const theme = () => {
    root.dataset.mode = isDark() ? "dark" : "light";
  };
  theme();
  const watch = new MutationObserver(theme);
  const attributes = { attributes: true, attributeFilter: ["class", "data-theme", "data-jp-theme-light"] };
  watch.observe(document.documentElement, attributes);
  watch.observe(document.body, attributes);
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", theme);
  onDispose(() => watch.disconnect());
  onDispose(() => system.removeEventListener("change", theme));
  const listen = (model, traits, run) => {
    for (const trait of traits) {
      model.on(`change:${trait}`, run);
      onDispose(() => model.off(`change:${trait}`, run));
    }
  };
  el.append(root);
  return {
    root,
    live: (text) => {
      spoken.textContent = text;
    },
    listen,
    onDispose,
    dispose: () => {
      for (const end of ends.splice(0)) end();
      root.remove();
    },
  };
}

// Keys of a widget: heard on its own element only, never while typing, and not passed on to the host,
// whose own single-key shortcuts would fire too. `run(event)` returns true when it used the key.
export function keys(root, run) {
  root.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const typing = event.composedPath()[0].closest?.("input, textarea, select");
    if (typing && event.key !== "Escape") {
      event.stopPropagation();
      return;
    }
    if (run(event)) event.preventDefault();
    event.stopPropagation();
  });
}

// Set traits and tell Python, once.
export function put(model, values) {
  for (const [trait, value] of Object.entries(values)) model.set(trait, value);
  model.save_changes();
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
