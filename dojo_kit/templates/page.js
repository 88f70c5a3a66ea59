import { StaticModel, link } from "./static_model.js";
import { addressed, followAddress, readAddress } from "./page_address.js";
import { themeButton } from "./page_theme.js";
import { liveChart } from "./page_charts.js";

const TOO_OLD = "This view needs a browser of 2023 or later (Chrome 80, Firefox 113, Safari 16.4 or newer).";

// The value of a block of data; every block is unpacked once.
const opened = new Map();

function block(id) {
  if (!opened.has(id)) opened.set(id, unpacked(document.getElementById(id)).then(JSON.parse));
  return opened.get(id);
}

async function unpacked(script) {
  if (!("packed" in script.dataset)) return script.textContent;
  if (!globalThis.DecompressionStream) throw new Error(TOO_OLD);
  const bytes = Uint8Array.from(atob(script.textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

const modules = new Map();

function loadModule(id) {
  if (!modules.has(id)) {
    const load = async () => {
      const url = URL.createObjectURL(new Blob([await block(id)], { type: "text/javascript" }));
      return (await import(url)).default;
    };
    modules.set(id, load());
  }
  return modules.get(id);
}

async function modelOf({ traits, blocks, tables }) {
  const state = { ...traits };
  for (const [trait, id] of Object.entries(blocks)) state[trait] = await block(id);
  const filled = tables.map(async ({ source, target, values }) => ({ source, target, values: await block(values) }));
  return new StaticModel(state, await Promise.all(filled));
}

function say(host, text) {
  const sentence = document.createElement("p");
  sentence.className = "soft";
  sentence.textContent = text;
  host.replaceChildren(sentence);
}

async function mount({ host, module }, model) {
  const place = document.getElementById(host);
  const exported = await loadModule(module);
  const widget = typeof exported === "function" ? await exported() : exported;
  const el = document.createElement("div");
  place.replaceChildren(el);
  await widget.initialize?.({ model });
  await widget.render?.({ model, el });
}

// One widget that fails says so in its place; the others live on.
async function whole(widget, run) {
  try {
    return await run();
  } catch (error) {
    say(document.getElementById(widget.host), error.message === TOO_OLD ? TOO_OLD : `This view could not be drawn: ${error.message}`);
    console.error(error);
    return null;
  }
}

async function startWidgets({ widgets, links }) {
  const models = await Promise.all(widgets.map((widget) => whole(widget, () => modelOf(widget))));
  const groups = links.map((traits, number) => ({
    traits,
    models: models.filter((model, place) => model && widgets[place].group === number),
  }));
  for (const group of groups) link(group.models, group.traits);
  const entries = addressed(groups);
  readAddress(entries, location.hash);
  await Promise.all(widgets.map((widget, place) => models[place] && whole(widget, () => mount(widget, models[place]))));
  followAddress(entries);
}

async function startCharts({ charts, vega }) {
  if (!charts.length || !globalThis.DecompressionStream) return; // their pictures say it all
  await loadModule(vega);
  for (const { figure, spec } of charts) await liveChart(globalThis.vegaEmbed, document.getElementById(figure), await block(spec));
}

function copyButton(button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    getSelection().selectAllChildren(document.getElementById("command"));
    document.execCommand("copy"); // the clipboard of newer browsers is closed to pages opened from a file
    button.textContent = "Copied";
  });
}

const plan = JSON.parse(await unpacked(document.querySelector("[data-plan]")));
themeButton(document.getElementById("theme"));
if (document.getElementById("copy")) copyButton(document.getElementById("copy"));
await startWidgets(plan);
await startCharts(plan);
document.documentElement.dataset.ready = "";
