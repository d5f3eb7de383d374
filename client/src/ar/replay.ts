/** A result that was computed before, over the camera's picture: it runs, stands, is sought in; or the session is shown. */

import { byId, h, setText } from "../dom";
import { icon } from "../icons";
import { type Motion, type Packed, unpack } from "../motion";
import type { Stage } from "../stage";
import { tell, tellError } from "../toasts";

const MOST = 100; // between two pictures, that time goes on [ms]

interface Result extends Packed {
  bodies: string[]; // names
}

export class Replay {
  private motion: Motion | null = null;
  private time = 0; // [s]
  private isShown = false;
  private isRunning = false;
  private before = 0; // [ms]
  private readonly play = h("button", { type: "button", id: "replay-play" });
  private readonly seek = h("input", { type: "range", min: 0, step: "any", "aria-label": "Seek in the result" });
  private readonly clock = h("output", { "aria-label": "Time of the result" });
  private readonly live = h("button", { type: "button", id: "replay-live" });

  constructor(
    private readonly stage: Stage,
    private readonly packed: Result,
  ) {
    const bar = h("div", { id: "replay", role: "group", "aria-label": "Result" }, this.play, this.seek, this.clock);
    bar.append(this.live);
    byId("stage").append(bar);
    this.play.addEventListener("click", () => this.run(!this.isRunning));
    this.live.addEventListener("click", () => (this.isShown ? this.end() : this.begin()));
    this.seek.addEventListener("input", () => {
      this.run(false);
      this.show(Number(this.seek.value));
    });
    stage.view.onTick((now) => this.tick(now));
    stage.store.on("topology", () => {
      if (!this.isShown || this.fits) return;
      this.end();
      tell("result: it is of another scene; the session is shown", "warning");
    });
    this.fill();
    void this.load().catch(tellError);
  }

  /** Is it shown, does it run, and where is it [s]? */
  get state(): { shown: boolean; running: boolean; time: number } {
    return { shown: this.isShown, running: this.isRunning, time: this.time };
  }

  /** Does the scene have the bodies that it is of? */
  private get fits(): boolean {
    const { scene } = this.stage.store;
    return scene?.bodies.map(({ name }) => name).join("\n") === this.packed.bodies.join("\n");
  }

  private async load(): Promise<void> {
    const { store } = this.stage;
    if (!store.scene) await new Promise<unknown>((done) => store.on("scene", done));
    this.motion = await unpack(this.packed, this.packed.bodies.length);
    this.time = this.motion.first;
    Object.assign(this.seek, { min: this.motion.first, max: this.motion.last });
    this.begin();
    this.run(true);
  }

  private begin(): void {
    const { store } = this.stage;
    if (!this.motion || !this.fits) {
      tell("result: it is of another scene; open the one that it is of", "error");
      return;
    }
    this.isShown = true;
    store.putAside();
    this.show(this.time);
    this.fill();
  }

  private end(): void {
    this.isShown = this.isRunning = false;
    this.stage.store.goOn();
    this.fill();
    this.stage.view.touch();
  }

  private run(on: boolean): void {
    if (on && !this.isShown) this.begin();
    this.isRunning = on && this.isShown;
    this.fill();
  }

  private tick(now: number): void {
    const passed = Math.min(now - this.before, MOST) / 1000;
    this.before = now;
    if (!this.isRunning || !this.motion) return;
    const time = this.time + passed;
    this.show(time > this.motion.last ? this.motion.first : time);
  }

  private show(time: number): void {
    const { motion } = this;
    const { store, view } = this.stage;
    if (!motion || !store.scene) return;
    if (!this.isShown) this.begin();
    this.time = time;
    motion.bring(time);
    store.showInstead(motion.frame(time, store.scene.generation), motion.poses.slice(), time, null);
    setText(this.clock, `${time.toFixed(2)} s`);
    this.seek.value = String(time);
    view.touch();
  }

  private fill(): void {
    this.play.replaceChildren(icon(this.isRunning ? "pause" : "play"));
    this.play.setAttribute("aria-label", this.isRunning ? "Stop the result" : "Play the result");
    setText(this.live, this.isShown ? "Live" : "Result");
  }
}
