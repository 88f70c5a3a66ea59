// A button that copies a text and says whether it could.

import { copyText, element } from "./dom.js";

const SHOWN_MS = 1500;

// `text()` is what to copy; `said()` what screen readers hear when it was.
export function copyButton({ words, text, said, speak }) {
  const node = element("button", { class: "button quiet", type: "button" }, words);
  node.addEventListener("click", async () => {
    const done = await copyText(text());
    speak(done ? said() : "the browser refused to copy");
    node.textContent = done ? "copied" : "not copied";
    setTimeout(() => (node.textContent = words), SHOWN_MS);
  });
  return node;
}
