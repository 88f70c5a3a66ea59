// Live charts take the place of their pictures. Colours are CSS variables, so a change of theme needs no new drawing.

const OPTIONS = {
  mode: "vega-lite",
  renderer: "svg",
  ast: true, // expressions are interpreted, not compiled: the page allows no eval
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

export async function liveChart(embed, figure, spec) {
  const live = document.createElement("div");
  live.className = "live";
  figure.append(live);
  try {
    await embed(live, spec, OPTIONS);
    figure.classList.add("is-live");
  } catch (error) {
    live.remove();
    console.warn(`${figure.id} stays a picture:`, error);
  }
}
