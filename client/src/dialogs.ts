/** Dialogs and menus: closed by Escape, by their button and by a press beside them. */

import { byId, h } from "./dom";

export function openDialog(title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close" }, "×");
  const dialog = h("dialog", { "aria-label": title }, h("header", {}, h("h1", {}, title), close), ...content);
  close.addEventListener("click", () => dialog.close());
  const isBeside = ({ clientX: x, clientY: y }: MouseEvent): boolean => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    return x < left || x > right || y < top || y > bottom;
  };
  dialog.addEventListener("pointerdown", (event) => {
    if (event.target === dialog && isBeside(event)) dialog.close(); // its own margin is not beside it
  });
  const toasts = byId("toasts");
  const home = toasts.parentElement;
  dialog.addEventListener("close", () => {
    if (dialog.contains(toasts)) home?.append(toasts);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.append(toasts); // over it: what lies beside a modal dialog is behind its backdrop
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
    const [above, below] = [box.top - 10, innerHeight - box.bottom - 10];
    const isBelow = menu.offsetHeight <= below || below >= above; // else where there is more room
    menu.style.maxHeight = `${isBelow ? below : above}px`;
    if (isBelow) menu.style.top = `${box.bottom + 4}px`;
    else menu.style.bottom = `${Math.max(6, innerHeight - box.top + 4)}px`;
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
