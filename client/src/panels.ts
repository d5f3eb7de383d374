/** The panels beside and below the picture: dragged larger or smaller, by keys too, folded, and remembered. */

import { byId, h } from "./dom";
import { recall, remember } from "./memory";

const KEY = "panels";
const KEYS = 24; // [px] of an arrow key
const NARROW = matchMedia("(max-width: 760px), (max-height: 480px)"); // panels are sheets then, each with a height

interface Kept {
  sizes?: Record<string, number>; // [px]
  folded?: string[];
}

interface Panel {
  id: "side" | "bottom";
  name: string; // in words
  least: number; // [px]
}

/** Give a panel an edge to take. */
function panel({ id, name, least }: Panel): void {
  const element = byId(id);
  const edge = h("div", { class: "edge", role: "separator", tabindex: "0", "aria-label": `Size of ${name}` });
  const fold = h("button", { type: "button", class: "fold", "aria-controls": id });
  element.prepend(edge, fold);
  const isUpright = (): boolean => id === "side" && !NARROW.matches; // an edge that goes to the left and right
  const key = (): string => (NARROW.matches ? `${id} sheet` : id);
  const size = (): number => (isUpright() ? element.offsetWidth : element.offsetHeight);
  const most = (): number => 0.8 * (isUpright() ? innerWidth : innerHeight);
  const isFolded = (): boolean => (recall<Kept>(KEY, {}).folded ?? []).includes(id);

  const show = (): void => {
    const { sizes = {} } = recall<Kept>(KEY, {});
    for (const [name, variable] of [
      [id, `--${id}`],
      [`${id} sheet`, `--${id}-sheet`],
    ] as const) {
      const kept = sizes[name];
      if (typeof kept === "number" && kept > 0) document.documentElement.style.setProperty(variable, `${kept}px`);
    }
    element.classList.toggle("folded", isFolded() && !NARROW.matches);
    document.body.classList.toggle(`${id}-folded`, isFolded() && !NARROW.matches);
    const arrows = isUpright() ? ["‹", "›"] : ["▴", "▾"];
    fold.textContent = arrows[isFolded() ? 0 : 1] ?? "";
    fold.title = isFolded() ? `Unfold ${name}` : `Fold ${name}`;
    fold.setAttribute("aria-label", fold.title);
    fold.setAttribute("aria-expanded", String(!isFolded()));
    edge.setAttribute("aria-orientation", isUpright() ? "vertical" : "horizontal");
    edge.setAttribute("aria-valuenow", String(Math.round((100 * size()) / (most() / 0.8))));
  };
  const set = (pixels: number): void => {
    const now = Math.round(Math.min(Math.max(pixels, least), most()));
    const kept = recall<Kept>(KEY, {});
    remember(KEY, { ...kept, sizes: { ...kept.sizes, [key()]: now } });
    show();
  };
  const toggle = (): void => {
    const kept = recall<Kept>(KEY, {});
    const others = (kept.folded ?? []).filter((other) => other !== id);
    remember(KEY, { ...kept, folded: isFolded() ? others : [...others, id] });
    show();
  };

  fold.addEventListener("click", toggle);
  edge.addEventListener("dblclick", toggle);
  edge.addEventListener("pointerdown", (event) => {
    if (isFolded() && !NARROW.matches) return;
    edge.setPointerCapture(event.pointerId);
    const [start, was] = [isUpright() ? event.clientX : event.clientY, size()];
    const move = (next: PointerEvent): void => set(was + start - (isUpright() ? next.clientX : next.clientY));
    const end = (): void => edge.removeEventListener("pointermove", move);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", end, { once: true });
  });
  edge.addEventListener("keydown", (event) => {
    const larger = isUpright() ? "ArrowLeft" : "ArrowUp";
    const smaller = isUpright() ? "ArrowRight" : "ArrowDown";
    if (event.key === larger) set(size() + KEYS);
    else if (event.key === smaller) set(size() - KEYS);
    else if (event.key === "Enter") toggle();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  NARROW.addEventListener("change", show);
  show();
}

export function panels(): void {
  panel({ id: "side", name: "the inspector", least: 200 });
  panel({ id: "bottom", name: "the plots", least: 110 });
}
