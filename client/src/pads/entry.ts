/** Gamepads and joysticks: what they need is loaded when one is there. */

import "./pads.css";
import type { Grab } from "../grab";
import type { Motions } from "../motions";
import type { Stage } from "../stage";
import { tellError } from "../toasts";
import type { PadPanel } from "./panel";

export class Pads {
  private panel: PadPanel | null = null;
  private isAsked = false;

  constructor(
    private readonly stage: Stage,
    private readonly grab: Grab,
    private readonly motions: Motions,
  ) {
    addEventListener("gamepadconnected", () => void this.load().catch(tellError));
    if (navigator.getGamepads?.().some((pad) => pad)) void this.load().catch(tellError);
  }

  /** For tests; null where there is none. */
  state(): ReturnType<PadPanel["state"]> {
    return this.panel?.state() ?? null;
  }

  private async load(): Promise<void> {
    if (this.isAsked) return;
    this.isAsked = true;
    const { PadPanel } = await import("./panel");
    this.panel = new PadPanel(this.stage, this.grab, this.motions);
  }
}
