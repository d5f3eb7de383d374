/** What the picture says, in words, for those who do not see it. */

import { byId, setText } from "./dom";
import { HAND } from "./grab";
import { show } from "./numbers";
import type { Store } from "./store";

const EVERY = 5000; // [ms]: a live region that changes with every frame is never silent

export class Summary {
  private element = byId("summary");
  private last = -Infinity;

  constructor(private readonly store: Store) {
    store.on("frame", () => {
      if (performance.now() - this.last > EVERY) this.say();
    });
    store.on("pick", () => this.say());
    store.on("status", () => this.say());
  }

  text(): string {
    const { scene, status, frame, pick, live } = this.store;
    if (!scene || !frame) return "Waiting for the session.";
    const parts = [
      `${scene.name}, ${status?.paused ? "stopped at" : "at"} ${frame.time.toFixed(1)} seconds.`,
      `Kinetic energy ${show(this.store.book("kinetic"), 3)} joules, potential ${show(this.store.book("potential"), 3)}, books out by ${show(this.store.book("imbalance"), 2)}.`,
    ];
    const pose = pick?.kind === "body" ? this.store.pose(pick.name) : null;
    if (pick && pose) parts.push(`Body ${pick.name} at ${pose.p.map((item) => show(item, 3)).join(", ")} metres.`);
    else if (pick) parts.push(`${pick.kind} ${pick.name} is picked.`);
    live?.hands.forEach((hand, k) => {
      if (frame.revision !== live.revision) return;
      const force = Math.hypot(...frame.hands.subarray(HAND * k + 6, HAND * k + 9));
      parts.push(`A hand pulls ${hand.body} with ${show(force, 3)} newtons.`);
    });
    return parts.join(" ");
  }

  private say(): void {
    this.last = performance.now();
    setText(this.element, this.text());
  }
}
