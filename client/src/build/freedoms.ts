/** How many freedoms there are, shown while something is built. */

import { h, setText } from "../dom";
import type { Stage } from "../stage";
import { isBuilding } from "./drafting";

const SOON = 150; // [ms] after the last change

export class Freedoms {
  readonly text = h("output", { id: "freedoms", "aria-label": "freedoms" });
  private timer = 0;

  constructor(private readonly stage: Stage) {
    stage.store.on("topology", () => this.askSoon());
    stage.store.on("tool", () => this.askSoon());
  }

  private askSoon(): void {
    clearTimeout(this.timer);
    if (isBuilding(this.stage.store.tool)) this.timer = window.setTimeout(() => void this.ask(), SOON);
  }

  private async ask(): Promise<void> {
    const reply = await this.stage.actions.control("mobility");
    if (reply) setText(this.text, reply.text);
  }
}
