/** What a joint carries, beside it, while the pointer rests on it: force and moment on its second body. */

import { show } from "./numbers";
import type { PartRef } from "./parts3d";
import type { Stage } from "./stage";

const USER = "hovering";

export class Hovering {
  private joint: string | null = null;

  constructor(private readonly stage: Stage) {
    stage.mechanism.onHover((part) => this.over(part));
    stage.view.onDraw(() => this.tell());
    stage.store.on("frame", () => {
      if (this.joint) stage.view.touch();
    });
    stage.store.on("topology", () => this.over(null));
  }

  private over(part: PartRef | null): void {
    const name = part?.kind === "joint" ? part.name : null;
    if (name === this.joint) return;
    this.joint = name;
    this.stage.signals.want(USER, name ? signals(name) : []);
    if (!name) this.stage.labels.remove(USER);
  }

  private tell(): void {
    const { signals: values, mechanism, labels, store } = this.stage;
    const joint = this.joint && store.joint(this.joint);
    const place = joint ? mechanism.frameM(joint)?.p : null;
    if (!joint || !place) return;
    const told = signals(joint.name).map((name, k) => {
      const [letter, unit] = [["F", "N"] as const, ["M", "N m"] as const][k] ?? ["", ""];
      const value = values.value(name);
      const size = Math.abs(value) < 1e-12 ? 0 : value;
      return Number.isNaN(value)
        ? `${letter} …`
        : `${letter} ${values.isOpen(name) ? "≈ " : ""}${show(size, 4)} ${unit}`;
    });
    labels.set(USER, `${joint.name}: ${told.join(", ")}`, place, "hover");
  }
}

function signals(joint: string): [string, string] {
  return [`joint.${joint}.reaction.force.norm`, `joint.${joint}.reaction.torque.norm`];
}
