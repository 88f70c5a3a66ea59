// Unpacks the modules of marimo, gives each an address of its own, and starts the page.
(async () => {
  const nonce = document.currentScript.nonce;
  const { entry, leftOut, packed } = JSON.parse(document.getElementById("marimo-programs").textContent);
  const root = document.getElementById("root");
  const say = (text) => {
    root.textContent = text;
  };
  if (!("DecompressionStream" in window && HTMLScriptElement.supports?.("importmap"))) {
    say("This page needs a browser of 2023 or later.");
    return;
  }
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const modules = JSON.parse(await new Response(unpacked).text());
  for (const name of leftOut) modules[name] = "export default () => null;";
  const imports = {};
  for (const [name, text] of Object.entries(modules)) {
    imports[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  const map = document.createElement("script");
  map.type = "importmap";
  map.nonce = nonce;
  map.textContent = JSON.stringify({ imports });
  document.head.append(map);
  try {
    await import(entry);
  } catch (error) {
    say(`This page could not start: ${error}`);
  }
})();
