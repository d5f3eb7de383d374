/** Pointers on the picture: a press goes to a handle, then to the tool in hand, else it turns the view. */

import { byId } from "./dom";
import type { Stage } from "./stage";
import type { Tool } from "./store";

/** What a press has begun; pixels are counted from the canvas's corner. */
export interface Drag {
  move(x: number, y: number, isShift: boolean): void;
  deepen?(pixels: number): void; // away from the viewer
  end(moved: boolean): void;
  cancel(): void;
}

export interface Press {
  x: number;
  y: number;
  isTouch: boolean;
  time: number; // when it was made, which may be long before a busy page hears of it [ms]
}

export interface Presser {
  press(press: Press): Drag | null;
  hover?(press: Press): void;
}

const STILL = 4; // pixels that a click may move

export class Gestures {
  private drag: Drag | null = null;
  private pointer = -1;
  private second = new Map<number, number>(); // other fingers: their y
  private start = { x: 0, y: 0 };
  private moved = false;
  private area = byId("stage");

  constructor(
    private readonly stage: Stage,
    private readonly handles: Presser,
    private readonly tools: Record<Tool, Presser>,
  ) {
    const { store } = stage;
    const { canvas } = stage.view;
    this.area.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    this.area.addEventListener("pointermove", (event) => this.over(event), { capture: true });
    for (const name of ["pointerup", "pointercancel"] as const) {
      this.area.addEventListener(name, (event) => this.up(event, name === "pointercancel"), { capture: true });
    }
    this.area.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.abort();
    });
    store.on("tool", (tool) => {
      canvas.dataset.tool = tool;
    });
    store.on("line", (connected) => {
      if (!connected) this.abort();
    });
  }

  private place(event: MouseEvent & { pointerType?: string }): Press {
    const box = this.stage.view.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return { x, y, isTouch: event.pointerType === "touch", time: event.timeStamp };
  }

  private down(event: PointerEvent): void {
    if (event.target !== this.stage.view.canvas) return;
    if (this.drag) {
      this.second.set(event.pointerId, event.clientY);
      return;
    }
    this.stage.view.canvas.focus({ preventScroll: true });
    const press = this.place(event);
    this.start = press;
    this.moved = false;
    this.pointer = event.pointerId;
    this.stage.view.isTouched = true; // what is under a pointer stays there
    if (event.button !== 0 || event.ctrlKey || event.shiftKey || event.metaKey) return;
    this.drag = this.handles.press(press) ?? this.tools[this.stage.store.tool].press(press);
    if (!this.drag) return;
    this.stage.view.controls.enabled = false;
    this.stage.view.canvas.setPointerCapture(event.pointerId);
    this.stage.view.canvas.dataset.busy = "";
  }

  private over(event: PointerEvent): void {
    const press = this.place(event);
    const before = this.second.get(event.pointerId);
    if (before !== undefined) {
      this.drag?.deepen?.(before - event.clientY);
      this.second.set(event.pointerId, event.clientY);
      return;
    }
    if (event.buttons && Math.hypot(press.x - this.start.x, press.y - this.start.y) > STILL) this.moved = true;
    if (this.drag && event.pointerId === this.pointer) {
      if (this.moved) this.drag.move(press.x, press.y, event.shiftKey);
    } else if (!event.buttons && event.pointerType === "mouse" && event.target === this.stage.view.canvas) {
      const hit = this.stage.picking.hit(press.x, press.y, ["body", "joint", "spring"]);
      this.stage.view.canvas.dataset.over = hit ? "body" : "";
      this.stage.mechanism.hover(hit);
      this.tools[this.stage.store.tool].hover?.(press);
    }
  }

  private up(event: PointerEvent, cancelled: boolean): void {
    this.second.delete(event.pointerId);
    if (event.pointerId !== this.pointer) return;
    this.pointer = -1;
    if (this.drag) {
      const drag = this.drag;
      this.finish();
      if (cancelled) drag.cancel();
      else drag.end(this.moved);
    } else if (!this.moved && !cancelled && event.shiftKey && event.button === 0) {
      const hit = this.stage.picking.hit(this.start.x, this.start.y, ["joint", "spring", "body", "obstacle"]);
      if (hit) this.stage.store.addPick({ kind: hit.kind, name: hit.name });
    } else if (!this.moved && !cancelled && event.button === 0 && event.target === this.stage.view.canvas) {
      const hit = this.stage.picking.hit(this.start.x, this.start.y, ["obstacle"]);
      this.stage.store.setPick(hit && { kind: hit.kind, name: hit.name });
    }
  }

  private abort(): void {
    const drag = this.drag;
    this.finish();
    drag?.cancel();
  }

  private finish(): void {
    this.drag = null;
    this.second.clear();
    this.stage.view.controls.enabled = true;
    delete this.stage.view.canvas.dataset.busy;
  }

  private wheel(event: WheelEvent): void {
    if (!this.drag) return;
    event.preventDefault();
    event.stopPropagation();
    this.moved = true;
    this.drag.deepen?.(-event.deltaY * (event.deltaMode === 1 ? 16 : 1) * 0.5);
  }
}
