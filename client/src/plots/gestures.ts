/**
 * Mouse, finger and keys on a plot. Mouse: a click goes to that moment, a drag chooses a box to zoom into, a drag along
 * the axis of x or with Shift goes through time, one with Ctrl or the middle button shifts, the wheel zooms (Shift: y
 * only), a double click shows all. Finger: a drag goes through time, two fingers zoom and shift, a double tap shows all.
 */

export interface Target {
  /** Go to the moment at a pixel; false where there is none. */
  seek(x: number, y: number): boolean;
  /** A box is being chosen, or was; null: no longer. */
  choose(from: Pixel, to: Pixel | null, isDone: boolean): void;
  /** Enlarge about a pixel by factors. */
  zoom(about: Pixel, fx: number, fy: number): void;
  shift(dx: number, dy: number): void;
  showAll(): void;
  point(at: Pixel | null): void;
  /** Is a pixel on the axis of x, rather than in the field? */
  isOnAxis(at: Pixel): boolean;
}

export interface Pixel {
  x: number;
  y: number;
}

const SLACK = 4; // [px] that a click may move
const TWICE = 250; // [ms] within which a second click makes a double one

export function gestures(canvas: HTMLCanvasElement, target: Target): void {
  const down = new Map<number, Pixel>();
  let start: Pixel | null = null;
  let doing: "none" | "press" | "box" | "seek" | "shift" | "pinch" = "none";
  let waiting = 0; // a click that is none yet: a second one may follow
  const pixel = (event: MouseEvent): Pixel => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const pinch = (): { middle: Pixel; dx: number; dy: number } => {
    const [a = { x: 0, y: 0 }, b = a] = [...down.values()];
    const least = 30; // fingers in a line zoom along it only
    return {
      middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
      dx: Math.max(Math.abs(a.x - b.x), least),
      dy: Math.max(Math.abs(a.y - b.y), least),
    };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 1) return;
    canvas.setPointerCapture(event.pointerId);
    start = pixel(event);
    down.set(event.pointerId, start);
    if (down.size > 1) {
      doing = "pinch";
      return;
    }
    const isTouch = event.pointerType === "touch";
    if (event.button === 1 || event.ctrlKey || event.metaKey) doing = "shift";
    else doing = isTouch || event.shiftKey || target.isOnAxis(start) ? "seek" : "press";
    if (event.button === 1) event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = pixel(event);
    const before = down.get(event.pointerId);
    if (!before || !start) {
      target.point(at);
      return;
    }
    const two = doing === "pinch" ? pinch() : null;
    down.set(event.pointerId, at);
    if (two) {
      const now = pinch();
      target.zoom(two.middle, now.dx / two.dx, now.dy / two.dy);
      target.shift(now.middle.x - two.middle.x, now.middle.y - two.middle.y);
      return;
    }
    if (doing === "press" && Math.hypot(at.x - start.x, at.y - start.y) > SLACK) doing = "box";
    if (doing === "box") target.choose(start, at, false);
    if (doing === "seek" && Math.hypot(at.x - start.x, at.y - start.y) > SLACK) target.seek(at.x, at.y);
    if (doing === "shift") target.shift(at.x - before.x, at.y - before.y);
  });
  const click = (at: Pixel): void => {
    const isSecond = waiting !== 0;
    clearTimeout(waiting);
    waiting = 0;
    if (isSecond) target.showAll();
    else
      waiting = window.setTimeout(() => {
        waiting = 0;
        target.seek(at.x, at.y);
      }, TWICE);
  };
  const end = (event: PointerEvent): void => {
    const at = pixel(event);
    if (!down.delete(event.pointerId) || !start) return;
    if (down.size > 0) return; // the other finger of two: nothing until it is up, too
    const isStill = Math.hypot(at.x - start.x, at.y - start.y) <= SLACK;
    if (event.type === "pointerup" && doing === "box") target.choose(start, at, true);
    else if (doing === "box") target.choose(start, null, false);
    else if (event.type === "pointerup" && isStill && (doing === "press" || doing === "seek")) click(at);
    doing = "none";
    start = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => target.point(null));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const factor = Math.exp(-0.0015 * lines * (event.deltaY || event.deltaX));
      target.zoom(pixel(event), event.shiftKey ? 1 : factor, event.shiftKey ? factor : 1);
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => key(event, canvas, target));
}

/** + and - zoom about the middle, arrows shift, 0 and Escape show all. */
function key(event: KeyboardEvent, canvas: HTMLCanvasElement, target: Target): void {
  const middle = { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 };
  const ways: Record<string, () => void> = {
    "+": () => target.zoom(middle, 1.25, 1),
    "=": () => target.zoom(middle, 1.25, 1),
    "-": () => target.zoom(middle, 0.8, 1),
    ArrowLeft: () => target.shift(40, 0),
    ArrowRight: () => target.shift(-40, 0),
    ArrowUp: () => target.shift(0, 20),
    ArrowDown: () => target.shift(0, -20),
    "0": () => target.showAll(),
    Escape: () => target.showAll(),
  };
  const way = ways[event.key];
  if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
  way();
  event.preventDefault();
  event.stopPropagation();
}
