/** Messages that come and go; errors stay until they are read. */

import { byId, h } from "./dom";

const STAYS = { info: 4000, warning: 7000, error: Infinity }; // [ms]
const AT_ONCE = 4;

export function tell(text: string, kind: keyof typeof STAYS = "info"): void {
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
  if (Number.isFinite(STAYS[kind])) setTimeout(() => toast.remove(), STAYS[kind]);
}

/** Show an error in its own words. */
export function tellError(error: unknown): void {
  tell(error instanceof Error ? error.message : String(error), "error");
}
