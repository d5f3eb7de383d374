/** Dialogs and menus: closed by Escape, by their button and by a press beside them. */

import { h } from "./dom";

export function openDialog(title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close" }, "×");
  const dialog = h("dialog", { "aria-label": title }, h("header", {}, h("h1", {}, title), close), ...content);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A menu below a button. */
export function menuButton(button: HTMLButtonElement, content: () => HTMLElement[]): void {
  let menu: HTMLElement | null = null;
  const shut = (): void => {
    menu?.remove();
    menu = null;
    button.setAttribute("aria-expanded", "false");
  };
  button.addEventListener("click", () => {
    if (menu) {
      shut();
      return;
    }
    menu = h(
      "div",
      { class: "menu", role: "group", "aria-label": button.getAttribute("aria-label") ?? "Menu" },
      ...content(),
    );
    document.body.append(menu);
    const box = button.getBoundingClientRect();
    menu.style.top = `${box.bottom + 4}px`;
    menu.style.right = `${Math.max(6, innerWidth - box.right)}px`;
    button.setAttribute("aria-expanded", "true");
    menu.querySelector<HTMLElement>("button, input")?.focus();
    menu.addEventListener("click", (event) => {
      if ((event.target as HTMLElement).closest("button")) shut();
    });
  });
  document.addEventListener("pointerdown", (event) => {
    if (menu && !menu.contains(event.target as Node) && !button.contains(event.target as Node)) shut();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu) {
      shut();
      button.focus();
    }
  });
}
