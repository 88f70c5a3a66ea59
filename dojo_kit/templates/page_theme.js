// The button that says which theme the page has: the system's, light or dark.

const THEMES = ["system", "light", "dark"];

export function themeButton(button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || "system";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
  });
}
