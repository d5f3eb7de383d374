/** Messages that come and go; none goes while it is pointed at. */

import { byId, h } from "./dom";

const STAYS = { info: 4000, warning: 7000, error: 20_000 }; // [ms]
const AT_ONCE = 4;

const listeners: ((text: string) => void)[] = [];

/** Be told what is told. */
export function onTold(listener: (text: string) => void): void {
  listeners.push(listener);
}

export function tell(text: string, kind: keyof typeof STAYS = "info"): void {
  for (const listener of listeners) listener(text);
  const box = byId("toasts");
  const gist = text.replace(/[\d.]+/g, "#"); // the same message with other numbers takes the old one's place
  for (const child of [...box.children]) if (child.getAttribute("data-gist") === gist) child.remove();
  const close = h("button", { type: "button", class: "icon", "aria-label": "Dismiss" }, "×");
  const toast = h(
    "div",
    { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status", "data-gist": gist },
    h("span", {}, text),
    close,
  );
  close.addEventListener("click", () => toast.remove());
  box.append(toast);
  while (box.children.length > AT_ONCE) box.firstElementChild?.remove();
  const leave = (): void => {
    if (toast.matches(":hover, :focus-within")) setTimeout(leave, 1000);
    else toast.remove();
  };
  setTimeout(leave, STAYS[kind]);
}

/** What was said of a scene that is gone. */
export function forgetTold(): void {
  byId("toasts").replaceChildren();
}

/** Show an error in its own words. */
export function tellError(error: unknown): void {
  tell(error instanceof Error ? error.message : String(error), "error");
}
