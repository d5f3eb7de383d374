/** Light and dark: the system's wish, or the user's where one was made. */

export type Theme = "light" | "dark";
type Listener = (theme: Theme) => void;

const KEY = "impulsar.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners: Listener[] = [];

export function theme(): Theme {
  const chosen = localStorage.getItem(KEY);
  return chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light";
}

export function toggleTheme(): void {
  const next = theme() === "dark" ? "light" : "dark";
  if ((next === "dark") === system.matches) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  apply();
}

/** Call back now and at every change. */
export function onTheme(listener: Listener): void {
  listeners.push(listener);
  listener(theme());
}

/** A colour of the style sheet. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener(theme());
}

system.addEventListener("change", apply);
document.documentElement.dataset.theme = theme();
