/**
 * The first minute: what can be done here, one thing after the other, each ticked off as it is done. A browser is shown
 * it once, and again by the help.
 */

import * as THREE from "three";
import { byId, h } from "./dom";
import { recall, remember } from "./memory";
import type { Stage } from "./stage";

const KEY = "guide"; // in the browser's storage: "done" where it need not come again
const DONE = "done";

interface Step {
  text: string;
  isDone: () => boolean;
}

export class Guide {
  private readonly box = h("div", { id: "guide", role: "status", "aria-label": "The first minute", hidden: true });
  private readonly ring = h("i", { id: "guide-ring", "aria-hidden": "true", hidden: true });
  private readonly steps: Step[];
  private at = -1; // the step that is shown; -1: none
  private leaps: number | null = null; // of the frame at which time was stopped
  private isUndone = false;

  constructor(private readonly stage: Stage) {
    const { store, view } = stage;
    const live = () => store.live;
    this.steps = [
      { text: "Press on a body, and pull it.", isDone: () => (live()?.hands.length ?? 0) > 0 },
      { text: "Stop time: the space bar, or the button above.", isDone: () => store.status?.paused === true },
      { text: "Drag a body now: all others follow their joints.", isDone: () => this.isDragged() },
      { text: "Take it back: Ctrl+Z, or the arrow above.", isDone: () => this.isUndone },
      { text: "Pick a joint, in the picture or in the list of parts.", isDone: () => store.pick?.kind === "joint" },
      {
        text: "Change its type there while time runs. New, in the list of scenes, begins a mechanism of your own.",
        isDone: () => false,
      },
    ];
    byId("stage").append(this.ring, this.box);
    for (const event of ["live", "status", "frame", "pick"] as const) store.on(event, () => this.look());
    store.on("scene", () => this.look());
    view.onDraw(() => this.point());
    if (recall<string>(KEY, "") !== DONE && !document.body.classList.contains("compact")) this.begin();
  }

  /** Which step is shown, from 1; 0: none. */
  get step(): number {
    return this.box.hidden ? 0 : this.at + 1;
  }

  begin(): void {
    this.at = 0;
    this.show();
  }

  private end(): void {
    remember(KEY, DONE);
    this.at = -1;
    this.show();
  }

  /** Go on where a step was done; what takes place in an empty scene, or a recording, is no part of it. */
  private look(): void {
    if (this.at < 0) return;
    const { status, frame, scene } = this.stage.store;
    if (status?.paused !== true) this.leaps = null;
    else if (this.leaps === null) this.leaps = frame?.leaps ?? null;
    this.isUndone = this.at === 3 && typeof status?.redo === "string";
    const isThere = (scene?.bodies.length ?? 0) > 0;
    if (this.box.hidden === isThere) this.show();
    if (isThere && this.steps[this.at]?.isDone()) {
      this.at += 1;
      this.leaps = frame?.leaps ?? null;
      this.show();
    }
  }

  private isDragged(): boolean {
    const { status, frame } = this.stage.store;
    return status?.paused === true && this.leaps !== null && frame !== null && frame.leaps !== this.leaps;
  }

  private show(): void {
    const step = this.steps[this.at];
    this.box.hidden = !step || (this.stage.store.scene?.bodies.length ?? 0) === 0;
    this.point();
    if (!step || this.box.hidden) return;
    const isLast = this.at === this.steps.length - 1;
    const close = h("button", { type: "button", onclick: () => this.end() }, isLast ? "Done" : "Skip");
    this.box.replaceChildren(h("b", {}, `${this.at + 1} of ${this.steps.length}`), h("span", {}, step.text), close);
  }

  /** A ring about what may be pulled: the last body. */
  private point(): void {
    const { store, view, mechanism } = this.stage;
    const last = this.at === 0 && !this.box.hidden ? store.scene?.bodies.at(-1) : undefined;
    const place = last && mechanism.point(last.name, [0, 0, 0]);
    this.ring.hidden = !place;
    if (!place) return;
    const { x, y } = view.project(new THREE.Vector3().copy(place));
    this.ring.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}
